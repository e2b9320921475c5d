package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.PrimitiveDescriptor;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/**
 * A program that computes products while another thread signals it several times a product, as profilers do more
 * slowly.
 */
@SuppressWarnings("restricted")
final class SignalledProducts {
    private static final int RUNS = 3_000;
    /** With which HotSpot suspends threads; it ignores one that it has not sent. */
    private static final int SIGUSR2 = 12;
    /** A product takes some 100 µs; without pauses the thread would do nothing but handle signals. */
    private static final long PAUSE_NANOS = 20_000;
    private static final int NEIGHBOURS = 200;
    private static final int NEIGHBOUR_BYTES = 16 << 10;
    /** 48 floats for each of the inner dimension, and a page to align them. */
    private static final int WORKSPACE_BYTES = 56 << 10;
    private static final byte PATTERN = 0x5a;
    private static final int ROWS = 16;
    private static final int INNER = 256;
    private static final int COLUMNS = 512;
    static final String DONE = "equal products: ";
    static final String NONE = "no implementation moves the stack";

    private SignalledProducts() {
    }

    public static void main(String[] args) throws Throwable {
        Dnnl dnnl = Dnnl.require();
        Random random = new Random(1);
        float[] x = numbers(random, ROWS * INNER);
        Tensor weights = Tensor.of(numbers(random, INNER * COLUMNS), INNER, COLUMNS);
        @Nullable
        Tensor[] operands = {Tensor.of(x, ROWS, INNER), weights,
                Tensor.of(new float[ROWS * COLUMNS], ROWS, COLUMNS)};
        try (DnnlKernel kernel = plainProduct(dnnl)) {
            if (kernel == null) {
                System.out.println(NONE);
                return;
            }
            List<MemorySegment> neighbours = neighbours();
            float[] expected = product(kernel, operands);
            float[] sums = sums(dnnl, x, weights);
            FutureTask<Integer> signals = signals(callingThread());
            Thread sender = new Thread(signals, "sender of signals");
            sender.start();
            try {
                for (int i = 0; i < RUNS; i++) {
                    require(expected, product(kernel, operands));
                    require(sums, sums(dnnl, x, weights));
                }
            } finally {
                // It must not signal a thread that has ended.
                sender.interrupt();
                sender.join();
            }
            neighbours.forEach(SignalledProducts::requireUnchanged);
            System.out.println(DONE + RUNS + ", signals: " + signals.get());
        }
    }

    /** Returns memory between which the heap has gaps for the workspace of a product. */
    private static List<MemorySegment> neighbours() {
        List<MemorySegment> kept = new ArrayList<>();
        List<Arena> gaps = new ArrayList<>();
        for (int i = 0; i < NEIGHBOURS; i++) {
            kept.add(Arena.global().allocate(NEIGHBOUR_BYTES).fill(PATTERN));
            Arena gap = Arena.ofConfined();
            gap.allocate(WORKSPACE_BYTES);
            gaps.add(gap);
        }
        gaps.forEach(Arena::close);
        return kept;
    }

    private static void requireUnchanged(MemorySegment neighbour) {
        for (byte each : neighbour.toArray(ValueLayout.JAVA_BYTE)) {
            if (each != PATTERN) {
                throw new AssertionError("a signal has changed memory beside a product's workspace");
            }
        }
    }

    private static float[] numbers(Random random, int count) {
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = random.nextFloat() - 0.5f;
        }
        return numbers;
    }

    private static void require(float[] expected, float[] found) {
        if (!Arrays.equals(expected, found)) {
            throw new AssertionError("a signal has changed a product");
        }
    }

    /** Returns a product by the implementation that moves the stack; null if the library has none here. */
    private static @Nullable DnnlKernel plainProduct(Dnnl dnnl) {
        return DnnlKernel.of(dnnl, builder -> {
            MemoryDescriptor x = matrix(builder, ROWS, INNER);
            MemoryDescriptor y = matrix(builder, INNER, COLUMNS);
            MemoryDescriptor z = matrix(builder, ROWS, COLUMNS);
            PrimitiveDescriptor descriptor =
                    builder.keep(builder.primitives().tryMatMul(x, y, null, z, builder.attributes()));
            while (descriptor != null && !dnnl.movesStack(descriptor)) {
                descriptor = dnnl.nextImplementation(descriptor) ? descriptor : null;
            }
            if (descriptor == null) {
                return false;
            }
            builder.step(descriptor, new Operand(DnnlConstants.SRC, 0, x), new Operand(DnnlConstants.WEIGHTS, 1, y),
                    new Operand(DnnlConstants.DST, 2, z));
            return true;
        });
    }

    private static MemoryDescriptor matrix(SequenceBuilder builder, long rows, long columns) {
        return builder.describe(new long[]{rows, columns}, DType.FLOAT32, new long[]{columns, 1});
    }

    private static float[] product(DnnlKernel kernel, @Nullable Tensor[] operands) {
        kernel.run(operands, KernelContext.current());
        return Objects.requireNonNull(operands[2]).toFloatArray();
    }

    /** Adds the product to sums on the heap, as recurrences do. */
    private static float[] sums(Dnnl dnnl, float[] x, Tensor y) {
        float[] sums = new float[ROWS * COLUMNS];
        dnnl.addProduct(ROWS, COLUMNS, INNER, MemorySegment.ofArray(x), y.address(), MemorySegment.ofArray(sums),
                COLUMNS);
        return sums;
    }

    private static MethodHandle function(String name, FunctionDescriptor signature) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), signature);
    }

    private static long callingThread() throws Throwable {
        return (long) function("pthread_self", FunctionDescriptor.of(ValueLayout.JAVA_LONG)).invokeExact();
    }

    /** Sends signals to a thread until it is interrupted, and returns how many it has sent. */
    private static FutureTask<Integer> signals(long thread) {
        MethodHandle kill = function("pthread_kill",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
        return new FutureTask<>(() -> {
            int sent = 0;
            while (!Thread.currentThread().isInterrupted()) {
                if (send(kill, thread) != 0) {
                    throw new AssertionError("no signal could be sent");
                }
                sent++;
                long next = System.nanoTime() + PAUSE_NANOS;
                while (System.nanoTime() - next < 0) {
                    Thread.onSpinWait();
                }
            }
            return sent;
        });
    }

    private static int send(MethodHandle kill, long thread) {
        try {
            return (int) kill.invokeExact(thread, SIGUSR2);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
