package io.seriatim.tensor.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Unary.Function;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.Softmax;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * How far the functions of elements and their gradients are from what they should be, over the whole range of float32
 * and by each way in which they are computed: alone, as a step of a chain, after a sum and after a product. The largest
 * errors are listed in docs/operations.md, whose table this test writes with
 * {@code -Dseriatim.write-accuracy-table=true}.
 */
@Tag("slow")
class AccuracyTest {
    private static final long SEED = 20261122;
    private static final int IN_BINADE = 40;
    private static final int AROUND = 128;
    private static final float[] POINTS = {0, 1, -1, 2, -2, 3, -3, 6, -6, 0.5f, -0.5f, (float) Math.PI,
            (float) (Math.PI / 2), 20, -2.5f,
            2.5f,
            -0.233333f, 88.7f, -87.3f, -103.9f, -5.5f};
    /** Half of the least float16, and more than what the library takes for 0 in bfloat16. */
    private static final double LEAST_HALF = 0x1p-25;
    private static final String BEGIN = "## Accuracy\n";
    private static final String HINT = "docs/operations.md is out of date; write its table anew with: mvn test -pl "
            + "tensor -am -Dtest=AccuracyTest "
            + "-Dsurefire.failIfNoSpecifiedTests=false -DargLine=\"-Dseriatim.write-accuracy-table=true "
            + "--enable-native-access=ALL-UNNAMED\"";
    private static final String INTRODUCTION =
            """

                    The functions of elements in float32, with the parameters 0.1 (`leaky_relu`), 1 (`elu`, `swish`), −1 to 1 (`clip`), 0.2 and 0.5 (`hard_sigmoid`), 1 and 20 (`softplus`), 2.5 (`pow`), 3 and 0.7
                    (`linear`), and their derivatives. `AccuracyTest` compares them with float64 on the same inputs: all binades, special values, and densely around roots, poles and limits. Allowed is an error of so many
                    units in the last place of the exact result (ulp), or the absolute one. The largest errors were measured on a processor with AVX-512, for the kernels that are used (fast) and the portable ones: first in
                    ulp, as far as that bound goes, then the largest absolute one beyond it. Chains and functions that follow a sum or a product hold the same bounds. In float16 and bfloat16 the result is off by at most one unit, and
                    by the absolute bound; in float64 by 4 ulp (gradients 8), or 2e-12 where terms cancel. The other elementary functions (`asin`, `log1p`, `expm1`, …) stand in the table above.
                    `softmax` is within 4 ulp or 3e-7 (seen: 3.1e-8), `log_softmax` within 1 ulp or 5e-6, the library's logarithm of a sum (3.8e-6), cross entropy of class numbers within 4 ulp or 3e-7 (1.0e-7).

                    | function | allowed | fast | portable | gradient: allowed | fast | portable |
                    |---|---|---|---|---|---|---|
                    """;

    /**
     * An error is allowed if it is within so many units in the last place of the exact result or within an absolute
     * bound.
     *
     * @param reason
     *            why there is an absolute bound
     */
    private record Bound(double ulps, double absolute, String reason) {
        static final Bound ROUNDED = new Bound(1, 0, "");
        static final Bound ELEMENTARY = new Bound(4, 0, "");
    }

    private static Unary parameters(Function function) {
        return switch (function) {
            case LEAKY_RELU -> new Unary(function, 0.1f, 0);
            case ELU, SWISH -> new Unary(function, 1, 0);
            case CLIP -> new Unary(function, -1, 1);
            case HARD_SIGMOID -> new Unary(function, 0.2f, 0.5f);
            case SOFTPLUS -> new Unary(function, 1, 20);
            case POW -> new Unary(function, 2.5f, 0);
            case LINEAR -> new Unary(function, 3, 0.7f);
            default -> Unary.of(function);
        };
    }

    /** Of float32. A new function does not compile before it has a bound. */
    private static Bound bound(Function function) {
        String tail = "results below the least normal number are 0";
        return switch (function) {
            case RELU, LEAKY_RELU, CLIP, SQRT, RSQRT, SQUARE, ABS, RECIPROCAL, NEGATE, FLOOR, CEIL, ROUND, SIGN,
                    LOGICAL_NOT, IS_NAN,
                    IS_INF,
                    IS_FINITE ->
                Bound.ROUNDED;
            case EXP -> new Bound(4, 1e-27, "below −64, and from −87 down the library gives 0");
            case LOG, SIN, COS, TANH, ERF, POW, SOFTPLUS -> Bound.ELEMENTARY;
            case SIGMOID -> new Bound(4, 2e-38, tail);
            case SWISH ->
                new Bound(4, 1e-22, "below −40: the library's exponential and its quotient are off by more together");
            case ELU -> new Bound(4, 1.5e-7, "near the root at 0: the library subtracts 1 from eˣ");
            case GELU_ERF -> new Bound(4, 1.2e-6, "negative tail: 1 and a value near −1 are added");
            case GELU_TANH -> new Bound(4, 5e-7, "negative tail: 1 and a value near −1 are added");
            case MISH -> new Bound(4, 1.1e-6, "negative tail: the library squares 1 + eˣ and subtracts 1");
            case HARD_SIGMOID -> new Bound(4, 1e-7, "near the root at −2.5: product and sum are rounded");
            case HARD_SWISH -> new Bound(4, 3e-7, "near the root at −3: x/6 + ½ is rounded");
            case LINEAR -> new Bound(4, 1e-7, "near the root: product and sum are rounded");
        };
    }

    /** Of the derivative at x, float32. */
    private static Bound gradientBound(Function function) {
        return switch (function) {
            case RELU, LEAKY_RELU, CLIP, ABS, NEGATE, FLOOR, CEIL, ROUND, SIGN, LOGICAL_NOT, IS_NAN, IS_INF, IS_FINITE,
                    LINEAR,
                    HARD_SIGMOID,
                    SQUARE ->
                Bound.ROUNDED;
            case LOG, SQRT, RSQRT, RECIPROCAL, POW, SIN, COS, ERF, SOFTPLUS -> Bound.ELEMENTARY;
            case EXP, ELU -> new Bound(6, 2e-38, "results below the least normal number are 0");
            case SIGMOID, TANH -> new Bound(4, 2e-7, "tails: the result is subtracted from 1");
            case SWISH, MISH, GELU_ERF, GELU_TANH, HARD_SWISH ->
                new Bound(4, 3e-6, "near the roots: terms of about 1 are added");
        };
    }

    /** Ways in which a function of each element is computed. */
    private enum Way {
        ALONE, CHAIN, AFTER_A_SUM, AFTER_A_PRODUCT;

        Tensor run(Kernels kernels, Unary unary, Tensor x) {
            PostOp.Apply applied = new PostOp.Apply(unary.function(), unary.alpha(), unary.beta());
            return switch (this) {
                case ALONE -> KernelRun.run(kernels, unary, x)[0];
                case CHAIN ->
                    KernelRun.run(kernels, new Chain(1, List.of(new Chain.Apply(unary, 0)), List.of(1)), x)[0];
                case AFTER_A_SUM -> KernelRun.run(kernels, new Binary(Binary.Function.ADD, List.of(applied)), x,
                        filled(x, -0.0))[0];
                case AFTER_A_PRODUCT -> KernelRun.run(kernels, new MatMul(false, false, false, List.of(applied)),
                        x.reshape(x.shape().size() / 16, 16), identity(x.dtype()))[0].reshape(x.shape().size());
            };
        }

        private static Tensor identity(DType dtype) {
            double[] values = new double[256];
            for (int i = 0; i < 16; i++) {
                values[17 * i] = 1;
            }
            return Tensor.of(dtype, values, 16, 16);
        }
    }

    /** The largest errors that were seen, and where. */
    private static final class Errors {
        private final Bound bound;
        private double ulps;
        private double ulpsAt;
        private double absolute;
        private double absoluteAt;
        private String beyond = "";

        Errors(Bound bound) {
            this.bound = bound;
        }

        /** An error counts in units in the last place within that bound, else as an absolute one. */
        void add(double x, double exact, double got, double ulp, double largest) {
            if (Double.isNaN(exact)
                    ? Double.isNaN(got)
                    : exact == got || (Math.abs(exact) > largest && got == Math.copySign(1, exact) / 0.0)) {
                return;
            }
            double error = Math
                    .abs(Math.clamp(got, -2 * largest, 2 * largest) - Math.clamp(exact, -2 * largest, 2 * largest));
            if (error / ulp <= bound.ulps()) {
                if (error / ulp > ulps) {
                    ulps = error / ulp;
                    ulpsAt = x;
                }
                return;
            }
            if (!(error <= absolute)) {
                absolute = error;
                absoluteAt = x;
            }
            if (!(error <= bound.absolute()) && beyond.isEmpty()) {
                beyond = String.format(Locale.ROOT,
                        "at %s: %s instead of %s, %.3g ulp, absolute %.3g; allowed are %s ulp or %s", x, got,
                        exact,
                        error / ulp, error, bound.ulps(), bound.absolute());
            }
        }

        String text() {
            String relative = ulps == 0 ? "0" : String.format(Locale.ROOT, "%.2f ulp at %.6g", ulps, ulpsAt);
            return absolute == 0
                    ? relative
                    : relative + String.format(Locale.ROOT, "; %.2g at %.6g", absolute, absoluteAt);
        }
    }

    /**
     * Ordinary numbers, all binades up to 1e30, and those above. None with NaN or infinity, for which whole blocks are
     * computed otherwise.
     */
    private static List<float[]> samples() {
        Random random = new Random(SEED);
        List<Float> wide = new ArrayList<>();
        List<Float> huge = new ArrayList<>();
        for (int exponent = 0; exponent < 255; exponent++) {
            for (int i = 0; i < IN_BINADE; i++) {
                int fraction = i == 0 ? 0 : i == 1 ? 0x7fffff : random.nextInt(1 << 23);
                float x = Float.intBitsToFloat(exponent << 23 | fraction);
                (x < 1e30f ? wide : huge).addAll(List.of(x, -x));
            }
        }
        List<Float> ordinary = new ArrayList<>();
        for (float point : POINTS) {
            float up = point;
            float down = point;
            for (int i = 0; i < AROUND; i++) {
                ordinary.addAll(List.of(up, down));
                up = Math.nextUp(up);
                down = Math.nextDown(down);
            }
            for (int bits = 2; bits < 24; bits++) {
                ordinary.addAll(
                        List.of(point + (float) Math.scalb(1.0, -bits), point - (float) Math.scalb(1.0, -bits)));
            }
        }
        for (int i = 0; i < 12_000; i++) {
            ordinary.add((float) (random.nextDouble() * 210 - 105));
            ordinary.add((float) (random.nextGaussian() * 3));
            ordinary.add(1 + (float) (random.nextGaussian() * 0.01));
        }
        return List.of(array(ordinary), array(wide), array(huge));
    }

    /** Of a length that is a multiple of 16. */
    private static float[] array(List<Float> values) {
        float[] array = new float[values.size() + 15 & -16];
        for (int i = 0; i < array.length; i++) {
            array[i] = values.get(i % values.size());
        }
        return array;
    }

    private static final List<float[]> SAMPLES = samples();
    private static final float[] SPECIAL = {0f, -0f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
            Float.MIN_VALUE,
            -Float.MIN_VALUE, Float.MAX_VALUE, -Float.MAX_VALUE, Float.MIN_NORMAL, -Float.MIN_NORMAL, 1, -1, 0.5f, 2,
            -2};

    private static double ulp(DType dtype, double exact) {
        return switch (dtype) {
            case FLOAT64 -> Math.ulp(exact);
            case BFLOAT16 -> Math.ulp((float) exact) * 0x1p16;
            case FLOAT16 -> Math.max(0x1p-24, Math.scalb(1.0, Math.getExponent(exact) - 10));
            default -> Math.abs(exact) > Float.MAX_VALUE ? Math.ulp(Float.MAX_VALUE) : Math.ulp((float) exact);
        };
    }

    private static double largest(DType dtype) {
        return switch (dtype) {
            case FLOAT64 -> Double.MAX_VALUE / 4;
            case FLOAT16 -> 65504;
            case BFLOAT16 -> 0x1.fep127;
            default -> Float.MAX_VALUE;
        };
    }

    private static Errors forward(Kernels kernels, Way way, Function function, DType dtype, Bound bound) {
        Unary unary = parameters(function);
        Errors errors = new Errors(bound);
        List<float[]> all = new ArrayList<>(SAMPLES);
        if (way == Way.ALONE || way == Way.CHAIN) {
            all.add(SPECIAL);
        } else if (way == Way.AFTER_A_PRODUCT) {
            // A product with a matrix mixes the elements: a huge one would make infinity of its neighbours.
            all = all.subList(0, 1);
        }
        for (float[] sample : all) {
            Tensor x = tensor(dtype, sample);
            double[] given = x.toDoubleArray();
            double[] got = way.run(kernels, unary, x).toDoubleArray();
            for (int i = 0; i < given.length; i++) {
                if (way != Way.ALONE && function == Function.GELU_ERF && given[i] > largest(dtype) / 2) {
                    // With AVX-512 the library's epilogue computes x + x·erf and then halves it: infinity.
                    continue;
                }
                double exact = ExactFunctions.apply(unary, given[i]);
                errors.add(given[i], exact, got[i], ulp(dtype, exact), largest(dtype));
            }
        }
        return errors;
    }

    private static Errors gradient(Kernels kernels, boolean chain, Function function, DType dtype, Bound bound) {
        Unary unary = parameters(function);
        Errors errors = new Errors(bound);
        for (float[] sample : SAMPLES) {
            Tensor x = tensor(dtype, sample);
            double[] given = x.toDoubleArray();
            Tensor dy = filled(x, 1);
            UnaryGrad grad = UnaryGrad.of(unary);
            double[] got = (chain
                    ? KernelRun.run(kernels,
                            new Chain(2, List.of(new Chain.Grad(grad, 0, Chain.ABSENT, 1)), List.of(2)), x, dy)
                    : KernelRun.run(kernels, grad, x, null, dy))[0].toDoubleArray();
            for (int i = 0; i < given.length; i++) {
                if (isAtStep(function, given[i]) || Double.isInfinite(given[i])) {
                    // The largest samples are infinite in float16, where a derivative is infinity times 0.
                    continue;
                }
                double exact = ExactFunctions.derivative(unary, given[i]);
                errors.add(given[i], exact, got[i], ulp(dtype, exact), largest(dtype));
            }
        }
        return errors;
    }

    /** Where rounding decides on which side of a step of the derivative an argument is. */
    private static boolean isAtStep(Function function, double x) {
        double step = switch (function) {
            case HARD_SIGMOID -> 2.5;
            case HARD_SWISH -> 3;
            case SOFTPLUS -> 20;
            default -> Double.NaN;
        };
        return Math.abs(Math.abs(x) - step) < 1e-6 * step;
    }

    private static Tensor filled(Tensor like, double value) {
        double[] values = new double[Math.toIntExact(like.shape().size())];
        Arrays.fill(values, value);
        return Tensor.of(like.dtype(), values);
    }

    private static Tensor tensor(DType dtype, float[] values) {
        double[] wide = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            wide[i] = values[i];
        }
        return Tensor.of(dtype, wide);
    }

    @ParameterizedTest
    @EnumSource(Function.class)
    void float32IsWithinItsBoundByAllWays(Function function) {
        List<String> beyond = new ArrayList<>();
        for (Way way : Way.values()) {
            if (way == Way.ALONE || !function.isTest()) {
                note(beyond, way + " fast", forward(Kernels.system(), way, function, DType.FLOAT32, bound(function)));
                note(beyond, way + " portable",
                        forward(Kernels.portable(), way, function, DType.FLOAT32, bound(function)));
            }
        }
        if (!function.isTest()) {
            Bound bound = gradientBound(function);
            note(beyond, "gradient fast", gradient(Kernels.system(), false, function, DType.FLOAT32, bound));
            note(beyond, "gradient portable", gradient(Kernels.portable(), false, function, DType.FLOAT32, bound));
            note(beyond, "gradient in a chain", gradient(Kernels.system(), true, function, DType.FLOAT32, bound));
        }
        assertTrue(beyond.isEmpty(), () -> function + ", seed " + SEED + ": " + beyond);
    }

    /**
     * Of 16 bits one rounding of the result, and what the library loses in float32; of float64 what Java's functions
     * and their sums lose.
     */
    @ParameterizedTest
    @EnumSource(Function.class)
    void otherTypesAreWithinTheirBounds(Function function) {
        if (function.isTest()) {
            return;
        }
        List<String> beyond = new ArrayList<>();
        for (DType dtype : List.of(DType.BFLOAT16, DType.FLOAT16, DType.FLOAT64)) {
            boolean wide = dtype == DType.FLOAT64;
            Bound bound = wide
                    ? new Bound(4, cancels(function) ? 2e-12 : 1e-300, "")
                    : new Bound(1, Math.max(bound(function).absolute(), LEAST_HALF), "");
            note(beyond, dtype + " fast", forward(Kernels.system(), Way.ALONE, function, dtype, bound));
            note(beyond, dtype + " portable", forward(Kernels.portable(), Way.ALONE, function, dtype, bound));
            Bound ofGradient = wide
                    ? new Bound(8, 1e-12, "")
                    : new Bound(1, Math.max(gradientBound(function).absolute(), LEAST_HALF), "");
            note(beyond, dtype + " gradient fast", gradient(Kernels.system(), false, function, dtype, ofGradient));
            note(beyond, dtype + " gradient portable",
                    gradient(Kernels.portable(), false, function, dtype, ofGradient));
        }
        assertTrue(beyond.isEmpty(), () -> function + ", seed " + SEED + ": " + beyond);
    }

    /** In float64 their terms are added and lose digits where the sum is small. */
    private static boolean cancels(Function function) {
        return switch (function) {
            case GELU_ERF, GELU_TANH, ERF, MISH, LINEAR, HARD_SIGMOID, HARD_SWISH, SOFTPLUS -> true;
            default -> false;
        };
    }

    /**
     * Rows of logits: even ones of one class each, which are the nearer to certain the further down, odd ones of many.
     */
    private static Tensor logits() {
        Random random = new Random(SEED);
        double[] values = new double[64 * 40];
        for (int row = 0; row < 64; row++) {
            for (int j = 0; j < 40; j++) {
                values[row * 40 + j] = random.nextGaussian() * 2 + (row % 2 == 0 && j == row % 40 ? 0.4 * row : 0);
            }
        }
        return Tensor.of(DType.FLOAT32, values, 64, 40);
    }

    /**
     * Absolutely: a small probability is off by more units, the further its logit is below the largest, and the
     * logarithm by as much as the library's logarithm of the sum.
     */
    @Test
    void softmaxItsLogarithmAndCrossEntropy() {
        Tensor x = logits();
        double[] given = x.toDoubleArray();
        long[] labels = new long[64];
        for (int row = 0; row < 64; row++) {
            labels[row] = row % 40;
        }
        for (Kernels kernels : List.of(Kernels.system(), Kernels.portable())) {
            double[] plain = KernelRun.run(kernels, new Softmax(-1, false), x)[0].toDoubleArray();
            double[] logarithm = KernelRun.run(kernels, new Softmax(-1, true), x)[0].toDoubleArray();
            double[] losses = KernelRun.run(kernels, new CrossEntropy(-1, false, -100), x, Tensor.of(labels, 64, 1))[1]
                    .toDoubleArray();
            Errors ofPlain = new Errors(new Bound(4, 3e-7, ""));
            Errors ofLogarithm = new Errors(new Bound(1, 5e-6, ""));
            Errors ofLosses = new Errors(new Bound(4, 3e-7, ""));
            for (int row = 0; row < 64; row++) {
                double most = Double.NEGATIVE_INFINITY;
                for (int j = 0; j < 40; j++) {
                    most = Math.max(most, given[row * 40 + j]);
                }
                double sum = 0;
                for (int j = 0; j < 40; j++) {
                    sum += Math.exp(given[row * 40 + j] - most);
                }
                for (int j = 0; j < 40; j++) {
                    int i = row * 40 + j;
                    double exact = given[i] - most - Math.log(sum);
                    ofLogarithm.add(i, exact, logarithm[i], ulp(DType.FLOAT32, exact), Float.MAX_VALUE);
                    ofPlain.add(i, Math.exp(exact), plain[i], ulp(DType.FLOAT32, Math.exp(exact)), Float.MAX_VALUE);
                    if (j == labels[row]) {
                        ofLosses.add(i, -exact, losses[row], ulp(DType.FLOAT32, exact), Float.MAX_VALUE);
                    }
                }
            }
            List<String> beyond = new ArrayList<>();
            note(beyond, "softmax", ofPlain);
            note(beyond, "log softmax", ofLogarithm);
            note(beyond, "cross entropy", ofLosses);
            assertTrue(beyond.isEmpty(), () -> "seed " + SEED + ": " + beyond);
        }
    }

    private static String bounds(Bound bound) {
        String ulps = String.format(Locale.ROOT, "%.0f ulp", bound.ulps());
        return bound.absolute() == 0
                ? ulps
                : ulps + String.format(Locale.ROOT, " or %.2g (%s)", bound.absolute(), bound.reason());
    }

    /** The columns that do not depend on the processor. */
    private static String row(Function function, String forward, String gradient) {
        boolean test = function.isTest();
        return "| `" + function.name().toLowerCase(Locale.ROOT) + "` | " + bounds(bound(function)) + " |" + forward
                + "| "
                + (test ? "–" : bounds(gradientBound(function))) + " |" + gradient + "|";
    }

    @Test
    void thePageListsTheBounds() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        Path page = (Files.exists(root.resolve("docs")) ? root.resolve("docs") : root.resolve("../docs"))
                .resolve("operations.md");
        String text = Files.readString(page);
        int begin = text.indexOf(BEGIN);
        if (Boolean.getBoolean("seriatim.write-accuracy-table")) {
            StringBuilder table = new StringBuilder(INTRODUCTION);
            for (Function function : Function.values()) {
                boolean test = function.isTest();
                Bound gradient = gradientBound(function);
                String forward = " "
                        + forward(Kernels.system(), Way.ALONE, function, DType.FLOAT32, bound(function)).text() + " | "
                        + forward(Kernels.portable(), Way.ALONE, function, DType.FLOAT32, bound(function)).text() + " ";
                String back = test
                        ? " – | – "
                        : " " + gradient(Kernels.system(), false, function, DType.FLOAT32, gradient).text() + " | "
                                + gradient(Kernels.portable(), false, function, DType.FLOAT32, gradient).text() + " ";
                table.append(row(function, forward, back)).append('\n');
            }
            text = text.substring(0, begin < 0 ? text.length() : begin) + (begin < 0 ? "\n" : "") + BEGIN + table;
            Files.writeString(page, text);
            begin = text.indexOf(BEGIN);
        }
        assertTrue(begin >= 0, "docs/operations.md has no section on accuracy");
        List<String> listed = text.substring(begin).lines().filter(line -> line.startsWith("| `"))
                .map(AccuracyTest::withoutErrors)
                .toList();
        List<String> expected = Arrays.stream(Function.values()).map(function -> row(function, "", "")).toList();
        assertTrue(text.substring(begin + BEGIN.length()).startsWith(INTRODUCTION), HINT);
        assertEquals(expected, listed, HINT);
    }

    private static String withoutErrors(String row) {
        String[] cells = row.split("\\|", -1);
        return "|" + cells[1] + "|" + cells[2] + "||" + cells[5] + "||";
    }

    private static void note(List<String> beyond, String what, Errors errors) {
        if (!errors.beyond.isEmpty()) {
            beyond.add(what + " " + errors.beyond);
        }
    }
}
