package io.seriatim.tensor.kernel;

import static io.seriatim.tensor.kernel.FastKernels.FLOATS;
import static io.seriatim.tensor.kernel.FastKernels.SPECIAL;
import static io.seriatim.tensor.kernel.FastKernels.compare;
import static io.seriatim.tensor.kernel.FastKernels.dims;
import static io.seriatim.tensor.kernel.FastKernels.ordinary;
import static io.seriatim.tensor.kernel.FastKernels.positive;
import static io.seriatim.tensor.kernel.FastKernels.random;
import static io.seriatim.tensor.kernel.FastKernels.special;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.kernel.FastKernels.Case;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Elementwise functions and their gradients by the kernels that are used, against the portable ones. */
@Tag("slow")
class FastFunctionsTest {
    @BeforeAll
    static void needsTheLibrary() {
        FastKernels.needsTheLibrary();
    }

    static Stream<Case> binaries() {
        List<Case> cases = new ArrayList<>();
        for (DType dtype : FLOATS) {
            for (Binary.Function function : Binary.Function.values()) {
                if (function.isBitwise()) {
                    continue;
                }
                cases.add(new Case(function + " alike", Binary.of(function), dtype, dims(207), dims(207)));
                cases.add(new Case(function + " row", Binary.of(function), dtype, dims(13, 21), dims(21)));
                cases.add(new Case(function + " column", Binary.of(function), dtype, dims(13, 1), dims(13, 21)));
                cases.add(new Case(function + " outer", Binary.of(function), dtype, dims(5, 1, 3), dims(4, 1)));
                // Large enough for the library.
                cases.add(new Case(function + " alike, large", Binary.of(function), dtype, dims(5003), dims(5003)));
                cases.add(new Case(function + " row, large", Binary.of(function), dtype, dims(13, 421), dims(421)));
                cases.add(
                        new Case(function + " column, large", Binary.of(function), dtype, dims(13, 1), dims(13, 421)));
                cases.add(
                        new Case(function + " outer, large", Binary.of(function), dtype, dims(20, 1, 3), dims(19, 1)));
                cases.add(new Case(function + " single", Binary.of(function), dtype, dims(), dims(3)));
                cases.add(new Case(function + " empty", Binary.of(function), dtype, dims(0, 3), dims(3)));
            }
        }
        return cases.stream();
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void givesTheSame(Case one) {
        compare(one, ordinary(one));
    }

    @ParameterizedTest
    @MethodSource("binaries")
    void givesTheSameForSpecialValues(Case one) {
        compare(one, special(one));
    }

    /**
     * Each pair of gradients and values, of an odd number of elements and of several tiles, to the bit but for the bits
     * of NaN.
     */
    @Test
    void gradientOfReluOfHalvesIsExact() {
        Case one = new Case("gradient of relu", UnaryGrad.of(Unary.of(Unary.Function.RELU)), DType.BFLOAT16,
                dims(4999));
        double[] values = special(one)[0].toDoubleArray();
        double[] gradients = new double[values.length];
        for (int i = 0; i < gradients.length; i++) {
            gradients[i] = SPECIAL[(i / SPECIAL.length + i) % SPECIAL.length];
        }
        Tensor y = Tensor.of(DType.BFLOAT16, values, 4999);
        Tensor dy = Tensor.of(DType.BFLOAT16, gradients, 4999);
        double[] expected = KernelRun.run(Kernels.portable(), one.computation(), y, y, dy)[0].toDoubleArray();
        assertArrayEquals(expected, KernelRun.run(Kernels.system(), one.computation(), y, y, dy)[0].toDoubleArray());
    }

    @ParameterizedTest
    @EnumSource(Unary.Function.class)
    void functionsGiveTheSame(Unary.Function function) {
        for (DType dtype : FLOATS) {
            for (long n : new long[]{0, 1, 13, 207, 4098}) {
                Case one = new Case(function + " " + n, new Unary(function, 0.25f, 0.75f), dtype, dims(n));
                compare(one, ordinary(one));
                compare(one, special(one));
            }
        }
    }

    /** Images with channels last are as contiguous in memory as others. */
    @ParameterizedTest
    @EnumSource(Unary.Function.class)
    void functionsOfPermutedTensorsGiveTheSame(Unary.Function function) {
        Computation unary = new Unary(function, 0.25f, 0.75f);
        for (Tensor x : special(new Case("", unary, DType.FLOAT32, dims(2, 13, 17, 11)))) {
            Tensor expected = KernelRun.run(Kernels.system(), unary, x)[0];
            Tensor turned = Tensor.allocate(expected.dtype(), x.shape().dims());
            Tensor from = x.transpose(0, 3, 1, 2);
            Tensor to = turned.transpose(0, 3, 1, 2);
            Kernel kernel = Kernels.system().prepare(unary, Place.CPU, from.spec(), to.spec());
            assertEquals(Kernels.system().prepare(unary, Place.CPU, x.spec(), turned.spec()).provider(),
                    kernel.provider());
            kernel.run(new Tensor[]{from, to}, KernelContext.current());
            assertArrayEquals(expected.toDoubleArray(), turned.toDoubleArray());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Unary.Function.class, names = {"RELU", "LEAKY_RELU", "ELU", "CLIP", "SIGMOID", "TANH",
            "GELU_ERF", "GELU_TANH",
            "SWISH", "HARD_SIGMOID", "HARD_SWISH", "MISH", "EXP",
            "LOG", "SQRT", "SQUARE", "ABS", "LINEAR"})
    void gradientsOfFunctionsGiveTheSame(Unary.Function function) {
        for (DType dtype : FLOATS) {
            Unary unary = new Unary(function, 0.25f, 0.75f);
            for (long n : new long[]{207, 2070}) {
                Tensor x = random(dtype, 1, dims(n));
                Tensor y = KernelRun.run(Kernels.portable(), unary, x)[0];
                Case one = new Case("gradient of " + function, UnaryGrad.of(unary), dtype);
                compare(one, x, y, random(dtype, 2, dims(n)));
            }
        }
    }

    /** With any slope, to the bit: the sign of 0, infinities and NaN too. */
    @ParameterizedTest
    @ValueSource(floats = {0.25f, 1, 3, 0, -0f, -0.5f, Float.MIN_VALUE, Float.POSITIVE_INFINITY, Float.NaN})
    void leakyReluKeepsSpecialValues(float slope) {
        float[] special = {0, -0f, 1, -1, Float.MIN_VALUE, -Float.MIN_VALUE, Float.MAX_VALUE, -Float.MAX_VALUE,
                Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.NaN};
        float[] x = new float[70 * special.length];
        float[] expected = new float[x.length];
        for (int i = 0; i < x.length; i++) {
            x[i] = special[i % special.length];
            expected[i] = x[i] < 0 ? slope * x[i] : x[i];
        }
        Unary unary = new Unary(Unary.Function.LEAKY_RELU, slope, 0);
        assertArrayEquals(expected, KernelRun.run(Kernels.portable(), unary, Tensor.of(x, x.length))[0].toFloatArray());
    }

    /** From the result alone, as far as that tells enough. */
    @ParameterizedTest
    @EnumSource(value = Unary.Function.class, names = {"RELU", "LEAKY_RELU", "ELU", "SIGMOID", "TANH", "EXP", "SQRT",
            "RSQRT",
            "RECIPROCAL"})
    void gradientsFromResultsGiveTheSame(Unary.Function function) {
        for (DType dtype : FLOATS) {
            UnaryGrad grad = new UnaryGrad(function, 0.25f, 0);
            for (long n : new long[]{1, 13, 207, 2071}) {
                Tensor x = positive(dtype, dims(n));
                Tensor y = KernelRun.run(Kernels.portable(), new Unary(function, 0.25f, 0), x)[0];
                Tensor dy = random(dtype, 2, dims(n));
                Case one = new Case("gradient of " + function, grad, dtype);
                compare(one, null, y, dy);
                if (function == Unary.Function.RELU || function == Unary.Function.ELU
                        || function == Unary.Function.TANH) {
                    compare(one, null, KernelRun.run(Kernels.portable(), new Unary(function, 0.25f, 0),
                            random(dtype, 5, dims(n)))[0], dy);
                }
            }
        }
    }

    /**
     * An infinite gradient does not vanish, or training in 16 bits would not see that the loss's scale is too large.
     */
    @Test
    void infiniteGradientsAreSeen() {
        double infinite = Double.POSITIVE_INFINITY;
        for (DType dtype : FLOATS) {
            for (int n : new int[]{1, 40, 3000}) {
                double[] values = new double[n];
                Arrays.fill(values, infinite);
                Tensor dy = Tensor.of(dtype, values, n);
                Tensor zeros = Tensor.of(dtype, new double[n], n);
                for (Unary.Function function : List.of(Unary.Function.RELU, Unary.Function.SIGMOID,
                        Unary.Function.TANH)) {
                    double[] dx = KernelRun.run(Kernels.system(), new UnaryGrad(function, 0, 0), null, zeros, dy)[0]
                            .toDoubleArray();
                    assertEquals(0, Arrays.stream(dx).filter(Double::isFinite).count(),
                            function + " " + dtype + " " + n);
                }
            }
        }
    }
}
