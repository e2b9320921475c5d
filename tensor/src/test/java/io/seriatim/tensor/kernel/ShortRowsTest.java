package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Where;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Functions of each element of operands that broadcast and have any order in memory, mostly with short rows, give to
 * the bit what Java's operators give element by element.
 */
class ShortRowsTest {
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 4000 : 400;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

    @ParameterizedTest
    @EnumSource(names = {"EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"})
    void specialNumbersAreCompared(Binary.Function function) {
        float[] numbers = FastKernels.SPECIAL.clone();
        int n = numbers.length;
        // More elements than loops compute at least, and rows that are no whole vectors.
        Tensor result = Tensor.allocate(DType.BOOL, n, n);
        KernelRun.into(Kernels.system(), Binary.of(function), new Tensor[]{result}, Tensor.of(numbers, n, 1),
                Tensor.of(numbers, n));
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                assertEquals(holds(function, numbers[i], numbers[j]),
                        result.memory().get(ValueLayout.JAVA_BYTE, result.offset() + (long) i * n + j) == 1,
                        numbers[i] + " " + function + " " + numbers[j]);
            }
        }
    }

    private static boolean holds(Binary.Function function, float x, float y) {
        return switch (function) {
            case EQUAL -> x == y;
            case NOT_EQUAL -> x != y;
            case LESS -> x < y;
            case LESS_EQUAL -> x <= y;
            case GREATER -> x > y;
            case GREATER_EQUAL -> x >= y;
            default -> throw new IllegalArgumentException("not a comparison: " + function);
        };
    }

    @Test
    void operandsBroadcastInAnyOrder() {
        for (long seed = 1; seed <= CASES; seed++) {
            check(new SplittableRandom(seed), "seed " + seed);
        }
    }

    private static void check(SplittableRandom random, String where) {
        int rank = random.nextInt(1, 5);
        long[] dims = new long[rank];
        for (int i = rank - 1; i >= 0; i--) {
            dims[i] = i == rank - 1 ? random.nextInt(1, random.nextInt(4) == 0 ? 40 : 9) : random.nextInt(1, 14);
        }
        if (random.nextInt(3) == 0) {
            dims[0] = random.nextInt(1, 600);
        }
        int kind = random.nextInt(4);
        int inputs = kind == 3 ? 3 : 2;
        int[] whole = IntStream.range(0, rank).map(_ -> random.nextInt(inputs)).toArray();
        Tensor[] arguments = new Tensor[inputs + 1];
        for (int k = 0; k < inputs; k++) {
            long[] own = dims.clone();
            for (int i = 0; i < rank; i++) {
                own[i] = whole[i] != k && random.nextBoolean() ? 1 : own[i];
            }
            arguments[k] = numbers(random, kind == 3 && k == 0 ? DType.BOOL : DType.FLOAT32, own);
        }
        arguments[inputs] = empty(random, kind == 2 ? DType.BOOL : DType.FLOAT32, dims);
        Computation computation = switch (kind) {
            case 0 -> Binary.of(Binary.Function.ADD);
            case 1 -> Binary.of(Binary.Function.MULTIPLY);
            case 2 -> Binary.of(Binary.Function.LESS_EQUAL);
            default -> new Where();
        };
        TensorSpec[] specs = new TensorSpec[inputs + 1];
        for (int k = 0; k <= inputs; k++) {
            specs[k] = arguments[k].spec();
        }
        String what = where + ": " + computation + " of " + List.of(specs);
        try (Kernel kernel = Kernels.system().prepare(computation, Place.CPU, specs)) {
            kernel.run(arguments, KernelContext.current());
        }
        long[] index = new long[rank];
        for (long element = 0; element < Shape.of(dims).size(); element++) {
            long rest = element;
            for (int i = rank - 1; i >= 0; i--) {
                index[i] = rest % dims[i];
                rest /= dims[i];
            }
            float x = at(arguments[0], index);
            float y = at(arguments[1], index);
            float expected = switch (kind) {
                case 0 -> x + y;
                case 1 -> x * y;
                case 2 -> x <= y ? 1 : 0;
                default -> x != 0 ? y : at(arguments[2], index);
            };
            assertEquals(expected, at(arguments[inputs], index), what + ", element " + element);
        }
    }

    private static float at(Tensor tensor, long[] index) {
        long[] strides = tensor.spec().strides();
        long offset = 0;
        for (int i = 0; i < index.length; i++) {
            offset += tensor.shape().dim(i) == 1 ? 0 : index[i] * strides[i];
        }
        return tensor.dtype() == DType.BOOL
                ? tensor.memory().get(ValueLayout.JAVA_BYTE, tensor.offset() + offset)
                : tensor.memory().get(FLOAT, tensor.offset() + offset * Float.BYTES);
    }

    private static Tensor numbers(SplittableRandom random, DType dtype, long[] dims) {
        Tensor tensor = empty(random, dtype, dims);
        for (long i = 0; i < Shape.of(dims).size(); i++) {
            if (dtype == DType.BOOL) {
                tensor.memory().set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt(2));
            } else {
                // Few different ones, so that some are equal.
                tensor.memory().set(FLOAT, i * Float.BYTES, random.nextInt(-4, 5) / 2f);
            }
        }
        return tensor;
    }

    /** Dense, with its dimensions in any order in memory. */
    private static Tensor empty(SplittableRandom random, DType dtype, long[] dims) {
        Tensor dense = Tensor.allocate(dtype, dims);
        dense.memory().fill((byte) 0x7f);
        if (random.nextBoolean()) {
            return dense;
        }
        List<Integer> order = new ArrayList<>(IntStream.range(0, dims.length).boxed().toList());
        Collections.shuffle(order, new Random(random.nextLong()));
        long[] strides = new long[dims.length];
        long step = 1;
        for (int i : order) {
            strides[i] = step;
            step *= dims[i];
        }
        return new Tensor(dense.buffer(), dense.offset(),
                new TensorSpec(dtype, Shape.of(dims), Layout.strided(strides)));
    }
}
