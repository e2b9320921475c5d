package io.seriatim.graph.ops.elementwise;

import static io.seriatim.tensor.computation.Unary.Function.COS;
import static io.seriatim.tensor.computation.Unary.Function.EXP;
import static io.seriatim.tensor.computation.Unary.Function.NEGATE;
import static io.seriatim.tensor.computation.Unary.Function.RSQRT;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.ComplexNumber;
import io.seriatim.tensor.computation.ComplexPart;
import io.seriatim.tensor.computation.Conjugate;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.numerics.Bessel;
import io.seriatim.tensor.numerics.ComplexElementary;
import io.seriatim.tensor.numerics.Gamma;
import io.seriatim.tensor.numerics.NormalQuantile;
import java.util.List;
import java.util.Objects;
import java.util.function.BinaryOperator;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Elementary functions that networks seldom use: each element is computed on its own in double precision. */
public final class ElementaryOperations {
    private static final double LN2 = Math.log(2);
    private static final double LN10 = Math.log(10);
    /** Beside the squares of larger numbers, 1 does not count. */
    private static final double SQUARED = 0x1p28;

    private ElementaryOperations() {
    }

    public static void register(Operations registry) {
        trigonometric(registry);
        hyperbolic(registry);
        logarithms(registry);
        define(registry, "lgamma", Gamma::logarithm, Gamma::digamma,
                x -> Slopes.polygamma(x, 0));
        digamma(registry);
        Operation.define("erfinv").in("X").out("Out").infer(ElementaryOperations::floating)
                .lower(l -> map(l, "X", "Out", NormalQuantile::errorInverse,
                        Slopes::slopeOfErrorInverse))
                .grad("erfinv_grad(Out, Out@GRAD) -> X@GRAD",
                        l -> combine(l, "Out", "Out@GRAD", "X@GRAD",
                                (y, dy) -> dy * Math.sqrt(Math.PI) / 2 * Math.exp(y * y),
                                (y, dy) -> dy.times(Slopes.ofErrorInverse(y))))
                .register(registry);
        bessel(registry);
        polygamma(registry);
        neighbour(registry);
        logit(registry);
        angle(registry);
        trunc(registry);
    }

    /** At zeros of both signs, PaddlePaddle 3 has the infinities of both sides, PaddlePaddle 2 no number. */
    private static void digamma(Operations registry) {
        UnaryOperator<Term> slope = x -> Slopes.polygamma(x, 1);
        Operation.define("digamma").in("X").out("Out").attr("infinite_at_zero", false)
                .infer(ElementaryOperations::floating)
                .lower(l -> map(l, "X", "Out", l.attrs().getBool("infinite_at_zero")
                        ? x -> x == 0 ? -1 / x : Gamma.digamma(x)
                        : Gamma::digamma, slope))
                .grad("digamma_grad(X, Out@GRAD) -> X@GRAD", l -> combine(l, "X", "Out@GRAD", "X@GRAD",
                        (x, dy) -> dy * Gamma.trigamma(x), (x, dy) -> dy.times(slope.apply(x))))
                .register(registry);
    }

    private static void trigonometric(Operations registry) {
        define(registry, "acos", ComplexElementary.ACOS, Math::acos, x -> -1 / Math.sqrt(1 - x * x),
                x -> Slopes.ofSine(x).unary(NEGATE));
        define(registry, "asin", ComplexElementary.ASIN, Math::asin, x -> 1 / Math.sqrt(1 - x * x),
                Slopes::ofSine);
        define(registry, "atan", ComplexElementary.ATAN, Math::atan, x -> 1 / (1 + x * x),
                x -> x.number(1).over(Slopes.square(x).linear(1, 1)));
        define(registry, "tan", ComplexElementary.TAN, Math::tan, x -> 1 / (Math.cos(x) * Math.cos(x)),
                x -> x.number(1).over(Slopes.square(x.unary(COS))));
    }

    private static void hyperbolic(Operations registry) {
        define(registry, "sinh", ComplexElementary.SINH, Math::sinh, Math::cosh,
                x -> x.unary(EXP).plus(x.unary(NEGATE).unary(EXP)).linear(0.5, 0));
        define(registry, "cosh", ComplexElementary.COSH, Math::cosh, Math::sinh,
                x -> x.unary(EXP).minus(x.unary(NEGATE).unary(EXP)).linear(0.5, 0));
        define(registry, "asinh", ComplexElementary.ASINH, ComplexElementary::asinh,
                x -> Math.abs(x) > SQUARED ? 1 / Math.abs(x) : 1 / Math.sqrt(1 + x * x),
                x -> Slopes.square(x).linear(1, 1).unary(RSQRT));
        define(registry, "acosh", ComplexElementary.ACOSH, ElementaryOperations::acosh,
                x -> Math.abs(x) > SQUARED ? 1 / Math.abs(x) : 1 / Math.sqrt((x - 1) * (x + 1)),
                x -> x.linear(1, -1).times(x.linear(1, 1)).unary(RSQRT));
        define(registry, "atanh", ComplexElementary.ATANH, x -> (Math.log1p(x) - Math.log1p(-x)) / 2,
                x -> 1 / (1 - x * x),
                x -> x.number(1).over(Slopes.square(x).linear(-1, 1)));
    }

    private static double acosh(double x) {
        if (x < 1) {
            return Double.NaN;
        }
        return x > SQUARED ? Math.log(x) + LN2 : Math.log1p(x - 1 + Math.sqrt((x - 1) * (x + 1)));
    }

    private static void logarithms(Operations registry) {
        define(registry, "log1p", Math::log1p, x -> 1 / (1 + x),
                x -> x.number(1).over(x.linear(1, 1)));
        define(registry, "log2", x -> Math.log(x) / LN2, x -> 1 / (x * LN2),
                x -> x.number(1 / LN2).over(x));
        define(registry, "log10", Math::log10, x -> 1 / (x * LN10),
                x -> x.number(1 / LN10).over(x));
        Operation.define("expm1").in("X").out("Out").infer(ElementaryOperations::numbers).lower(l -> {
            if (!ComplexFunctions.map(l, ComplexElementary.EXPM1)) {
                map(l, "X", "Out", Math::expm1, x -> x.unary(EXP));
            }
        }).grad("expm1_grad(Out, Out@GRAD) -> X@GRAD", l -> {
            if (!ComplexFunctions.combine(l, "Out", (re, im, to) -> {
                to[0] = re + 1;
                to[1] = im;
            })) {
                combine(l, "Out", "Out@GRAD", "X@GRAD", (y, dy) -> dy * (y + 1), (y, dy) -> dy.times(y.linear(1, 1)));
            }
        }).register(registry);
    }

    private static void bessel(Operations registry) {
        bessel(registry, "i0", "i0_grad(x, out@GRAD) -> x@GRAD", Bessel::i0, (x, dy) -> dy * Bessel.i1(x),
                Slopes::i1);
        bessel(registry, "i1", "i1_grad(x, out, out@GRAD) -> x@GRAD", Bessel::i1,
                (x, dy) -> dy * Bessel.i1Slope(x), Slopes::ofI1);
        bessel(registry, "i0e", "i0e_grad(x, out, out@GRAD) -> x@GRAD", Bessel::i0Scaled,
                (x, dy) -> dy * (Bessel.i1Scaled(x) - Math.signum(x) * Bessel.i0Scaled(x)), Slopes::ofI0Scaled);
        bessel(registry, "i1e", "i1e_grad(x, out, out@GRAD) -> x@GRAD", Bessel::i1Scaled,
                (x, dy) -> dy * (x == 0 ? 0.5 : Bessel.i0Scaled(x) - Bessel.i1Scaled(x) * (Math.signum(x) + 1 / x)),
                Slopes::ofI1Scaled);
    }

    /** These and the next have slots in small letters. */
    private static void bessel(Operations registry, String type, String gradient, DoubleUnaryOperator function,
            DoubleBinaryOperator slope, UnaryOperator<Term> steps) {
        Operation.define(type).in("x").out("out").infer(inference -> floating(inference, "x", "out"))
                .lower(l -> map(l, "x", "out", function, steps))
                .grad(gradient, l -> combine(l, "x", "out@GRAD", "x@GRAD", slope,
                        (x, dy) -> dy.times(steps.apply(x))))
                .register(registry);
    }

    private static void polygamma(Operations registry) {
        Operation.define("polygamma").in("x").out("out").required("n", Attribute.Int.class).infer(inference -> {
            int n = inference.attrs().getInt("n");
            inference.require(n >= 0 && n <= 100,
                    "n, the order of the derivative of digamma, must be from 0 to 100, but is %d", n);
            floating(inference, "x", "out");
        }).lower(l -> {
            int n = l.attrs().getInt("n");
            map(l, "x", "out", x -> Gamma.polygamma(n, x), x -> Slopes.polygamma(x, n + 1));
        }).grad("polygamma_grad(x, out@GRAD) -> x@GRAD", l -> {
            int n = l.attrs().getInt("n");
            combine(l, "x", "out@GRAD", "x@GRAD", (x, dy) -> dy * Gamma.polygamma(n + 1, x),
                    (x, dy) -> dy.times(Slopes.polygamma(x, n + 1)));
        }).register(registry);
    }

    /** The next number of the type of x on the way to y. */
    private static void neighbour(Operations registry) {
        Operation.define("nextafter").in("x", "y").out("out").infer(inference -> {
            DType dtype = inference.dtype("x");
            inference.require((dtype == DType.FLOAT32 || dtype == DType.FLOAT64) && inference.dtype("y") == dtype,
                    "x and y must be both float32 or both float64, but are %s and %s", dtype, inference.dtype("y"));
            inference.set("out", dtype, inference.broadcast(inference.dims("x"), inference.dims("y")));
        }).lower(l -> {
            Operand x = l.in("x");
            Shape shape = Shape.of(l.outType("out", 0).dims());
            boolean narrow = x.dtype() == DType.FLOAT32;
            l.out("out", combined(l, l.copy(l.expand(x, shape)), l.expand(l.in("y"), shape),
                    (from, to) -> narrow ? Math.nextAfter((float) from, to) : Math.nextAfter(from, to), null));
        }).register(registry);
    }

    private static void logit(Operations registry) {
        Operation.define("logit").in("X").out("Out").attr("eps", 1e-6f).infer(ElementaryOperations::floating)
                .lower(l -> {
                    float eps = l.attrs().getFloat("eps");
                    double most = most(l, eps);
                    map(l, "X", "Out", x -> {
                        double inside = eps == 0 ? x : Math.clamp(x, eps, most);
                        return Math.log(inside / (1 - inside));
                    }, x -> logitSlope(x, eps, most, 0));
                }).grad("logit_grad(X, Out@GRAD) -> X@GRAD", l -> {
                    float eps = l.attrs().getFloat("eps");
                    double most = most(l, eps);
                    combine(l, "X", "Out@GRAD", "X@GRAD", (x, dy) -> {
                        double outside = eps == 0 ? Double.NaN : 0;
                        return x < eps || x > most ? outside : dy / (x * (1 - x));
                    }, (x, dy) -> dy.times(logitSlope(x, eps, most, eps == 0 ? Double.NaN : 0)));
                }).register(registry);
    }

    private static Term logitSlope(Term x, double least, double most, double outside) {
        Term beyond = x.isBelow(least).or(x.isAbove(most));
        Term inside = beyond.choose(x.number(0.5), x);
        return beyond.choose(x.number(outside), x.number(1).over(inside.times(inside.linear(-1, 1))));
    }

    /** 1 − eps as it rounds in the type of X. */
    private static double most(Lowering l, float eps) {
        return l.in("X").dtype() == DType.FLOAT64 ? 1 - (double) eps : 1 - eps;
    }

    /** Of real numbers: 0 or π. */
    private static void angle(Operations registry) {
        Operation.define("angle").in("X").out("Out").infer(inference -> {
            if (inference.dtype("X").isComplex()) {
                inference.set("Out", 0, inference.in("X").with(inference.dtype("X").real()));
            } else {
                floating(inference);
            }
        }).lower(l -> {
            if (l.in("X").dtype().isComplex()) {
                l.out("Out", l.run(new ComplexPart(ComplexPart.Function.ANGLE), l.in("X")));
            } else {
                map(l, "X", "Out", x -> x < 0 ? Math.PI : 0, x -> x.number(0));
            }
        }).grad("angle_grad(X, Out@GRAD) -> X@GRAD", l -> l.out("X@GRAD",
                l.in("X").dtype().isComplex() ? angleGradient(l) : l.fill(0, l.in("X").spec()))).register(registry);
    }

    /** The gradient times i / the conjugate of x: it points to the left of x. At 0 it is 0. */
    private static Operand angleGradient(Lowering l) {
        Operand x = l.in("X");
        Operand zero = l.number(x.dtype(), 0);
        Operand dout = l.in("Out@GRAD");
        Operand turned = l.run(new ComplexNumber(), l.number(dout.dtype(), 0), dout);
        Operand quotient = l.binary(Binary.Function.DIVIDE, turned, l.run(new Conjugate(), x));
        return l.run(new Where(), l.binary(Binary.Function.EQUAL, x, zero), zero, quotient);
    }

    private static void trunc(Operations registry) {
        Operation.define("trunc").in("X").out("Out").infer(inference -> {
            inference.require(inference.dtype("X") != DType.BOOL, "X must be of numbers, but is bool: cast it");
            inference.same("X", "Out");
        }).lower(l -> {
            if (l.in("X").dtype().isFloating()) {
                map(l, "X", "Out", x -> x < 0 ? Math.ceil(x) : Math.floor(x),
                        x -> x.number(0));
            } else {
                l.out("Out", l.in("X"));
            }
        }).grad("trunc_grad(Out@GRAD) -> X@GRAD", l -> l.out("X@GRAD", l.fill(0, l.in("Out@GRAD").spec())))
                .register(registry);
    }

    /** The slope is given twice: fast, and as steps of which there are gradients. */
    private static void define(Operations registry, String type, DoubleUnaryOperator function,
            DoubleUnaryOperator slope, UnaryOperator<Term> steps) {
        Operation.define(type).in("X").out("Out").infer(ElementaryOperations::floating)
                .lower(l -> map(l, "X", "Out", function, steps))
                .grad(type + "_grad(X, Out@GRAD) -> X@GRAD", l -> combine(l, "X", "Out@GRAD", "X@GRAD",
                        (x, dy) -> dy * slope.applyAsDouble(x), (x, dy) -> dy.times(steps.apply(x))))
                .register(registry);
    }

    /** The same, and the function of complex numbers. */
    private static void define(Operations registry, String type, ComplexElementary complex,
            DoubleUnaryOperator function, DoubleUnaryOperator slope, UnaryOperator<Term> steps) {
        Operation.define(type).in("X").out("Out").infer(ElementaryOperations::numbers).lower(l -> {
            if (!ComplexFunctions.map(l, complex)) {
                map(l, "X", "Out", function, steps);
            }
        }).grad(type + "_grad(X, Out@GRAD) -> X@GRAD", l -> {
            if (!ComplexFunctions.combine(l, "X", complex::slope)) {
                combine(l, "X", "Out@GRAD", "X@GRAD", (x, dy) -> dy * slope.applyAsDouble(x),
                        (x, dy) -> dy.times(steps.apply(x)));
            }
        }).register(registry);
    }

    private static void numbers(Inference inference) {
        if (inference.dtype("X").isComplex()) {
            inference.same("X", "Out");
        } else {
            floating(inference);
        }
    }

    private static void floating(Inference inference) {
        floating(inference, "X", "Out");
    }

    private static void floating(Inference inference, String from, String to) {
        inference.require(inference.dtype(from).isFloating(), "%s must be of a floating-point type, but is %s: cast it",
                from,
                inference.dtype(from));
        inference.same(from, to);
    }

    private static void map(Lowering l, String from, String to, DoubleUnaryOperator function,
            UnaryOperator<Term> slope) {
        l.out(to, Slopes.mapped(l, l.type(), l.in(from), function, slope));
    }

    /** A function of two operands of one shape. */
    static void combine(Lowering l, String first, String second, String to, DoubleBinaryOperator function,
            @Nullable BinaryOperator<Term> steps) {
        if (l.wants(to)) {
            l.out(to, combined(l, l.in(first), l.in(second), function, steps));
        }
    }

    /** A function of the elements of two operands of one shape; the result has the type of the first. */
    static Operand combined(Lowering l, Operand first, Operand second, DoubleBinaryOperator function,
            @Nullable BinaryOperator<Term> steps) {
        Operand result = l.temporary(first.spec().rowMajor());
        Step.HostFunction values = (in, out) -> {
            double[] x = read(in, 0);
            double[] y = read(in, 1);
            for (int i = 0; i < x.length; i++) {
                x[i] = function.applyAsDouble(x[i], y[i]);
            }
            write(x, out);
        };
        l.call(l.type(), steps == null
                ? values
                : new Step.Expandable(values, (more, in) -> List.of(
                        steps.apply(new Term(more, in.get(0)), new Term(more, in.get(1))).operand())),
                List.of(first, second),
                List.of(result));
        return result;
    }

    static double[] read(List<@Nullable Tensor> tensors, int at) {
        return Objects.requireNonNull(tensors.get(at)).toDoubleArray();
    }

    static void write(double[] values, List<@Nullable Tensor> to) {
        Elements.write(values, Objects.requireNonNull(to.getFirst()));
    }
}
