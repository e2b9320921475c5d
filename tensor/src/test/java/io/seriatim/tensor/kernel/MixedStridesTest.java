package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.kernel.GuardedView.Freedom;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Functions of each element by itself, of operands that broadcast and lie in any order, against the same function of
 * one element after the other, to the bit.
 */
class MixedStridesTest {
    private static final long SEED = 20261126;
    private static final int SEEDS = Boolean.getBoolean("seriatim.full") ? 400 : 20;
    private static final int CASES = 40;
    private static final int MOST = 30_000;
    private static final long[] LENGTHS = {1, 1, 2, 3, 4, 7, 16, 31, 32, 33, 64, 65, 130};
    private static final DType[] TYPES = {DType.FLOAT32, DType.FLOAT32, DType.FLOAT32, DType.FLOAT64, DType.INT32,
            DType.INT64, DType.UINT8, DType.BOOL, DType.BFLOAT16, DType.FLOAT16};

    /** A computation and the same of one element of each operand. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Function(Computation computation, DType[] types, Element element) {
    }

    /** Of the values of all operands, in double. */
    @FunctionalInterface
    private interface Element {
        double of(double... operands);
    }

    static LongStream seeds() {
        return LongStream.range(SEED, SEED + SEEDS);
    }

    private static long[] dims(SplittableRandom random) {
        while (true) {
            long[] dims = new long[random.nextInt(6)];
            for (int i = 0; i < dims.length; i++) {
                dims[i] = random.nextInt(60) == 0 ? 0 : LENGTHS[random.nextInt(LENGTHS.length)];
            }
            if (Shape.of(dims).size() <= MOST) {
                return dims;
            }
        }
    }

    private static long[] part(long[] dims, SplittableRandom random) {
        long[] part = random.nextInt(4) == 0
                ? Arrays.copyOfRange(dims, dims.length == 0 ? 0 : random.nextInt(dims.length), dims.length)
                : dims.clone();
        for (int i = 0; i < part.length; i++) {
            part[i] = random.nextInt(3) == 0 ? 1 : part[i];
        }
        return part;
    }

    /** Of small whole numbers, which every type has, so that double gives the bits of each. */
    private static GuardedView view(DType dtype, long[] dims, Freedom freedom, SplittableRandom random) {
        GuardedView view = GuardedView.any(random, dtype, dims, freedom);
        int most = dtype == DType.BOOL ? 2 : 8;
        view.set(random.ints(view.spec().shape().size(), 0, most).asDoubleStream().toArray());
        return view;
    }

    private static Function function(SplittableRandom random) {
        DType type = TYPES[random.nextInt(TYPES.length)];
        DType other = TYPES[random.nextInt(TYPES.length)];
        boolean chained = type == DType.FLOAT32 || type == DType.FLOAT64 || type.isHalf();
        return switch (random.nextInt(type == DType.BOOL ? 3 : chained ? 8 : 6)) {
            case 0 -> new Function(new Where(), new DType[]{DType.BOOL, type, type}, x -> x[0] != 0 ? x[1] : x[2]);
            case 1 -> new Function(new Copy(type), new DType[]{type}, x -> x[0]);
            case 2 -> new Function(new Copy(other), new DType[]{type},
                    x -> other == DType.BOOL ? x[0] != 0 ? 1 : 0 : x[0]);
            case 3 -> new Function(Binary.of(Binary.Function.MULTIPLY), new DType[]{type, type}, x -> x[0] * x[1]);
            case 4 -> new Function(Unary.of(Unary.Function.SQUARE), new DType[]{type}, x -> x[0] * x[0]);
            case 6, 7 -> new Function(
                    Chain.of(3, new Chain.Combine(Binary.Function.MULTIPLY, 0, 1),
                            new Chain.Combine(Binary.Function.SUBTRACT, 3, 2)),
                    new DType[]{type, type, type}, x -> x[0] * x[1] - x[2]);
            default -> new Function(Binary.of(Binary.Function.MAXIMUM), new DType[]{type, type},
                    x -> Math.max(x[0], x[1]));
        };
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void giveWhatSingleElementsGive(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < CASES; i++) {
            Function function = function(random);
            long[] dims = dims(random);
            DType[] types = function.types();
            GuardedView[] inputs = new GuardedView[types.length];
            // One operand has the whole shape.
            int whole = random.nextInt(types.length);
            boolean copies = function.computation() instanceof Copy;
            for (int k = 0; k < inputs.length; k++) {
                long[] own = (k == whole && !copies) || random.nextBoolean() ? dims : part(dims, random);
                inputs[k] = view(types[k], own, random.nextInt(3) == 0 ? Freedom.DENSE : Freedom.READ, random);
            }
            Kernels kernels = random.nextBoolean() ? Kernels.portable() : Kernels.system();
            DType result = function.computation() instanceof Copy(var to) && to != null ? to : types[types.length - 1];
            GuardedView output = GuardedView.any(random, result, dims,
                    random.nextInt(3) == 0 ? Freedom.DENSE : Freedom.WRITTEN);
            String name = "seed " + seed + ", case " + i + ": " + function.computation() + " of "
                    + Stream.of(inputs).map(GuardedView::spec).toList() + " into " + output.spec();
            KernelRun.into(kernels, function.computation(), new Tensor[]{output.tensor()},
                    Stream.of(inputs).map(GuardedView::tensor).toArray(Tensor[]::new));
            assertArrayEquals(expected(function, inputs, dims), output.values(), name);
            assertTrue(output.isIntact(), name);
            for (GuardedView input : inputs) {
                assertTrue(input.isIntact(), name);
            }
        }
    }

    private static double[] expected(Function function, GuardedView[] inputs, long[] dims) {
        List<double[]> values = Stream.of(inputs).map(GuardedView::values).toList();
        double[] expected = new double[Math.toIntExact(Shape.of(dims).size())];
        double[] operands = new double[inputs.length];
        for (int i = 0; i < expected.length; i++) {
            for (int k = 0; k < inputs.length; k++) {
                operands[k] = values.get(k)[place(inputs[k].spec().shape(), dims, i)];
            }
            expected[i] = function.element().of(operands);
        }
        return expected;
    }

    /** The place in row-major order of what an operand has for an element of the result. */
    private static int place(Shape operand, long[] dims, int element) {
        long rest = element;
        long place = 0;
        long step = 1;
        for (int i = dims.length - 1, own = operand.rank() - 1; own >= 0; i--, own--) {
            place += operand.dim(own) == 1 ? 0 : rest % dims[i] * step;
            step *= operand.dim(own);
            rest /= dims[i];
        }
        return Math.toIntExact(place);
    }
}
