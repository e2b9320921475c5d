package io.seriatim.executor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;

/**
 * Reference implementations of elementwise operations and their gradients in double precision, independent of the
 * operations, and the bounds of the error of float32 results. Functions that Java does not provide, and that operations
 * also compute in double precision, are computed here by different methods.
 */
final class OperationReferences {
    /** A function of the corresponding elements of all inputs. */
    @FunctionalInterface
    interface Function {
        double of(double[] in);
    }

    /** A bound relative to the exact result, or to the largest term if the result is a sum. */
    record Bound(double ulps, double absolute, String reason) {
    }

    /**
     * The reference of an operation.
     *
     * @param function
     *            the operation
     * @param gradients
     *            the gradient by each input of a floating-point type; empty if there are none
     * @param bound
     *            the bound for the result
     * @param gradientBound
     *            the bound for gradients
     * @param terms
     *            the largest term of the result; 0 if the bound is relative to the result
     */
    record Entry(Function function, List<Function> gradients, Bound bound, Bound gradientBound, Function terms) {
        Entry within(double ulps, double absolute, String reason) {
            return new Entry(function, gradients, new Bound(ulps, absolute, reason), gradientBound, terms);
        }

        Entry slopeWithin(double ulps, double absolute, String reason) {
            return new Entry(function, gradients, bound, new Bound(ulps, absolute, reason), terms);
        }

        Entry ofTerms(Function largest, String reason) {
            return new Entry(function, gradients, new Bound(bound.ulps(), 0, reason), gradientBound, largest);
        }
    }

    private static final Bound ELEMENTARY = new Bound(4, 0, "");
    private static final double ROOT_HALF = Math.sqrt(0.5);
    private static final double EULER = 0.5772156649015329;
    private static final String TAIL = "tails: the result is subtracted from 1";
    private static final String LEAST = "results below the least normal number are 0";
    private static final String DOUBLE = "near the roots: terms of float64 are added";
    private static final String CANCEL = "large arguments: terms of float64 that are nearly equal are subtracted";
    private static final String ROOTS = "near the roots: terms of about 1 are added";

    /** Riemann's zeta function of integers from 2. */
    private static final double[] ZETA = IntStream.rangeClosed(0, 60).mapToDouble(k -> k < 2 ? 0 : hurwitz(k, 1))
            .toArray();
    private static final Map<String, Entry> ALL = new TreeMap<>();

    private OperationReferences() {
    }

    static Map<String, Entry> all() {
        return ALL;
    }

    private static Entry add(String type, Entry entry) {
        ALL.put(type, entry);
        return entry;
    }

    private static void one(String type, DoubleUnaryOperator function, DoubleUnaryOperator slope) {
        add(type, unary(function, slope));
    }

    private static Entry unary(DoubleUnaryOperator function, DoubleUnaryOperator slope) {
        return new Entry(in -> function.applyAsDouble(in[0]), List.of(in -> slope.applyAsDouble(in[0])), ELEMENTARY,
                ELEMENTARY,
                _ -> 0);
    }

    private static Entry binary(DoubleBinaryOperator function, DoubleBinaryOperator... slopes) {
        List<Function> gradients = new ArrayList<>();
        for (DoubleBinaryOperator slope : slopes) {
            gradients.add(in -> slope.applyAsDouble(in[0], in[1]));
        }
        return new Entry(in -> function.applyAsDouble(in[0], in[1]), gradients, ELEMENTARY, ELEMENTARY, _ -> 0);
    }

    static {
        steps();
        powers();
        trigonometric();
        logarithms();
        sigmoids();
        rectified();
        special();
        pairs();
    }

    private static void steps() {
        add("scale", unary(x -> 3 * x + 0.7f, _ -> 3).within(4, 1e-7, "near the root: product and sum are rounded"));
        one("floor", Math::floor, _ -> 0);
        one("ceil", Math::ceil, _ -> 0);
        one("trunc", x -> Math.copySign(Math.floor(Math.abs(x)), x), _ -> 0);
        one("round", x -> Math.abs(x) > 1e9 ? x : Math.copySign(Math.floor(Math.abs(x) + 0.5), x), _ -> 0);
        one("sign", x -> x == 0 ? 0 : Math.signum(x), _ -> 0);
        one("angle", x -> x < 0 ? Math.PI : 0, _ -> 0);
        one("abs", Math::abs, Math::signum);
    }

    private static void powers() {
        one("sqrt", Math::sqrt, x -> 0.5 / Math.sqrt(x));
        one("rsqrt", x -> 1 / Math.sqrt(x), x -> -0.5 / (x * Math.sqrt(x)));
        one("square", x -> x * x, x -> 2 * x);
        one("reciprocal", x -> 1 / x, x -> -1 / (x * x));
        one("pow", x -> Math.pow(x, 2.5), x -> 2.5 * Math.pow(x, 1.5));
        one("exp", Math::exp, Math::exp);
        add("expm1", unary(Math::expm1, Math::exp).slopeWithin(4, 1.5e-7, "negative tail: 1 is added to the result"));
    }

    private static void trigonometric() {
        one("sin", Math::sin, Math::cos);
        one("cos", Math::cos, x -> -Math.sin(x));
        one("tan", Math::tan, x -> 1 + Math.tan(x) * Math.tan(x));
        one("asin", Math::asin, x -> 1 / Math.sqrt((1 - x) * (1 + x)));
        one("acos", Math::acos, x -> -1 / Math.sqrt((1 - x) * (1 + x)));
        one("atan", Math::atan, x -> 1 / (1 + x * x));
        one("sinh", Math::sinh, Math::cosh);
        one("cosh", Math::cosh, Math::sinh);
        one("asinh",
                x -> Math.abs(x) < 1e-4
                        ? x - x * x * x / 6
                        : Math.signum(x) * Math.log(Math.abs(x) + Math.sqrt(1 + x * x)),
                x -> 1 / Math.sqrt(1 + x * x));
        one("acosh", x -> x < 1 ? Double.NaN : Math.log(x + Math.sqrt((x - 1) * (x + 1))),
                x -> 1 / Math.sqrt((x - 1) * (x + 1)));
        one("atanh", x -> 0.5 * Math.log1p(2 * x / (1 - x)), x -> 1 / ((1 - x) * (1 + x)));
    }

    private static void logarithms() {
        one("log", Math::log, x -> 1 / x);
        one("log2", x -> Math.log(x) * 1.4426950408889634, x -> 1.4426950408889634 / x);
        one("log10", Math::log10, x -> 0.4342944819032518 / x);
        one("log1p", Math::log1p, x -> 1 / (1 + x));
        float eps = 1e-6f;
        one("logit", x -> {
            double inside = x < eps ? eps : x > 1 - eps ? 1 - eps : x;
            return Math.log(inside) - Math.log1p(-inside);
        }, x -> x < eps || x > 1 - eps ? 0 : 1 / x + 1 / (1 - x));
    }

    private static void sigmoids() {
        add("sigmoid",
                unary(OperationReferences::sigmoid, x -> sigmoid(x) * sigmoid(-x)).within(4, 2e-38, LEAST).slopeWithin(
                        4, 2e-7,
                        TAIL));
        add("tanh", unary(Math::tanh, x -> 1 / (Math.cosh(x) * Math.cosh(x))).slopeWithin(4, 2e-7, TAIL));
        double a = 0.67f;
        double b = 1.7159f;
        add("stanh", unary(x -> b * Math.tanh(a * x), x -> a * b / (Math.cosh(a * x) * Math.cosh(a * x))).slopeWithin(4,
                2e-7, TAIL));
        add("tanh_shrink",
                unary(x -> Math.abs(x) < 1e-3 ? x * x * x / 3 : x - Math.tanh(x), x -> Math.tanh(x) * Math.tanh(x))
                        .within(4,
                                1.5e-7, "near the root at 0: tanh x is subtracted"));
        add("softsign",
                unary(x -> x / (1 + Math.abs(x)), x -> 1 / ((1 + Math.abs(x)) * (1 + Math.abs(x)))).slopeWithin(4,
                        4e-39,
                        "the square of a large argument is infinite"));
        add("logsigmoid", unary(x -> -softplus(-x), x -> sigmoid(-x)).slopeWithin(4, 2e-38, LEAST));
        add("softplus", unary(OperationReferences::softplus, x -> x > 20 ? 1 : sigmoid(x)));
        add("soft_relu",
                unary(x -> Math.log1p(Math.exp(clip(x, -40, 40))), x -> x >= 40 ? 0 : sigmoid(Math.max(x, -40)))
                        .within(4, 2e-7, "negative tail: 1 and eˣ are added").slopeWithin(4, 3e-7, TAIL));
        String tail = "below −40: the library's exponential and its quotient are off by more together";
        for (String type : List.of("swish", "silu")) {
            add(type, unary(x -> x * sigmoid(x), x -> sigmoid(x) + x * sigmoid(x) * sigmoid(-x)).within(4, 1e-22, tail)
                    .slopeWithin(4, 3e-6, ROOTS));
        }
        add("gelu", unary(x -> 0.5 * x * erfc(-x * ROOT_HALF),
                x -> 0.5 * erfc(-x * ROOT_HALF) + x * Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI))
                .within(4, 1.3e-6, "negative tail: 1 and a value near −1 are added").slopeWithin(4, 3e-6, ROOTS));
        add("mish", unary(x -> x * tanhOfSoftplus(x), OperationReferences::mishSlope).within(4, 1e-6,
                "negative tail: the library squares 1 + eˣ and subtracts 1").slopeWithin(4, 3e-6, ROOTS));
        add("erf", unary(OperationReferences::erf, x -> 2 / Math.sqrt(Math.PI) * Math.exp(-x * x)));
    }

    private static void rectified() {
        one("relu", x -> x < 0 ? 0 : x, x -> x > 0 ? 1 : 0);
        one("relu6", x -> clip(x, 0, 6), x -> x > 0 && x < 6 ? 1 : 0);
        one("brelu", x -> clip(x, 0, 24), x -> x > 0 && x < 24 ? 1 : 0);
        one("clip", x -> clip(x, -1, 1), x -> x > -1 && x < 1 ? 1 : 0);
        one("leaky_relu", x -> x < 0 ? 0.02f * x : x, x -> x < 0 ? 0.02f : 1);
        add("hard_sigmoid", unary(x -> clip(0.2f * x + 0.5, 0, 1), x -> Math.abs(x) < 2.5 ? 0.2f : 0).within(4, 1e-7,
                "near the root at −2.5: product and sum are rounded"));
        add("hard_swish",
                unary(x -> x * clip(x + 3, 0, 6) / 6, x -> x <= -3 ? 0 : x >= 3 ? 1 : x / 3 + 0.5).within(4, 3e-7,
                        "near the root at −3: x/6 + ½ is rounded").slopeWithin(4, 3e-6, ROOTS));
        one("hard_shrink", x -> Math.abs(x) <= 0.5 ? 0 : x, x -> Math.abs(x) > 0.5 ? 1 : 0);
        one("softshrink", x -> x > 0.5 ? x - 0.5 : x < -0.5 ? x + 0.5 : Double.isNaN(x) ? x : 0,
                x -> Math.abs(x) > 0.5 ? 1 : 0);
        one("thresholded_relu", x -> x <= 1 ? 0 : x, x -> x > 1 ? 1 : 0);
        for (String type : List.of("elu", "celu")) {
            add(type, unary(x -> x > 0 ? x : Math.expm1(x), x -> x > 0 ? 1 : Math.exp(x)).within(4, 1.5e-7,
                    "near the root at 0: the library subtracts 1 from eˣ").slopeWithin(6, 2e-38, LEAST));
        }
        double scale = 1.050701f;
        double alpha = 1.6732632f;
        add("selu",
                unary(x -> scale * (x > 0 ? x : alpha * Math.expm1(x)), x -> scale * (x > 0 ? 1 : alpha * Math.exp(x)))
                        .within(4,
                                3e-7, "near the root at 0: the library subtracts 1 from eˣ")
                        .slopeWithin(4, 4e-7,
                                "negative tail: the result and a number are added"));
    }

    private static void special() {
        add("lgamma",
                unary(OperationReferences::logGamma, OperationReferences::digamma).within(4, 1e-13, DOUBLE).slopeWithin(
                        4, 1e-13,
                        DOUBLE));
        add("digamma", unary(OperationReferences::digamma, x -> hurwitz(2, x)).within(4, 1e-13, DOUBLE));
        add("polygamma", unary(x -> hurwitz(2, x), x -> -2 * hurwitz(3, x)).slopeWithin(4, 1e-13, DOUBLE));
        add("erfinv", unary(OperationReferences::erfInverse,
                x -> Math.sqrt(Math.PI) / 2 * Math.exp(erfInverse(x) * erfInverse(x))).slopeWithin(16, 0,
                        "the exponential of the square of the rounded result"));
        one("i0", x -> bessel(0, x, 0), x -> bessel(1, x, 0));
        one("i1", x -> bessel(1, x, 0), x -> (bessel(0, x, 0) + bessel(2, x, 0)) / 2);
        add("i0e",
                unary(x -> bessel(0, x, Math.abs(x)),
                        x -> bessel(1, x, Math.abs(x)) - Math.signum(x) * bessel(0, x, Math.abs(x)))
                        .slopeWithin(4, 1e-20, CANCEL));
        add("i1e",
                unary(x -> bessel(1, x, Math.abs(x)), x -> (bessel(0, x, Math.abs(x)) + bessel(2, x, Math.abs(x))) / 2
                        - Math.signum(x) * bessel(1, x, Math.abs(x))).slopeWithin(4, 1e-20, CANCEL));
    }

    private static void pairs() {
        add("elementwise_add", binary(Double::sum, (_, _) -> 1, (_, _) -> 1));
        add("grad_add", binary(Double::sum));
        add("elementwise_sub", binary((x, y) -> x - y, (_, _) -> 1, (_, _) -> -1));
        add("minus", binary((x, y) -> x - y, (_, _) -> 1, (_, _) -> -1));
        add("elementwise_mul", binary((x, y) -> x * y, (_, y) -> y, (x, _) -> x));
        add("elementwise_div", binary((x, y) -> x / y, (_, y) -> 1 / y, (x, y) -> -x / y / y));
        add("elementwise_max", binary(Math::max, (x, y) -> x > y ? 1 : 0, (x, y) -> x > y ? 0 : 1));
        add("elementwise_min", binary(Math::min, (x, y) -> x < y ? 1 : 0, (x, y) -> x < y ? 0 : 1));
        add("elementwise_fmax", binary(Math::max, (x, y) -> x >= y ? 1 : 0, (x, y) -> x >= y ? 0 : 1));
        add("elementwise_fmin", binary(Math::min, (x, y) -> x <= y ? 1 : 0, (x, y) -> x <= y ? 0 : 1));
        add("elementwise_pow", binary(Math::pow, (x, y) -> y == 0 ? 0 : y * Math.pow(x, y - 1),
                (x, y) -> x > 0 ? Math.pow(x, y) * Math.log(x) : Math.pow(x, y) * 0));
        add("elementwise_mod", binary(OperationReferences::modulo));
        add("elementwise_floordiv", binary((x, y) -> {
            if (y == 0) {
                return x / y;
            }
            double quotient = (x - modulo(x, y)) / y;
            return Math.abs(quotient) < 0x1p52 ? Math.rint(quotient) : quotient;
        }));
        add("elementwise_heaviside",
                binary((x, y) -> x > 0 ? 1 : x < 0 ? 0 : y, (_, _) -> 0, (x, _) -> x == 0 ? 1 : 0));
        add("atan2", binary(Math::atan2, (y, x) -> x / (x * x + y * y), (y, x) -> -y / (x * x + y * y)));
        add("nextafter", binary((x, y) -> Math.nextAfter((float) x, y)));
        add("lerp", new Entry(in -> in[0] + in[2] * (in[1] - in[0]), List.of(in -> 1 - in[2], in -> in[2]), ELEMENTARY,
                ELEMENTARY,
                _ -> 0)
                .ofTerms(in -> Math.max(Math.abs(in[0]), Math.abs(in[2]) * Math.max(Math.abs(in[0]), Math.abs(in[1]))),
                        "of the larger of its terms"));
    }

    /** Returns whether rounding decides on which side of a step of the gradient an argument is. */
    static boolean isAtStep(String type, double x) {
        double step = switch (type) {
            case "hard_swish" -> 3;
            case "hard_sigmoid" -> 2.5;
            case "soft_relu" -> 40;
            default -> Double.NaN;
        };
        return Math.abs(Math.abs(x) - step) < 1e-6 * step;
    }

    private static double modulo(double x, double y) {
        double rest = x % y;
        return rest != 0 && rest < 0 != y < 0 ? rest + y : rest;
    }

    private static double clip(double x, double least, double most) {
        return x < least ? least : x > most ? most : x;
    }

    private static double sigmoid(double x) {
        return x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x));
    }

    private static double softplus(double x) {
        return x > 20 ? x : Math.log1p(Math.exp(x));
    }

    private static double tanhOfSoftplus(double x) {
        if (x > 20) {
            return 1;
        }
        double e = Math.exp(x);
        return e * (e + 2) / (e * (e + 2) + 2);
    }

    private static double mishSlope(double x) {
        if (x > 300) {
            return 1;
        }
        double e = Math.exp(x);
        double divisor = e * (e + 2) + 2;
        return e * (e + 2) / divisor + x * sigmoid(x) * 4 * (1 + e) * (1 + e) / divisor / divisor;
    }

    /** Computes erf by a series whose terms have the same sign. */
    private static double erf(double x) {
        if (Math.abs(x) > 2.5) {
            return Math.signum(x) * (1 - erfc(Math.abs(x)));
        }
        double term = 2 / Math.sqrt(Math.PI) * x * Math.exp(-x * x);
        double sum = term;
        for (int n = 1; Math.abs(term) > Math.abs(sum) * 1e-18; n++) {
            term *= 2 * x * x / (2 * n + 1);
            sum += term;
        }
        return sum;
    }

    /** Computes erfc by its continued fraction, evaluated backwards. */
    private static double erfc(double x) {
        if (x < 2.5) {
            return x < -2.5 ? 2 - erfc(-x) : 1 - erf(x);
        }
        double fraction = x;
        for (int k = 150; k > 0; k--) {
            fraction = x + k / 2.0 / fraction;
        }
        return Math.exp(-x * x) / Math.sqrt(Math.PI) / fraction;
    }

    /** Computes the inverse of erf by bisection: of erf up to 0.5, of erfc above. */
    private static double erfInverse(double x) {
        double size = Math.abs(x);
        if (!(size < 1)) {
            return size == 1 ? x * Double.POSITIVE_INFINITY : Double.NaN;
        }
        if (size < 1e-4) {
            double y = x * Math.sqrt(Math.PI) / 2;
            return y + y * y * y / 3;
        }
        double low = 0;
        double high = 7;
        for (int i = 0; i < 60; i++) {
            double middle = (low + high) / 2;
            boolean below = size < 0.5 ? erf(middle) < size : erfc(middle) > 1 - size;
            low = below ? middle : low;
            high = below ? high : middle;
        }
        return Math.copySign(low, x);
    }

    /**
     * Computes the logarithm of the gamma function: by the Taylor series near its roots 1 and 2, by recurrence and
     * Stirling's series elsewhere, and by reflection below 0.
     */
    private static double logGamma(double x) {
        if (x == Math.floor(x) && x <= 0) {
            return Double.POSITIVE_INFINITY;
        }
        if (x < -0.5) {
            return Math.log(Math.PI / Math.abs(x * sinOfPi(x))) - logGamma(-x);
        }
        if (x <= 0.5) {
            return logGamma(1 + x) - Math.log(Math.abs(x));
        }
        if (x < 1.5) {
            return nearOne(x - 1);
        }
        if (x < 2.5) {
            return nearOne(x - 2) + Math.log1p(x - 2);
        }
        double logs = 0;
        double at = x;
        for (; at < 20; at++) {
            logs += Math.log(at);
        }
        double inverse = 1 / (at * at);
        return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI)
                + (1 / 12.0 - inverse * (1 / 360.0 - inverse * (1 / 1260.0 - inverse / 1680))) / at - logs;
    }

    /** The logarithm of the gamma function of 1 + z: −γ z + Σ ζ(k) (−z)ᵏ / k. */
    private static double nearOne(double z) {
        double sum = 0;
        for (int k = 60; k > 1; k--) {
            sum += ZETA[k] * Math.pow(-z, k) / k;
        }
        return sum - EULER * z;
    }

    /** Computes sin(π x) from the distance to the nearest integer, which is exact. */
    private static double sinOfPi(double x) {
        double fraction = x - Math.rint(x);
        return (Math.rint(x) % 2 == 0 ? 1 : -1) * Math.sin(Math.PI * fraction);
    }

    private static double digamma(double x) {
        if (x == Math.floor(x) && x <= 0) {
            return Double.NaN;
        }
        if (x < 0) {
            double fraction = x - Math.rint(x);
            return digamma(-x) - 1 / x - Math.PI / Math.tan(Math.PI * fraction);
        }
        double sum = 0;
        double at = x;
        for (; at < 40; at++) {
            sum -= 1 / at;
        }
        double inverse = 1 / (at * at);
        return sum + Math.log(at) - 1 / (2 * at)
                - inverse * (1 / 12.0 - inverse * (1 / 120.0 - inverse * (1 / 252.0 - inverse / 240)));
    }

    /**
     * Computes the Hurwitz zeta function, the sum of (x + k)^−s for all k from 0; for x below 0, the terms of s = 2 and
     * 3 below 0 are added in closed form.
     */
    private static double hurwitz(int s, double x) {
        if (x == Math.floor(x) && x <= 0) {
            return Double.POSITIVE_INFINITY;
        }
        if (Double.isInfinite(x)) {
            return 0;
        }
        if (x < 0) {
            double sine = sinOfPi(x);
            double squared = Math.PI * Math.PI / (sine * sine);
            double both = s == 2 ? squared : squared * Math.PI / Math.tan(Math.PI * (x - Math.rint(x)));
            return both - (s == 2 ? 1 : -1) * hurwitz(s, 1 - x);
        }
        double sum = 0;
        double at = x;
        for (; at < 40; at++) {
            sum += Math.pow(at, -s);
        }
        double inverse = 1 / (at * at);
        double series = at / (s - 1) + 0.5 + s / (12 * at) - s * (s + 1.0) * (s + 2) / 720 / at * inverse
                + s * (s + 1.0) * (s + 2) * (s + 3) * (s + 4) / 30240 / at * inverse * inverse;
        return sum + series * Math.pow(at, -s);
    }

    /**
     * Computes a modified Bessel function times e^−shift by an integral over half a period, for which the trapezoidal
     * rule converges exponentially.
     */
    private static double bessel(int order, double x, double shift) {
        double size = Math.abs(x);
        if (Double.isInfinite(x)) {
            return shift > 0 ? 0 : order == 1 ? x : size;
        }
        double sign = order % 2 == 1 ? Math.signum(x) : 1;
        if (size - shift > 709) {
            return sign * Double.POSITIVE_INFINITY;
        }
        if (size > 2000) {
            double mu = 4.0 * order * order;
            double series = 1 - (mu - 1) / (8 * size) * (1 - (mu - 9) / (16 * size));
            return sign * Math.exp(size - shift) / Math.sqrt(2 * Math.PI * size) * series;
        }
        if (size < 1) {
            double term = Math.pow(size / 2, order) / Math.max(1, order);
            double sum = 0;
            for (int k = 1; k < 20; k++) {
                sum += term;
                term *= size * size / 4 / k / (k + order);
            }
            return sign * sum * Math.exp(-shift);
        }
        int points = 40 + (int) (5 * Math.sqrt(size));
        double sum = (Math.exp(size - shift) + (order % 2 == 1 ? -1 : 1) * Math.exp(-size - shift)) / 2;
        for (int k = 1; k < points; k++) {
            double angle = Math.PI * k / points;
            sum += Math.exp(size * Math.cos(angle) - shift) * Math.cos(order * angle);
        }
        return sign * sum / points;
    }
}
