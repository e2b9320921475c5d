package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.device.DeviceMemoryException;
import io.seriatim.executor.compile.Preparation;
import io.seriatim.executor.ir.Bindings;
import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.PlaceRequest;
import io.seriatim.executor.ir.RunFailure;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.SingleFlight;
import io.seriatim.executor.ir.ValueNumbering;
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
import io.seriatim.graph.interpret.BlockSession;
import io.seriatim.graph.program.HeapMemory;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The value numbering of a block, the plans compiled for the shapes that it was last run with, and the idle frames of
 * these plans. Thread-safe. A run with the same shapes as the previous run takes no lock, so that a thread that is
 * descheduled during the look-up does not delay other threads.
 */
final class BlockPlan {
    private final Executor executor;
    private final ValueNumbering accesses;
    private final boolean once;
    private final boolean usesDevice;
    private final SingleFlight<Shapes, Variant> compilations = new SingleFlight<>();
    /** The most recently used plan first. */
    @GuardedBy("this")
    private final List<Variant> variants = new ArrayList<>();
    /** The first element of {@link #variants}, or null. Writes hold the lock; reads do not. */
    private volatile @Nullable Variant latest;

    /** The types, shapes and shared memory for which a plan is compiled. */
    private record Shapes(List<Optional<TensorSpec>> externals, Sharing sharing) {
        static Shapes of(@Nullable Object[] externals, Sharing sharing) {
            return new Shapes(Arrays.stream(externals)
                    .map(each -> each instanceof Tensor tensor
                            ? Optional.of(tensor.spec().rowMajor())
                            : Optional.<TensorSpec>empty())
                    .toList(), sharing);
        }

        @Override
        public String toString() {
            return "the plan of a block for the shapes "
                    + externals.stream().flatMap(Optional::stream).map(TensorSpec::toString).toList();
        }
    }

    /** A compiled plan, the loop that runs it, and its idle frames. */
    static final class Variant {
        private final CompiledPlan plan;
        private final RunLoop loop;
        private final PreparedKernels kernels;
        private final Set<Kernel> used;
        private final PreparedKernels.Hold hold;
        private final IdleFrames<Frame> idle = new IdleFrames<>(Frame::close);
        private final AtomicReference<@Nullable TracedPlan> described = new AtomicReference<>();

        Variant(CompiledPlan plan, RunLoop loop, PreparedKernels kernels) {
            this.plan = plan;
            this.loop = loop;
            this.kernels = kernels;
            this.used = Preparation.used(plan);
            this.hold = kernels.hold(used);
        }

        /** Creates a frame. */
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

        /** Releases kernels and memory. Runs in progress release theirs when they end. */
        void close() {
            idle.close();
            hold.close();
        }

        CompiledPlan plan() {
            return plan;
        }

        /** Returns the description of the plan for recordings, which identify a plan by this object. */
        TracedPlan described() {
            TracedPlan known = described.get();
            if (known == null) {
                TracedPlan made = Recording.describe(plan);
                known = described.compareAndExchange(null, made);
                known = known == null ? made : known;
            }
            return known;
        }
    }

    BlockPlan(Executor executor, ValueNumbering accesses, boolean once) {
        this.executor = executor;
        this.accesses = accesses;
        this.once = once;
        this.usesDevice = PlaceRequest.usesDevice(accesses.block().program(), executor.options().place());
    }

    ValueNumbering accesses() {
        return accesses;
    }

    /** Runs the block once. {@code results} takes the results from the frame before another run can use it. */
    void run(RunContext context, Consumer<Frame> results) {
        Variant with = variant(context.externals(), sharing(context.bindings()));
        Frame frame = take(with);
        Recording recording = context.recording();
        RunLog log = recording == null ? null : recording.begin(with.described());
        try {
            frame.begin(context, log);
            run(with, frame);
            results.accept(frame);
        } catch (DeviceMemoryException e) {
            throw new RunFailure("plan",
                    "There is no memory for the inputs or results of the run: " + e.getMessage()
                            + ". Free memory or use a smaller batch",
                    e);
        } finally {
            frame.end();
            if (log != null) {
                log.end();
            }
            giveBack(with, frame);
        }
    }

    /**
     * Returns the sharing between the outer variables of a run. If a task may run on a device, it contains variables
     * that share memory only with variables that the block does not name: these must stay in that memory too.
     */
    Sharing sharing(Bindings around) {
        return Sharing.of(accesses, around, usesDevice);
    }

    private static void run(Variant with, Frame frame) {
        try {
            with.loop.run(frame);
        } catch (RuntimeException | Error e) {
            // Errors are handled too: no work of this run may continue when another run uses the frame.
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

    /** Runs the block of an operation with the variables of the enclosing block. */
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

    /** Returns the plan for the types and shapes of the external values; compiles it if there is none. */
    Variant variant(@Nullable Object[] externals, Sharing sharing) {
        Variant last = latest;
        return last != null && last.plan.fits(externals, sharing) ? last : other(externals, sharing);
    }

    private Variant other(@Nullable Object[] externals, Sharing sharing) {
        try {
            return compilations.get(Shapes.of(externals, sharing), () -> find(externals, sharing),
                    () -> put(made(externals, sharing)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RunFailure("plan",
                    "Interrupted while another thread compiled the plan for the same shapes; no variable was changed",
                    e);
        }
    }

    private synchronized @Nullable Variant find(@Nullable Object[] externals, Sharing sharing) {
        for (Iterator<Variant> each = variants.iterator(); each.hasNext();) {
            Variant known = each.next();
            if (known.plan.fits(externals, sharing)) {
                if (known != variants.getFirst()) {
                    each.remove();
                    variants.addFirst(known);
                }
                latest = known;
                return known;
            }
        }
        return null;
    }

    private Variant put(Variant made) {
        List<Variant> gone = new ArrayList<>();
        synchronized (this) {
            variants.addFirst(made);
            latest = made;
            while (variants.size() > executor.options().specialisations()) {
                gone.add(variants.removeLast());
            }
        }
        gone.forEach(Variant::close);
        return made;
    }

    private Variant made(@Nullable Object[] externals, Sharing sharing) {
        PreparedKernels kernels = executor.specialiser().kernels();
        try (PreparedKernels.Hold _ = kernels.postponed()) {
            CompiledPlan plan = executor.specialiser().specialise(accesses, externals, sharing, once);
            // For a program that runs once, no dependencies are derived; its tasks run in program order.
            return new Variant(plan, once ? new RunLoop.Serial() : executor.loop(plan), kernels);
        } catch (OutOfMemoryError e) {
            throw new RunFailure("plan", "The plan of block " + accesses.block() + ", which has "
                    + accesses.operations().size() + " operations, cannot be compiled: " + HeapMemory.advice(e), e);
        }
    }

    private Frame take(Variant with) {
        Frame idle = with.idle.poll();
        if (idle != null) {
            return idle;
        }
        try {
            return frame(with);
        } catch (DeviceMemoryException e) {
            throw new RunFailure("plan", "There is no memory for the plan's temporaries, " + with.plan.memory().arenas()
                    + " bytes (" + with.plan.memory().sum() + " bytes if none shared memory): " + e.getMessage()
                    + ". Free memory or use a smaller batch", e);
        }
    }

    private Frame frame(Variant with) {
        try {
            return with.frame(executor.options(), executor.streams());
        } catch (DeviceMemoryException e) {
            // Idle frames of other shapes and programs can be allocated again when they are needed.
            executor.closeIdle();
            return with.frame(executor.options(), executor.streams());
        }
    }

    private void giveBack(Variant with, Frame frame) {
        if (once || !with.idle.offer(frame)) {
            frame.close();
        }
    }

    /** Closes all idle frames. */
    void closeIdle() {
        List<Variant> all;
        synchronized (this) {
            all = List.copyOf(variants);
        }
        all.forEach(each -> each.idle.clear());
    }

    /** Closes all plans and their idle frames. Runs in progress close their frames when they end. */
    void close() {
        List<Variant> all;
        synchronized (this) {
            all = List.copyOf(variants);
            variants.clear();
            latest = null;
        }
        all.forEach(Variant::close);
    }
}
