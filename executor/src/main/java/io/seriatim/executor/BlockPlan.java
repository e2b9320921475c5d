package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.device.DeviceMemoryException;
import io.seriatim.executor.compile.Preparation;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.RunFailure;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.run.Cancellation;
import io.seriatim.executor.run.Frame;
import io.seriatim.executor.run.IdleFrames;
import io.seriatim.executor.run.Recording;
import io.seriatim.executor.run.RunContext;
import io.seriatim.executor.run.RunLoop;
import io.seriatim.executor.run.StreamPool;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.trace.RunLog;
import io.seriatim.executor.trace.TracedPlan;
import io.seriatim.graph.BlockSession;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a block whatever its shapes, its latest specialisations, and the frames of their past runs. For many
 * threads: a run for the shapes of the last one takes no lock, so that a thread that loses its processor in the middle
 * holds up no other.
 */
final class BlockPlan {
    private final Executor executor;
    private final ValueNumbering accesses;
    private final boolean once;
    /** The latest first. */
    @GuardedBy("this")
    private final List<Specialised> specialised = new ArrayList<>();
    /** The first of them; null if there are none. Written with the lock, read without. */
    private volatile @Nullable Specialised latest;

    /** A specialisation, how it is run, and the frames that no run uses. */
    static final class Specialised {
        private final CompiledPlan plan;
        private final RunLoop loop;
        private final PreparedKernels kernels;
        private final Set<Kernel> used;
        private final PreparedKernels.Hold hold;
        private final IdleFrames<Frame> idle = new IdleFrames<>(Frame::close);
        private @Nullable TracedPlan described;

        Specialised(CompiledPlan plan, RunLoop loop, PreparedKernels kernels) {
            this.plan = plan;
            this.loop = loop;
            this.kernels = kernels;
            this.used = Preparation.used(plan);
            this.hold = kernels.hold(used);
        }

        /** A new one. */
        Frame frame(Options options, StreamPool streams) {
            PreparedKernels.Hold held = kernels.hold(used);
            Frame frame = null;
            try {
                frame = new Frame(plan, options, streams).with(held);
                return frame;
            } finally {
                if (frame == null) {
                    held.close();
                }
            }
        }

        /** Lets kernels and memory go, of runs that are under way when they end. */
        void close() {
            idle.close();
            hold.close();
        }

        CompiledPlan plan() {
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

    BlockPlan(Executor executor, ValueNumbering accesses, boolean once) {
        this.executor = executor;
        this.accesses = accesses;
        this.once = once;
    }

    ValueNumbering accesses() {
        return accesses;
    }

    /** Runs the block once. What is wanted is taken out of the frame before it is used again. */
    void run(RunContext context, Consumer<Frame> results) {
        boolean alone = !executor.options().place().isHost();
        Specialised with = specialised(context.externals(), Sharing.of(accesses, context.bindings(), alone));
        Frame frame = take(with);
        Recording recording = context.recording();
        RunLog log = recording == null ? null : recording.begin(with.described());
        try {
            frame.begin(context, log);
            run(with, frame);
            results.accept(frame);
        } catch (DeviceMemoryException e) {
            throw new RunFailure("plan",
                    "There is no memory for what the run is given or what it gives: " + e.getMessage(), e);
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
        } catch (RuntimeException | Error e) {
            // Errors too: nothing of the run goes on when the frame is another's.
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
    void run(BlockSession session, Cancellation cancellation, @Nullable Recording recording, boolean sharesMemory) {
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

            @Override
            public void alias(String name, Tensor value) {
                session.alias(name, value);
            }

            @Override
            public boolean sharesMemory() {
                return sharesMemory;
            }

            @Override
            public boolean isShared(Tensor tensor) {
                return session.isShared(tensor);
            }
        };
        run(new RunContext(externals, around, () -> session, cancellation, recording, ReadInstruction::next), frame -> {
            for (int value : accesses.wanted()) {
                Object result = frame.share(value);
                if (result != null) {
                    session.set(accesses.values().get(value).name(), result);
                }
            }
        });
    }

    /** The specialisation for what is fed and outside. */
    Specialised specialised(@Nullable Object[] externals, Sharing sharing) {
        Specialised last = latest;
        return last != null && last.plan.fits(externals, sharing) ? last : other(externals, sharing);
    }

    private synchronized Specialised other(@Nullable Object[] externals, Sharing sharing) {
        for (Iterator<Specialised> each = specialised.iterator(); each.hasNext();) {
            Specialised known = each.next();
            if (known.plan.fits(externals, sharing)) {
                if (known != specialised.getFirst()) {
                    each.remove();
                    specialised.addFirst(known);
                }
                latest = known;
                return known;
            }
        }
        Specialised made = made(externals, sharing);
        specialised.addFirst(made);
        latest = made;
        while (specialised.size() > executor.options().specialisations()) {
            specialised.removeLast().close();
        }
        return made;
    }

    private Specialised made(@Nullable Object[] externals, Sharing sharing) {
        PreparedKernels kernels = executor.specialiser().kernels();
        try (PreparedKernels.Hold _ = kernels.postponed()) {
            CompiledPlan plan = executor.specialiser().specialise(accesses, externals, sharing, once);
            // A program that runs once has no dependencies: its order is the program's.
            return new Specialised(plan, once ? new RunLoop.Serial() : executor.loop(plan), kernels);
        }
    }

    private Frame take(Specialised with) {
        Frame idle = with.idle.poll();
        if (idle != null) {
            return idle;
        }
        try {
            return frame(with);
        } catch (DeviceMemoryException e) {
            throw new RunFailure("plan", "There is no memory for the plan's temporaries, " + with.plan.memory().arenas()
                    + " bytes (all together " + with.plan.memory().sum() + " without sharing): " + e.getMessage(), e);
        }
    }

    private Frame frame(Specialised with) {
        try {
            return with.frame(executor.options(), executor.streams());
        } catch (DeviceMemoryException e) {
            // The frames of other shapes and programs can be made again.
            executor.closeIdle();
            return with.frame(executor.options(), executor.streams());
        }
    }

    private void giveBack(Specialised with, Frame frame) {
        if (once || !with.idle.offer(frame)) {
            frame.close();
        }
    }

    /** Lets the memory go that no run uses. */
    synchronized void closeIdle() {
        specialised.forEach(each -> each.idle.clear());
    }

    /** Lets memory and streams go that no run uses. */
    synchronized void close() {
        specialised.forEach(Specialised::close);
        specialised.clear();
        latest = null;
    }
}
