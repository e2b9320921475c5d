package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.device.DeviceMemoryException;
import io.seriatim.executor.trace.RunLog;
import io.seriatim.executor.trace.TracedPlan;
import io.seriatim.graph.BlockSession;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What is known of a block whatever its shapes, its latest specialisations, and the frames of their past runs. For many threads. */
final class BlockPlan {
    private static final int MOST_IDLE_FRAMES = 8;

    private final Executor executor;
    private final Accesses accesses;
    private final boolean once;
    /** The latest first. */
    @GuardedBy("this")
    private final List<Specialised> specialised = new ArrayList<>();

    /** A specialisation, how it is run, and the frames that no run uses. */
    static final class Specialised {
        private final Specialisation plan;
        private final RunLoop loop;
        private final ArrayDeque<Frame> idle = new ArrayDeque<>();
        private boolean gone;
        private @Nullable TracedPlan described;

        Specialised(Specialisation plan, RunLoop loop) {
            this.plan = plan;
            this.loop = loop;
        }

        Specialisation plan() {
            return plan;
        }

        /** For recordings. */
        synchronized TracedPlan described() {
            TracedPlan known = described;
            if (known == null) {
                known = Recording.describe(plan);
                described = known;
            }
            return known;
        }
    }

    BlockPlan(Executor executor, Accesses accesses, boolean once) {
        this.executor = executor;
        this.accesses = accesses;
        this.once = once;
    }

    Accesses accesses() {
        return accesses;
    }

    /** Runs the block once. What is wanted is taken out of the frame before it is used again. */
    void run(RunContext context, Consumer<Frame> results) {
        Specialised with = specialised(context.externals());
        Frame frame = take(with);
        Recording recording = context.recording();
        RunLog log = recording == null ? null : recording.begin(with.described());
        try {
            frame.begin(context, log);
            run(with, frame);
            results.accept(frame);
        } catch (DeviceMemoryException e) {
            throw new ProgramFailedException("plan", "There is no memory for what the run is given or what it gives: " + e.getMessage(), e);
        } finally {
            frame.end();
            if (log != null) {
                log.end();
            }
            giveBack(with, frame);
        }
    }

    private static void run(Specialised with, Frame frame) {
        try {
            with.loop.run(frame);
        } catch (RuntimeException e) {
            try {
                frame.drain();
            } catch (RuntimeException later) {
                if (!later.equals(e)) {
                    e.addSuppressed(later);
                }
            }
            throw e;
        }
        frame.drain();
    }

    /** Runs an inner block on the variables around it. */
    void run(BlockSession session, Cancellation cancellation, @Nullable Recording recording) {
        @Nullable
        Object[] externals = new Object[accesses.externals().length];
        for (int i = 0; i < externals.length; i++) {
            externals[i] = session.find(accesses.values().get(accesses.externals()[i]).name());
        }
        Bindings around = new Bindings() {
            @Override
            public @Nullable Object find(String name) {
                return session.find(name);
            }

            @Override
            public void set(String name, Object value) {
                session.set(name, value);
            }
        };
        run(new RunContext(externals, around, () -> session, cancellation, recording), frame -> {
            for (int value : accesses.wanted()) {
                Object result = frame.share(value);
                if (result != null) {
                    session.set(accesses.values().get(value).name(), result);
                }
            }
        });
    }

    /** The specialisation for what is fed and outside. */
    synchronized Specialised specialised(@Nullable Object[] externals) {
        for (Iterator<Specialised> each = specialised.iterator(); each.hasNext();) {
            Specialised known = each.next();
            if (known.plan.fits(externals)) {
                if (known != specialised.getFirst()) {
                    each.remove();
                    specialised.addFirst(known);
                }
                return known;
            }
        }
        Specialisation plan = executor.specialiser().specialise(accesses, externals, once);
        // A program that runs once has no dependencies: its order is the program's.
        Specialised made = new Specialised(plan, once ? new RunLoop.Serial() : executor.loop(plan));
        specialised.addFirst(made);
        while (specialised.size() > executor.options().specialisations()) {
            Specialised oldest = specialised.removeLast();
            oldest.gone = true;
            close(oldest);
        }
        return made;
    }

    private Frame take(Specialised with) {
        synchronized (this) {
            Frame idle = with.idle.poll();
            if (idle != null) {
                return idle;
            }
        }
        try {
            return frame(with);
        } catch (DeviceMemoryException e) {
            throw new ProgramFailedException("plan", "There is no memory for the plan's temporaries, " + with.plan.memory().arenas()
                    + " bytes (all together " + with.plan.memory().sum() + " without sharing): " + e.getMessage(), e);
        }
    }

    private Frame frame(Specialised with) {
        try {
            return new Frame(with.plan, executor.options());
        } catch (DeviceMemoryException e) {
            // The frames of other shapes and programs can be made again.
            executor.closeIdle();
            return new Frame(with.plan, executor.options());
        }
    }

    private synchronized void giveBack(Specialised with, Frame frame) {
        if (with.gone || once || with.idle.size() >= MOST_IDLE_FRAMES) {
            frame.close();
        } else {
            with.idle.push(frame);
        }
    }

    /** Lets the memory go that no run uses. */
    synchronized void closeIdle() {
        specialised.forEach(BlockPlan::close);
    }

    private static void close(Specialised specialised) {
        specialised.idle.forEach(Frame::close);
        specialised.idle.clear();
    }

    /** Lets memory and streams go that no run uses. */
    synchronized void close() {
        specialised.forEach(each -> {
            each.gone = true;
            close(each);
        });
        specialised.clear();
    }
}
