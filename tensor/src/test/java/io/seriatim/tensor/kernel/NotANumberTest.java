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
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.Window;
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
        // The library makes 0 of the others.
        assertEquals(NAN, one(kernels, new Softmax(0, false), x)[1]);
        assertEquals(NAN, one(kernels, new Softmax(0, true), x)[1]);
        Tensor image = Tensor.of(new float[]{1, NAN, 2, 3}).reshape(1, 1, 2, 2);
        assertArrayEquals(new float[]{NAN},
                one(kernels, new Pooling(Pooling.Kind.MAX, List.of(2L, 2L), Window.of(2, 2, 0)), image));
        assertArrayEquals(new long[]{1, 0, 2}, KernelRun.run(kernels, new Copy(DType.INT32), x)[0].toLongArray());
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
