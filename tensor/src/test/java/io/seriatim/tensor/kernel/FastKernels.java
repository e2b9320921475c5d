package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.onednn.OneDnn;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;

/** Compares the kernels that are used with the portable ones, over awkward shapes and values. */
final class FastKernels {
    static final long SEED = 20261121;

    static final float[] SPECIAL = {0f, -0f, 1f, -1f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
            Float.MIN_VALUE,
            -Float.MIN_VALUE, Float.MIN_NORMAL,
            Float.MAX_VALUE, -Float.MAX_VALUE, 1e-20f, 88f, -88f, 104f, -104f, 0.5f, 1.5f, 2.5f, -2.5f};

    static final List<DType> FLOATS = List.of(DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16);

    /** What is compared: a computation and its inputs. */
    @SuppressWarnings("ArrayRecordComponent")
    record Case(String name, Computation computation, DType dtype, long[]... shapes) {
        @Override
        public String toString() {
            return name + " " + dtype;
        }
    }

    static void needsTheLibrary() {
        assumeTrue(OneDnn.status().loaded(),
                () -> "oneDNN is not there, so there is nothing to compare: " + OneDnn.status().problem());
    }

    private FastKernels() {
    }

    static long[] dims(long... dims) {
        return dims;
    }

    static Tensor[] ordinary(Case one) {
        Tensor[] inputs = new Tensor[one.shapes().length];
        for (int i = 0; i < inputs.length; i++) {
            long[] dims = one.shapes()[i];
            // A leading -5 asks for positive values, as variances are.
            boolean positive = dims.length > 0 && dims[0] == -5;
            inputs[i] = positive
                    ? positive(one.dtype(), Arrays.copyOfRange(dims, 1, dims.length))
                    : random(one.dtype(), i, dims);
        }
        return inputs;
    }

    static Tensor positive(DType dtype, long[] dims) {
        double[] values = random(dtype, 9, dims).toDoubleArray();
        return Tensor.of(dtype, Arrays.stream(values).map(v -> 0.5 + v * v).toArray(), dims);
    }

    static Tensor random(DType dtype, int salt, long[] dims) {
        SplittableRandom random = new SplittableRandom(SEED + salt);
        double[] values = new double[(int) Shape.of(dims).size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextDouble(-2, 2);
        }
        return Tensor.of(dtype, values, dims);
    }

    static Tensor[] special(Case one) {
        Tensor[] inputs = new Tensor[one.shapes().length];
        for (int i = 0; i < inputs.length; i++) {
            double[] values = new double[(int) Shape.of(one.shapes()[i]).size()];
            for (int j = 0; j < values.length; j++) {
                // Different steps pair each value with each other one.
                values[j] = SPECIAL[(i == 0 ? j : (j / SPECIAL.length) + j) % SPECIAL.length];
            }
            inputs[i] = Tensor.of(one.dtype(), values, one.shapes()[i]);
        }
        return inputs;
    }

    static void compare(Case one, @Nullable Tensor... inputs) {
        Tensor[] fast;
        Tensor[] portable;
        try {
            portable = KernelRun.run(Kernels.portable(), one.computation(), inputs);
        } catch (IllegalArgumentException e) {
            // What one refuses the other must refuse too.
            IllegalArgumentException other = Assertions.assertThrows(
                    IllegalArgumentException.class,
                    () -> KernelRun.run(Kernels.system(), one.computation(), inputs));
            assertEquals(e.getClass(), other.getClass());
            return;
        }
        fast = KernelRun.run(Kernels.system(), one.computation(), inputs);
        assertEquals(portable.length, fast.length);
        for (int i = 0; i < fast.length; i++) {
            compare(one + ", output " + i + ", seed " + SEED, one.dtype(), inputs, portable[i].toDoubleArray(),
                    fast[i].toDoubleArray());
        }
    }

    static void compare(String what, DType dtype, @Nullable Tensor[] inputs, double[] expected, double[] actual) {
        double tolerance = switch (dtype) {
            case FLOAT32 -> 2e-5;
            case FLOAT16 -> 4e-3;
            default -> 3e-2;
        };
        double magnitude = 1;
        for (double value : expected) {
            magnitude = Double.isFinite(value) ? Math.max(magnitude, Math.min(Math.abs(value), 100)) : magnitude;
        }
        for (int i = 0; i < expected.length; i++) {
            double e = expected[i];
            double a = actual[i];
            boolean same = Double.isNaN(e)
                    ? Double.isNaN(a)
                    : (Double.isInfinite(e) || Double.isInfinite(a))
                            ? e == a
                            : Math.abs(e - a) <= tolerance * Math.max(magnitude, Math.abs(e));
            Tensor first = inputs[0];
            String of = first != null && first.shape().size() == expected.length
                    ? " of " + first.toDoubleArray()[i]
                    : "";
            if (!same) {
                fail(what + ": element " + i + of + " is " + a + ", the portable kernel's " + e);
            }
        }
    }
}
