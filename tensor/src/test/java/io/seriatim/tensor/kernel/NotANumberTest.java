package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.ArgReduction;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.TopK;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Unary.Function;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.Window;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What docs/paddle.md says of NaN, and of the order of equal values, holds for the kernels that are used and for the
 * portable ones.
 */
class NotANumberTest {
    private static final float NAN = Float.NaN;

    private static Stream<Kernels> kernels() {
        return Stream.of(Kernels.system(), Kernels.portable());
    }

    private static float[] one(Kernels kernels, Computation computation, Tensor... inputs) {
        return KernelRun.run(kernels, computation, inputs)[0].toFloatArray();
    }

    private static Tensor copied(Kernels kernels, Tensor x) {
        return KernelRun.run(kernels, new Copy(x.dtype()), x)[0];
    }

    @ParameterizedTest
    @EnumSource(Function.class)
    void aFunctionOfNanIsNan(Function function) {
        float expected = switch (function) {
            case LOGICAL_NOT, IS_INF, IS_FINITE -> 0;
            case IS_NAN -> 1;
            default -> NAN;
        };
        for (Kernels kernels : kernels().toList()) {
            // Longer than what plain Java is used for because it is short.
            for (int size : new int[]{3, 10_000}) {
                float[] values = new float[size];
                values[size / 2] = NAN;
                float[] got = one(kernels, new Unary(function, 1, 2), Tensor.of(values));
                assertEquals(expected, got[size / 2], () -> function + ", " + size + " elements");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void extremesAndComparisons(Kernels kernels) {
        Tensor x = Tensor.of(new float[]{1, NAN, 2});
        Tensor y = Tensor.of(new float[]{0, 0, NAN});
        assertArrayEquals(new float[]{1, NAN, NAN}, one(kernels, Binary.of(Binary.Function.MAXIMUM), x, y));
        assertArrayEquals(new float[]{0, NAN, NAN}, one(kernels, Binary.of(Binary.Function.MINIMUM), x, y));
        assertArrayEquals(new float[]{1, 0, 1}, one(kernels, Binary.of(Binary.Function.EQUAL), x, x));
        assertArrayEquals(new float[]{0, 1, 0}, one(kernels, Binary.of(Binary.Function.NOT_EQUAL), x, x));
        assertArrayEquals(new float[]{1, 0, 1}, one(kernels, Binary.of(Binary.Function.LESS_EQUAL), x, x));
        for (Reduction.Function function : List.of(Reduction.Function.MAX, Reduction.Function.MIN,
                Reduction.Function.SUM)) {
            assertArrayEquals(new float[]{NAN}, one(kernels, new Reduction(function, List.of(0), false), x),
                    function::toString);
        }
        assertEquals(1, KernelRun.run(kernels, new ArgReduction(true, 0, false), x)[0].getLong());
        assertEquals(1, KernelRun.run(kernels, new ArgReduction(false, 0, false), x)[0].getLong());
        Tensor image = Tensor.of(new float[]{1, NAN, 2, 3}).reshape(1, 1, 2, 2);
        assertArrayEquals(new float[]{NAN},
                one(kernels, new Pooling(Pooling.Kind.MAX, List.of(2L, 2L), Window.of(2, 2, 0)), image));
        assertArrayEquals(new long[]{1, Integer.MIN_VALUE, 2},
                KernelRun.run(kernels, new Copy(DType.INT32), x)[0].toLongArray());
    }

    /** PaddlePaddle's and PyTorch's: the sum of a row is not a number, so nothing in the row is one. */
    @ParameterizedTest
    @MethodSource("kernels")
    void aRowWithoutASumIsNan(Kernels kernels) {
        float most = Float.POSITIVE_INFINITY;
        float least = Float.NEGATIVE_INFINITY;
        List<float[]> without = List.of(new float[]{1, NAN, 2}, new float[]{1, most, 2}, new float[]{most, most, 0},
                new float[]{least, least, least}, new float[]{NAN, most, least}, new float[]{least, 3, NAN});
        // Rows of more elements than plain Java is used for, and few.
        for (int rows : new int[]{3, 4000}) {
            for (float[] row : without) {
                float[] values = new float[rows * 3];
                Arrays.fill(values, 1);
                values[0] = least;
                System.arraycopy(row, 0, values, values.length - 3, 3);
                for (DType dtype : FastKernels.FLOATS) {
                    for (int axis : new int[]{0, 1}) {
                        Tensor x = KernelRun.run(kernels, new Copy(dtype), Tensor.of(values, rows, 3))[0];
                        Tensor turned = axis == 1 ? x : copied(kernels, x.transpose(1, 0));
                        for (boolean log : new boolean[]{false, true}) {
                            float[] got = one(kernels, new Softmax(axis, log), turned);
                            String what = dtype + " " + axis + log + Arrays.toString(row);
                            for (int i = 0; i < got.length; i++) {
                                boolean last = axis == 1 ? i / 3 == rows - 1 : i % rows == rows - 1;
                                assertEquals(last, Float.isNaN(got[i]), what + " at " + i);
                            }
                        }
                    }
                }
                Tensor x = Tensor.of(values, rows, 3);
                Tensor labels = Tensor.of(new long[rows], rows, 1);
                Tensor[] hard = KernelRun.run(kernels, new CrossEntropy(1, false, -100), x, labels);
                Tensor[] soft = KernelRun.run(kernels, new CrossEntropy(1, true, -100), x,
                        Tensor.of(new float[rows * 3], rows, 3));
                for (int i = 0; i < rows; i++) {
                    String what = Arrays.toString(row) + " at " + i;
                    assertEquals(i == rows - 1, Float.isNaN(hard[0].toFloatArray()[3 * i]), what);
                    assertEquals(i == rows - 1, Float.isNaN(hard[1].toFloatArray()[i]), what);
                    assertEquals(i == rows - 1, Float.isNaN(soft[1].toFloatArray()[i]), what);
                }
            }
        }
    }

    /** C99's powers, not Java's. */
    @ParameterizedTest
    @MethodSource("kernels")
    void powers(Kernels kernels) {
        float most = Float.POSITIVE_INFINITY;
        float[] bases = {1, 1, 1, -1, -1, -1, NAN, -2, 0, -0f, most, -most};
        float[] exponents = {NAN, most, -most, most, -most, NAN, 0, most, -1, -1, NAN, -3};
        float[] expected = {1, 1, 1, 1, 1, NAN, 1, most, most, -most, NAN, -0f};
        assertArrayEquals(expected, one(kernels, Binary.of(Binary.Function.POWER), Tensor.of(bases),
                Tensor.of(exponents)));
        for (DType dtype : List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16)) {
            for (int i = 0; i < bases.length; i++) {
                Tensor x = KernelRun.run(kernels, new Copy(dtype), Tensor.of(new float[]{bases[i]}))[0];
                Unary power = new Unary(Function.POW, exponents[i], 0);
                assertArrayEquals(new double[]{expected[i]}, KernelRun.run(kernels, power, x)[0].toDoubleArray(),
                        bases[i] + " to the power of " + exponents[i]);
            }
        }
    }

    /** NumPy's quotients: x less its remainder is a multiple of y. */
    @ParameterizedTest
    @MethodSource("kernels")
    void floorsOfQuotients(Kernels kernels) {
        float most = Float.POSITIVE_INFINITY;
        float[] x = {-1, 1, most, -most, 1, -5.5f, 5.5f, NAN, -0f, 0};
        float[] y = {most, -most, 2, most, 0, 2, -2, 1, 3, 0};
        float[] expected = {-1, -1, NAN, NAN, most, -3, -3, NAN, -0f, NAN};
        assertArrayEquals(expected,
                one(kernels, Binary.of(Binary.Function.FLOOR_DIVIDE), Tensor.of(x), Tensor.of(y)));
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void equalValuesKeepTheirOrderAndNanIsTheLargest(Kernels kernels) {
        Tensor ties = Tensor.of(new float[]{1, 3, 2, 3, 1, 3});
        assertArrayEquals(new long[]{1, 3, 5, 2}, KernelRun.run(kernels, new TopK(4, 0, true), ties)[1].toLongArray());
        assertArrayEquals(new long[]{0, 4, 2, 1}, KernelRun.run(kernels, new TopK(4, 0, false), ties)[1].toLongArray());
        Tensor x = Tensor.of(new float[]{1, NAN, 2, 3});
        assertArrayEquals(new long[]{1, 3, 2}, KernelRun.run(kernels, new TopK(3, 0, true), x)[1].toLongArray());
        assertArrayEquals(new long[]{0, 2, 3}, KernelRun.run(kernels, new TopK(3, 0, false), x)[1].toLongArray());
        assertEquals(1, KernelRun.run(kernels, new ArgReduction(true, 0, false), ties)[0].getLong());
    }

    @Test
    void gradientsAtNan() {
        Tensor x = Tensor.of(new float[]{NAN});
        Tensor dy = Tensor.of(new float[]{1});
        for (Function function : List.of(Function.RELU, Function.CLIP, Function.HARD_SIGMOID)) {
            assertArrayEquals(new float[]{0},
                    KernelRun.run(Kernels.portable(), UnaryGrad.of(Unary.of(function)), x, null, dy)[0].toFloatArray(),
                    function::toString);
        }
        for (Function function : List.of(Function.ABS, Function.TANH, Function.EXP, Function.HARD_SWISH)) {
            assertArrayEquals(new float[]{NAN},
                    KernelRun.run(Kernels.portable(), UnaryGrad.of(Unary.of(function)), x, null, dy)[0].toFloatArray(),
                    function::toString);
        }
    }
}
