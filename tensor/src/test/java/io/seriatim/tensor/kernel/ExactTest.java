package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.onednn.OneDnn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Where the kernels claim to agree to the bit they do, so that the size of a tensor may decide which one computes. */
class ExactTest {
    private static final long SEED = 20261203;
    /** More than plain Java is used for. */
    private static final int LARGE = 40_001;
    private static final float[] SPECIAL = {0f, -0f, 1f, -1f, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
            Float.MIN_VALUE,
            -Float.MIN_VALUE, Float.MIN_NORMAL, Float.MAX_VALUE, -Float.MAX_VALUE, 1e-20f, 0.5f, 1.5f, 2.5f, -2.5f};
    private static final List<DType> TYPES = List.of(DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16);

    /** What values there are. */
    private enum Values {
        ORDINARY, WIDE, SPECIAL, WITH_NAN
    }

    @BeforeAll
    static void needsTheLibrary() {
        assumeTrue(OneDnn.status().loaded(),
                () -> "oneDNN is not there, so there is nothing to compare: " + OneDnn.status().problem());
    }

    private static Tensor numbers(DType dtype, Values values, int salt) {
        SplittableRandom random = new SplittableRandom(SEED + salt);
        double[] numbers = new double[LARGE];
        for (int i = 0; i < LARGE; i++) {
            numbers[i] = switch (values) {
                case ORDINARY -> random.nextDouble(-3, 3);
                case WIDE -> Math.scalb(random.nextDouble(-1, 1), random.nextInt(-130, 120));
                case SPECIAL -> SPECIAL[random.nextInt(SPECIAL.length)];
                case WITH_NAN -> i % 7 == 0 ? Double.NaN : random.nextDouble(-3, 3);
            };
        }
        return Tensor.of(dtype, numbers, LARGE);
    }

    /** Functions that the library has not are the same anyway. */
    private static boolean isFast(Computation computation, @Nullable Tensor... inputs) {
        @Nullable
        TensorSpec[] specs = Arrays.stream(inputs).map(input -> input == null ? null : input.spec())
                .toArray(TensorSpec[]::new);
        TensorSpec result = computation.infer(specs)[0];
        @Nullable
        TensorSpec[] all = Arrays.copyOf(specs, specs.length + 1);
        all[specs.length] = result;
        try (Kernel kernel = Kernels.system().prepare(computation, Place.CPU, all)) {
            return kernel.provider().equals("onednn");
        }
    }

    private static void same(Computation computation, Values values, @Nullable Tensor... inputs) {
        if (!isFast(computation, inputs)) {
            return;
        }
        Tensor expected = KernelRun.run(Kernels.portable(), computation, inputs)[0];
        Tensor got = KernelRun.run(Kernels.system(), computation, inputs)[0];
        double[] right = expected.toDoubleArray();
        double[] fast = got.toDoubleArray();
        // Equal as objects: signs of zeros count, payloads of NaNs do not.
        int other = Arrays.mismatch(right, fast);
        if (other >= 0) {
            fail(computation + " of " + values + " " + expected.dtype() + ", element " + other + " is " + fast[other]
                    + ", the portable kernel's "
                    + right[other] + ", seed " + SEED);
        }
    }

    @ParameterizedTest
    @EnumSource(Unary.Function.class)
    void functionsOfOneElement(Unary.Function function) {
        for (DType dtype : TYPES) {
            for (float[] parameters : new float[][]{{0.3f, 0.7f}, {-2.5f, 0}, {1, 0.1f}, {0, 6}}) {
                Unary unary = new Unary(function, parameters[0], parameters[1]);
                for (Values values : unary.isExact(dtype) ? Values.values() : new Values[0]) {
                    same(unary, values, numbers(dtype, values, 1));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Binary.Function.class, mode = EnumSource.Mode.EXCLUDE, names = {"BITWISE_AND", "BITWISE_OR",
            "BITWISE_XOR", "SHIFT_LEFT", "SHIFT_RIGHT"})
    void functionsOfTwoElements(Binary.Function function) {
        for (DType dtype : TYPES) {
            Binary binary = Binary.of(function);
            for (Values values : binary.isExact(dtype) ? Values.values() : new Values[0]) {
                same(binary, values, numbers(dtype, values, 1), numbers(dtype, values, 2));
            }
        }
    }

    @Test
    void postOps() {
        Binary binary = new Binary(Binary.Function.MULTIPLY, List.of(new PostOp.Combine(Binary.Function.SUBTRACT),
                new PostOp.Apply(Unary.Function.RELU, 0, 0), new PostOp.Combine(Binary.Function.DIVIDE)));
        assertTrue(binary.isExact(DType.FLOAT32));
        for (Values values : new Values[]{Values.ORDINARY, Values.WIDE}) {
            Tensor x = numbers(DType.FLOAT32, values, 1);
            same(binary, values, x, numbers(DType.FLOAT32, values, 2), numbers(DType.FLOAT32, values, 3),
                    numbers(DType.FLOAT32, values, 4));
        }
    }

    @ParameterizedTest
    @EnumSource(Unary.Function.class)
    void gradients(Unary.Function function) {
        if (function.isTest()) {
            return;
        }
        for (DType dtype : TYPES) {
            UnaryGrad grad = new UnaryGrad(function, 0.3f, 0.7f);
            for (Values values : grad.isExact(dtype) ? List.of(Values.ORDINARY, Values.WIDE) : List.<Values>of()) {
                same(grad, values, numbers(dtype, values, 1), null, numbers(dtype, Values.ORDINARY, 2));
            }
        }
    }

    @Test
    void castsTransposesAndExtremes() {
        for (DType from : TYPES) {
            for (Values values : Values.values()) {
                for (DType to : TYPES) {
                    // Denormals of bfloat16 are the one thing that the library's casts lose.
                    if (to != DType.BFLOAT16 || values == Values.ORDINARY || values == Values.WITH_NAN) {
                        same(new Copy(to), values, numbers(from, values, 1));
                    }
                }
                Tensor across = numbers(from, values, 1).slice(0, 0, 40_000).reshape(400, 100).transpose();
                same(Copy.PLAIN, values, across);
                same(new Reduction(Reduction.Function.MAX, List.of(), false), values, numbers(from, values, 1));
                same(new Reduction(Reduction.Function.MIN, List.of(), false), values, numbers(from, values, 1));
            }
        }
    }

    @Test
    void roundingIsNotPassedOffAsExact() {
        for (Unary.Function function : List.of(Unary.Function.EXP, Unary.Function.TANH, Unary.Function.GELU_ERF,
                Unary.Function.SIGMOID)) {
            assertFalse(Unary.of(function).isExact(DType.FLOAT32), function.toString());
            assertTrue(Unary.of(function).isExact(DType.FLOAT64), function + ", which only plain Java has for float64");
            assertFalse(new UnaryGrad(function, 0, 0).isExact(DType.FLOAT32), function.toString());
        }
        assertFalse(new Unary(Unary.Function.LINEAR, 0.3f, 1).isExact(DType.FLOAT32), "rounded once by the library");
        assertTrue(new Unary(Unary.Function.LINEAR, 0.3f, 0).isExact(DType.FLOAT32));
        assertFalse(new Binary(Binary.Function.ADD, List.of(new PostOp.Apply(Unary.Function.EXP, 0, 0)))
                .isExact(DType.FLOAT32));
    }

    @Test
    void fewElementsAreForPlainJava() {
        List<Computation> exact = new ArrayList<>(
                List.of(Binary.of(Binary.Function.ADD), Unary.of(Unary.Function.RELU)));
        for (Computation computation : exact) {
            assertEquals("portable", provider(computation, TensorSpec.of(DType.FLOAT32, 16)), computation.toString());
            assertEquals("onednn", provider(computation, TensorSpec.of(DType.FLOAT32, 1 << 20)),
                    computation.toString());
        }
        TensorSpec few = TensorSpec.of(DType.FLOAT32, 16);
        assertEquals("onednn", provider(Unary.of(Unary.Function.TANH), few),
                "of another last digit: one for all sizes");
        for (long columns : new long[]{3, 16, 24}) {
            TensorSpec rows = TensorSpec.of(DType.FLOAT32, 64, columns);
            TensorSpec row = TensorSpec.of(DType.FLOAT32, columns);
            try (Kernel kernel = Kernels.system().prepare(Binary.of(Binary.Function.ADD), Place.CPU, rows, row, rows)) {
                assertEquals(columns > 16 ? "onednn" : "portable", kernel.provider(), columns + " columns");
            }
        }
    }

    private static String provider(Computation computation, TensorSpec spec) {
        TensorSpec[] specs = computation instanceof Unary
                ? new TensorSpec[]{spec, spec}
                : new TensorSpec[]{spec, spec, spec};
        try (Kernel kernel = Kernels.system().prepare(computation, Place.CPU, specs)) {
            return kernel.provider();
        }
    }
}
