package io.seriatim.tensor.onednn;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.Primitive;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Primitives that run one after the other. They are created, for a number of threads, before the first run: generating
 * their code takes time and, for a matrix product, a megabyte, and many kernels are prepared only to be compared with
 * others. Frames hold the library's memory objects, which hold addresses. A run takes a frame of its own, so that
 * several threads can run the same primitives, and sets only the addresses that differ from those of the frame's last
 * run.
 */
final class Sequence {
    private static final int FRAMES = 16;
    /** Slots of different threads are in different cache lines. */
    private static final int APART = 16;
    private static final int ARGUMENT_BYTES = 16;
    /**
     * The memory of a primitive descriptor, of a primitive with its code, and of an operand's descriptors and memory
     * objects: rounded averages, measured for products and elementwise functions of many shapes.
     */
    private static final long PLAN_BYTES = 100 << 10;
    private static final long PRIMITIVE_BYTES = 200 << 10;
    private static final long OPERAND_BYTES = 2 << 10;

    private final Dnnl dnnl;
    private final Handles handles;
    private final Handles plans;
    private final int threads;
    private final @Nullable PrimitiveDescriptor[] descriptors;
    /** The addresses of the primitives, as a run passes them to the library; 0 for actions. */
    private volatile long @Nullable [] primitives;
    /** The steps that signals must not interrupt; written before the primitives are published. */
    private final boolean[] movesStack;
    private final @Nullable Action[] actions;
    private final Operand[][] operands;
    private final Operand[] all;
    /** The operands that move with each repetition. */
    private final int[] moving;
    /** The offset of each step's arguments, in bytes. */
    private final long[] lists;
    private final Repetition repetition;
    private final long scratchBytes;
    private final AtomicReferenceArray<@Nullable Frame> idle = new AtomicReferenceArray<>(FRAMES * APART);
    /** The frames for which there is no slot. */
    private final ConcurrentLinkedQueue<Frame> more = new ConcurrentLinkedQueue<>();

    /**
     * The primitive descriptors are destroyed once the primitives are created, the other handles when the kernel is
     * closed.
     */
    Sequence(Dnnl dnnl, Handles handles, Handles plans, int threads, List<Step> steps, Repetition repetition,
            long scratchBytes) {
        this.dnnl = dnnl;
        this.handles = handles;
        this.plans = plans;
        this.threads = threads;
        this.repetition = repetition;
        this.scratchBytes = scratchBytes;
        descriptors = steps.stream().map(Step::descriptor).toArray(PrimitiveDescriptor[]::new);
        movesStack = new boolean[steps.size()];
        actions = steps.stream().map(Step::action).toArray(Action[]::new);
        operands = steps.stream().map(step -> step.operands().toArray(Operand[]::new)).toArray(Operand[][]::new);
        all = steps.stream().flatMap(step -> step.operands().stream()).toArray(Operand[]::new);
        moving = IntStream.range(0, all.length).filter(i -> all[i].pitch() != 0).toArray();
        lists = new long[steps.size()];
        for (int i = 1; i < lists.length; i++) {
            lists[i] = lists[i - 1] + (long) operands[i - 1].length * ARGUMENT_BYTES;
        }
        handles.onClose(this::retireIdle);
    }

    /**
     * The steps that are repeated.
     *
     * @param once
     *            the number of steps before them
     * @param until
     *            the index of the first step after them
     * @param times
     *            how often they run
     * @param alternateDirection
     *            whether they are independent of one another, and every second run goes through them backwards
     */
    record Repetition(int once, int until, int times, boolean alternateDirection) {
    }

    /** Java code between primitives, which works on scratch memory. */
    @FunctionalInterface
    interface Action {
        void run(MemorySegment scratch, KernelContext context);
    }

    /** One primitive with its operands, or an action. */
    record Step(@Nullable PrimitiveDescriptor descriptor, List<Operand> operands, @Nullable Action action) {
    }

    /** The memory that the library holds for it, estimated. */
    long bytes() {
        return descriptors.length * (primitives == null ? PLAN_BYTES : PRIMITIVE_BYTES) + all.length * OPERAND_BYTES;
    }

    /** Creates the primitives, unless they exist. */
    long[] load() {
        long[] there = primitives;
        return there != null ? there : made();
    }

    private synchronized long[] made() {
        long[] there = primitives;
        if (there != null) {
            return there;
        }
        handles.use();
        try {
            long[] made = ThreadCount.with(dnnl, threads, this::make);
            primitives = made;
            plans.run();
            return made;
        } finally {
            handles.endUse();
        }
    }

    private long[] make() {
        long[] made = new long[descriptors.length];
        for (int i = 0; i < made.length; i++) {
            PrimitiveDescriptor descriptor = descriptors[i];
            if (descriptor != null) {
                movesStack[i] = dnnl.movesStack(descriptor);
                Primitive primitive = dnnl.primitive(descriptor);
                handles.onEnd(() -> dnnl.destroy(primitive));
                made[i] = primitive.address();
            }
        }
        return made;
    }

    /** The memory objects of one run at a time. */
    private static final class Frame {
        /** The addresses of memory objects. */
        final long[] memories;
        final long[] addresses;
        final MemorySegment arguments;
        boolean back;

        Frame(long[] memories, MemorySegment arguments) {
            this.memories = memories;
            this.addresses = new long[memories.length];
            this.arguments = arguments;
        }
    }

    private Frame newFrame() {
        handles.use();
        Frame frame = null;
        try {
            frame = filledFrame();
            return frame;
        } finally {
            if (frame == null) {
                handles.endUse();
            }
        }
    }

    private Frame filledFrame() {
        long[] memories = new long[all.length];
        MemorySegment arguments = Arena.ofAuto().allocate(Math.max(1, all.length) * (long) ARGUMENT_BYTES, 8);
        for (int at = 0; at < all.length; at++) {
            memories[at] = handles.owned(dnnl, dnnl.memory(all[at].descriptor())).address();
            arguments.set(ValueLayout.JAVA_INT, (long) at * ARGUMENT_BYTES, all[at].argument());
            arguments.set(ValueLayout.JAVA_LONG, (long) at * ARGUMENT_BYTES + 8, memories[at]);
        }
        return new Frame(memories, arguments);
    }

    private static int slot(int place) {
        return (place & FRAMES - 1) * APART;
    }

    /**
     * Takes the frame that this thread gave back last, else any idle frame, since threads may share a slot, else a new
     * one.
     */
    private Frame take(int place) {
        for (int i = 0; i < FRAMES; i++) {
            if (idle.get(slot(place + i)) != null) {
                Frame frame = idle.getAndSet(slot(place + i), null);
                if (frame != null) {
                    return frame;
                }
            }
        }
        Frame frame = more.poll();
        return frame == null ? newFrame() : frame;
    }

    private void give(int place, Frame frame) {
        put(place, frame);
        if (handles.isClosed()) {
            retireIdle();
        }
    }

    /** Ends the uses of idle frames after the kernel is closed. */
    private void retireIdle() {
        for (int i = 0; i < FRAMES; i++) {
            if (idle.getAndSet(slot(i), null) != null) {
                handles.endUse();
            }
        }
        while (more.poll() != null) {
            handles.endUse();
        }
    }

    private void put(int place, Frame frame) {
        for (int i = 0; i < FRAMES; i++) {
            if (idle.get(slot(place + i)) == null && idle.compareAndSet(slot(place + i), null, frame)) {
                return;
            }
        }
        more.add(frame);
    }

    /**
     * Runs on the data that begins so many bytes after the beginning of each tensor.
     *
     * @param shift
     *            the number of bytes, if it is the same for all tensors
     * @param shifts
     *            the number of bytes for each tensor; empty if it is the same for all
     */
    void run(@Nullable Tensor[] arguments, long shift, long[] shifts, KernelContext context) {
        long[] made = load();
        int place = (int) Thread.currentThread().threadId();
        Frame frame = take(place);
        try {
            boolean each = ThreadCount.isSetEachTime(dnnl, threads);
            point(frame, arguments, shift, shifts, scratchBytes == 0 ? 0 : context.scratch(scratchBytes).address());
            run(frame, made, 0, repetition.once(), each, context);
            for (int i = 0; i < repetition.times(); i++) {
                if (i > 0) {
                    move(frame);
                }
                run(frame, made, repetition.once(), repetition.until(), each, context);
            }
            frame.back = repetition.alternateDirection() && !frame.back;
            run(frame, made, repetition.until(), made.length, each, context);
        } finally {
            give(place, frame);
            // The library has only addresses: the tensors must stay reachable while it runs.
            Reference.reachabilityFence(arguments);
            Reference.reachabilityFence(context);
        }
    }

    private void run(Frame frame, long[] made, int from, int to, boolean each, KernelContext context) {
        for (int next = from; next < to; next++) {
            int i = frame.back ? from + to - 1 - next : next;
            Action action = actions[i];
            if (action == null) {
                if (each) {
                    dnnl.setThreads(threads);
                }
                long arguments = frame.arguments.address() + lists[i];
                if (movesStack[i]) {
                    dnnl.executeUnsignalled(made[i], operands[i].length, arguments);
                } else {
                    dnnl.execute(made[i], operands[i].length, arguments);
                }
            } else {
                action.run(context.scratch(scratchBytes).segment(), context);
            }
        }
    }

    private void point(Frame frame, @Nullable Tensor[] arguments, long shift, long[] shifts, long scratch) {
        for (int i = 0; i < all.length; i++) {
            long slot = all[i].slot();
            long from = slot < 0
                    ? scratch + ~slot
                    : Objects.requireNonNull(arguments[(int) slot]).address()
                            + (shifts.length == 0 ? shift : shifts[(int) slot]);
            point(frame, i, from + all[i].offset());
        }
    }

    private void move(Frame frame) {
        for (int i : moving) {
            point(frame, i, frame.addresses[i] + all[i].pitch());
        }
    }

    private void point(Frame frame, int operand, long address) {
        if (frame.addresses[operand] != address) {
            dnnl.setDataHandle(frame.memories[operand], address);
            frame.addresses[operand] = address;
        }
    }
}
