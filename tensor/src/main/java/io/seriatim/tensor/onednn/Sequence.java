package io.seriatim.tensor.onednn;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Primitives run one after the other, made for a number of threads before they first run: their code takes time and, for a matrix product, a megabyte, and many kernels are only asked for to be compared with others. The library's memory objects, which hold addresses, are kept in frames: a run takes one, so that several threads may
 * run the same primitives, and it sets only the addresses that are not those of the last run.
 */
final class Sequence {
    private static final int FRAMES = 16;
    private static final int ARGUMENT_BYTES = 16;

    private final Dnnl dnnl;
    private final Handles handles;
    private final Handles plans;
    private final int threads;
    private final long[] descriptions;
    private volatile long @Nullable [] primitives;
    private final @Nullable Action[] actions;
    private final Operand[][] operands;
    private final long[] slots;
    private final long scratchBytes;
    private final AtomicReferenceArray<@Nullable Frame> idle = new AtomicReferenceArray<>(FRAMES);

    /** The plans are released once the primitives are made, the handles at the kernel's end. */
    Sequence(Dnnl dnnl, Handles handles, Handles plans, int threads, List<Step> steps, long scratchBytes) {
        this.dnnl = dnnl;
        this.handles = handles;
        this.plans = plans;
        this.threads = threads;
        this.scratchBytes = scratchBytes;
        descriptions = steps.stream().mapToLong(Step::primitiveDescription).toArray();
        actions = steps.stream().map(Step::action).toArray(Action[]::new);
        operands = steps.stream().map(step -> step.operands().toArray(Operand[]::new)).toArray(Operand[][]::new);
        slots = steps.stream().flatMap(step -> step.operands().stream()).mapToLong(Operand::slot).toArray();
    }

    /** What Java does between primitives, with what they have left in scratch memory. */
    @FunctionalInterface
    interface Action {
        void run(MemorySegment scratch, KernelContext context);
    }

    /** One primitive with its operands, or an action. */
    record Step(long primitiveDescription, List<Operand> operands, @Nullable Action action) {
    }

    /** Makes the primitives, if they are not there. */
    long[] load() {
        long[] there = primitives;
        return there != null ? there : made();
    }

    private synchronized long[] made() {
        long[] there = primitives;
        if (there != null) {
            return there;
        }
        ThreadCount.set(dnnl, threads);
        long[] made = new long[descriptions.length];
        for (int i = 0; i < made.length; i++) {
            if (actions[i] == null) {
                long primitive = dnnl.primitive(descriptions[i]);
                handles.onEnd(() -> dnnl.destroyPrimitive(primitive));
                made[i] = primitive;
            }
        }
        primitives = made;
        plans.run();
        return made;
    }

    /** The library's objects of one run at a time. */
    private static final class Frame {
        final long[] memories;
        final long[] addresses;
        final MemorySegment arguments;

        Frame(long[] memories, MemorySegment arguments) {
            this.memories = memories;
            this.addresses = new long[memories.length];
            this.arguments = arguments;
        }
    }

    private Frame newFrame() {
        long[] memories = new long[slots.length];
        MemorySegment arguments = Arena.ofAuto().allocate(Math.max(1, slots.length) * (long) ARGUMENT_BYTES, 8);
        int at = 0;
        for (Operand[] step : operands) {
            for (Operand operand : step) {
                memories[at] = handles.memory(dnnl, dnnl.memory(operand.description()));
                arguments.set(ValueLayout.JAVA_INT, (long) at * ARGUMENT_BYTES, operand.argument());
                arguments.set(ValueLayout.JAVA_LONG, (long) at * ARGUMENT_BYTES + 8, memories[at]);
                at++;
            }
        }
        return new Frame(memories, arguments);
    }

    /** Runs on tensors, shifted by so many bytes each. */
    void run(@Nullable Tensor[] arguments, long shift, KernelContext context) {
        long[] made = load();
        int place = (int) Thread.currentThread().threadId() & FRAMES - 1;
        Frame frame = idle.getAndSet(place, null);
        if (frame == null) {
            frame = newFrame();
        }
        try {
            ThreadCount.set(dnnl, threads);
            point(frame, arguments, shift, scratchBytes == 0 ? 0 : context.scratch(scratchBytes).address());
            long list = frame.arguments.address();
            for (int i = 0; i < made.length; i++) {
                Action action = actions[i];
                if (action != null) {
                    action.run(context.scratch(scratchBytes).segment(), context);
                    continue;
                }
                int count = operands[i].length;
                dnnl.execute(made[i], count, list);
                list += (long) count * ARGUMENT_BYTES;
            }
        } finally {
            idle.set(place, frame);
            // The library has only addresses: the tensors' memory must not be freed meanwhile.
            Reference.reachabilityFence(arguments);
        }
    }

    private void point(Frame frame, @Nullable Tensor[] arguments, long shift, long scratch) {
        for (int i = 0; i < slots.length; i++) {
            long slot = slots[i];
            long address = slot >= 0 ? Objects.requireNonNull(arguments[(int) slot]).address() + shift : scratch + ~slot;
            if (frame.addresses[i] != address) {
                dnnl.setDataHandle(frame.memories[i], address);
                frame.addresses[i] = address;
            }
        }
    }
}
