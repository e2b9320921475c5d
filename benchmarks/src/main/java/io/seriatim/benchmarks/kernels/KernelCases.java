package io.seriatim.benchmarks.kernels;

import io.seriatim.device.Devices;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.Update;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.internal.ffi.DnnlConstants;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The measured cases. They are created one after the other, because their tensors are large. */
final class KernelCases {
    private static final double CALL = 0.97;
    private static final double COPY = 0.8;
    private static final int PIECE = 1 << 16;
    private static final SplittableRandom RANDOM = new SplittableRandom(1);

    private KernelCases() {
    }

    static List<Supplier<Case>> matMul(boolean quick) {
        long[] sizes = quick ? new long[]{16, 64, 256} : new long[]{16, 64, 128, 256, 512, 1024, 2048};
        Stream<Supplier<Case>> single = Arrays.stream(sizes)
                .mapToObj(n -> () -> matMul(DType.FLOAT32, DnnlConstants.F32, n));
        Stream<Supplier<Case>> half = Arrays.stream(quick ? new long[]{} : new long[]{1024})
                .mapToObj(n -> () -> matMul(DType.BFLOAT16, DnnlConstants.BF16, n));
        return Stream.concat(single, half).toList();
    }

    private static Case matMul(DType dtype, int type, long n) {
        Call ours = new Call(MatMul.PLAIN, filled(dtype, n, n), filled(dtype, n, n), Tensor.allocate(dtype, n, n));
        double flops = 2.0 * n * n * n;
        return new Case("matmul " + n + (dtype == DType.FLOAT32 ? "" : " " + dtype), ours, BareLibrary.matMul(type, n),
                flops, flops,
                Case.Unit.GFLOPS, CALL);
    }

    static List<Supplier<Case>> convolution(boolean quick) {
        List<ConvolutionShape> shapes = List.of(new ConvolutionShape(8, 64, 56, 64, 3, 1, 1),
                new ConvolutionShape(8, 128, 28, 128, 3, 1, 1),
                new ConvolutionShape(8, 64, 56, 256, 1, 1, 0), new ConvolutionShape(16, 3, 64, 64, 7, 2, 3),
                new ConvolutionShape(64, 20, 12, 50, 5, 1, 0));
        List<Supplier<Case>> cases = new ArrayList<>();
        for (ConvolutionShape shape : quick ? shapes.subList(4, 5) : shapes) {
            for (BareLibrary.Direction direction : BareLibrary.Direction.values()) {
                // The first layer of a network needs no gradient of its input.
                if (shape.channels() > 3 || direction != BareLibrary.Direction.GRAD_INPUT) {
                    cases.add(() -> convolution(direction, shape));
                }
            }
        }
        return cases;
    }

    private static Case convolution(BareLibrary.Direction direction, ConvolutionShape shape) {
        Window window = Window.of(2, shape.stride(), shape.padding());
        Tensor x = filled(DType.FLOAT32, shape.x());
        Tensor w = filled(DType.FLOAT32, shape.weights());
        Tensor y = filled(DType.FLOAT32, shape.y());
        Call ours = switch (direction) {
            case FORWARD -> new Call(new Convolution(window, 1, false, List.of()), x, w, y);
            case GRAD_INPUT ->
                new Call(new ConvolutionGradInput(window, 1, List.of(shape.size(), shape.size())), y, w, x);
            case GRAD_WEIGHTS -> new Call(
                    new ConvolutionGradWeights(window, 1, false, List.of(shape.kernel(), shape.kernel())), x, y, w);
        };
        String name = switch (direction) {
            case FORWARD -> "conv ";
            case GRAD_INPUT -> "  its gradient, input ";
            case GRAD_WEIGHTS -> "  its gradient, weights ";
        };
        return new Case(name + shape, ours, BareLibrary.convolution(direction, shape), shape.flops(), shape.flops(),
                Case.Unit.GFLOPS,
                CALL);
    }

    /** Memory-bound kernels, compared with a copy of tensors of 64 MiB. */
    static List<Supplier<Case>> memory(boolean quick) {
        long n = quick ? 1 << 20 : 16 << 20;
        long rows = n / 1024;
        return List.of(() -> throughTheCache(n),
                () -> pass("relu", n, 2, new Call(Unary.of(Unary.Function.RELU), random(n), random(n))),
                () -> pass("exp", n, 2, new Call(Unary.of(Unary.Function.EXP), random(n), random(n))),
                () -> pass("tanh", n, 2, new Call(Unary.of(Unary.Function.TANH), random(n), random(n))),
                () -> pass("gelu", n, 2, new Call(Unary.of(Unary.Function.GELU_ERF), random(n), random(n))),
                () -> pass("add", n, 3, new Call(Binary.of(Binary.Function.ADD), random(n), random(n), random(n))),
                () -> pass("add a row", n, 2,
                        new Call(Binary.of(Binary.Function.ADD), random(rows, 1024), random(1024), random(rows, 1024))),
                () -> pass("softmax 1024", n, 2,
                        new Call(new Softmax(-1, false), random(rows, 1024), random(rows, 1024))),
                () -> pass("layer norm 1024", n, 2,
                        new Call(new LayerNorm(1, 1e-5f, true, true), random(rows, 1024), random(1024), random(1024),
                                random(rows, 1024),
                                random(rows), random(rows))),
                () -> pass("sum of rows", n, 1,
                        new Call(new Reduction(Reduction.Function.SUM, List.of(1), false), random(rows, 1024),
                                random(rows))),
                () -> pass("sum of columns", n, 1,
                        new Call(new Reduction(Reduction.Function.SUM, List.of(0), false), random(rows, 1024),
                                random(1024))),
                () -> pass("transpose", n, 2, new Call(Copy.PLAIN, random(1024, rows).transpose(), random(rows, 1024))),
                () -> pass("to bfloat16", n, 1.5,
                        new Call(new Copy(DType.BFLOAT16), random(n), Tensor.allocate(DType.BFLOAT16, n))),
                () -> gather(n),
                () -> pass("Adam, " + (n >> 20) + " M parameters", n, 7, adam(n)));
    }

    /** The copy of the limit uses non-temporal stores; this one uses ordinary stores, as kernels do. */
    private static Case throughTheCache(long n) {
        Tensor from = random(n);
        Tensor to = random(n);
        long bytes = n * Float.BYTES;
        Runnable pieces = () -> {
            for (long at = 0; at < bytes; at += PIECE) {
                MemorySegment.copy(from.memory(), at, to.memory(), at, PIECE);
            }
        };
        return new Case("a copy through the cache", pieces, copy(n), 2.0 * bytes, 2.0 * bytes, Case.Unit.GIGABYTES,
                COPY);
    }

    private static Call adam(long n) {
        Tensor param = random(n);
        Tensor grad = random(n);
        Tensor rate = Tensor.of(new float[]{1e-3f}, 1);
        Tensor first = random(n);
        Tensor second = positive(n);
        Tensor pow1 = Tensor.of(new float[]{0.9f}, 1);
        Tensor pow2 = Tensor.of(new float[]{0.999f}, 1);
        return new Call(new Update.Adam(0.9f, 0.999f, 1e-8f, 0), param, grad, rate, first, second, pow1, pow2);
    }

    private static Case gather(long n) {
        long rows = n / 128;
        Tensor indices = Tensor.of(RANDOM.longs(rows, 0, rows).toArray(), rows);
        return pass("embedding, rows of 128", n, 2,
                new Call(Gather.of(0), random(rows, 128), indices, random(rows, 128)));
    }

    /** A kernel that moves the given number of floats for each of n elements. */
    private static Case pass(String name, long n, double floats, Call ours) {
        double bytes = (double) n * Float.BYTES;
        return new Case(name + " (" + ours.provider() + ")", ours, copy(n), floats * bytes, 2 * bytes,
                Case.Unit.GIGABYTES, COPY);
    }

    /** A copy of the given number of contiguous floats. */
    private static Runnable copy(long n) {
        Tensor from = random(n);
        Tensor to = random(n);
        MemorySegment source = from.memory();
        MemorySegment target = to.memory();
        return () -> {
            try {
                MemorySegment.copy(source, 0, target, 0, n * Float.BYTES);
            } finally {
                Reference.reachabilityFence(from);
                Reference.reachabilityFence(to);
            }
        };
    }

    private static Tensor random(long... dims) {
        return filled(DType.FLOAT32, dims);
    }

    private static Tensor positive(long n) {
        Tensor tensor = random(n);
        MemorySegment memory = tensor.memory();
        for (long i = 0; i < n; i++) {
            float value = memory.get(ValueLayout.JAVA_FLOAT, i * Float.BYTES);
            memory.set(ValueLayout.JAVA_FLOAT, i * Float.BYTES, value * value);
        }
        return tensor;
    }

    private static Tensor filled(DType dtype, long... dims) {
        Tensor tensor = Tensor.allocate(dtype, dims);
        long bytes = tensor.spec().bytes();
        MemorySegment memory = tensor.memory();
        for (long i = 0; i < bytes; i += dtype.bytes()) {
            float value = (float) RANDOM.nextDouble(-1, 1);
            if (dtype == DType.FLOAT32) {
                memory.set(ValueLayout.JAVA_FLOAT, i, value);
            } else {
                memory.set(ValueLayout.JAVA_SHORT, i,
                        (short) (Float.floatToRawIntBits(value) >>> 16));
            }
        }
        return tensor;
    }

    /** Returns the nanoseconds of allocating and freeing a cached buffer. */
    static double allocation(Duel duel) {
        Devices devices = Devices.system();
        Runnable pair = () -> devices.host().allocate(4096).close();
        Case both = new Case("allocation", pair, pair, 1, 1, Case.Unit.GIGABYTES, 1);
        return duel.run(both).nanos();
    }
}
