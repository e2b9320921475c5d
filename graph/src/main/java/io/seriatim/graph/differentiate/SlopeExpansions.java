package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The gradients of functions of each element, written as the gradient times a formula for the slope. */
final class SlopeExpansions {
    private static final double ROOT_HALF = Math.sqrt(0.5);
    private static final double GELU_FACTOR = Math.sqrt(2 / Math.PI);
    private static final double GELU_CUBE = 0.044715;

    private SlopeExpansions() {
    }

    static void register() {
        Rules.expand(UnaryGrad.class, SlopeExpansions::expand);
    }

    private static List<@Nullable Operand> expand(UnaryGrad grad, Lowering l, List<@Nullable Operand> in) {
        Operand dy = Objects.requireNonNull(in.get(2));
        Operand y = in.get(1);
        Operand x = in.get(0);
        Term gradient = new Term(l, dy);
        Term result = switch (grad.function()) {
            case FLOOR, CEIL, ROUND, SIGN -> new Term(l, l.fill(0, dy.spec()));
            case LINEAR -> gradient.linear(grad.alpha(), 0);
            case NEGATE -> gradient.unary(Unary.Function.NEGATE);
            default -> {
                Term byResult = y == null ? null : ofResult(grad, gradient, new Term(l, y));
                yield byResult != null
                        ? byResult
                        : ofInput(grad, gradient,
                                new Term(l, Objects.requireNonNull(x, "the input of " + grad.function())));
            }
        };
        return List.of(result.operand());
    }

    private static @Nullable Term ofResult(UnaryGrad grad, Term dy, Term y) {
        return switch (grad.function()) {
            case RELU -> y.isAbove(0).orZero(dy);
            case LEAKY_RELU -> grad.alpha() < 0 ? null : y.isAbove(0).choose(dy, dy.linear(grad.alpha(), 0));
            case ELU -> grad.alpha() < 0 ? null : y.isAbove(0).choose(dy, dy.times(y.linear(1, grad.alpha())));
            case SIGMOID -> dy.times(y.times(y.linear(-1, 1)));
            case TANH -> dy.times(square(y).linear(-1, 1));
            case EXP -> dy.times(y);
            case SQRT -> dy.linear(0.5, 0).over(y);
            case RSQRT -> dy.times(square(y).times(y)).linear(-0.5, 0);
            case RECIPROCAL -> dy.times(square(y)).unary(Unary.Function.NEGATE);
            default -> null;
        };
    }

    private static Term ofInput(UnaryGrad grad, Term dy, Term x) {
        float alpha = grad.alpha();
        float beta = grad.beta();
        return switch (grad.function()) {
            case RELU -> x.isAbove(0).orZero(dy);
            case LEAKY_RELU -> x.isAbove(0).choose(dy, dy.linear(alpha, 0));
            case ELU -> x.isAbove(0).choose(dy, dy.times(least(x, 0).unary(Unary.Function.EXP).linear(alpha, 0)));
            case CLIP -> x.isAbove(alpha).and(x.isBelow(beta)).orZero(dy);
            case SIGMOID -> dy.times(ofSigmoid(sigmoid(x)));
            case TANH -> dy.times(square(x.unary(Unary.Function.TANH)).linear(-1, 1));
            case GELU_ERF -> dy.times(x.linear(ROOT_HALF, 0).unary(Unary.Function.ERF).linear(0.5, 0.5)
                    .plus(x.times(square(x).linear(-0.5, 0).unary(Unary.Function.EXP))
                            .linear(1 / Math.sqrt(2 * Math.PI), 0)));
            case GELU_TANH -> geluTanh(dy, x);
            case SWISH -> {
                Term s = sigmoid(x.linear(alpha, 0));
                yield dy.times(s.plus(x.times(ofSigmoid(s)).linear(alpha, 0)));
            }
            case HARD_SIGMOID -> {
                Term y = x.linear(alpha, beta);
                yield y.isAbove(0).and(y.isBelow(1)).orZero(dy.linear(alpha, 0));
            }
            case HARD_SWISH -> {
                Term middle = dy.times(x.linear(1.0 / 3, 0.5));
                yield x.isAbove(-3).orZero(x.isBelow(3).choose(middle, dy));
            }
            case SOFTPLUS -> {
                Term scaled = x.linear(alpha, 0);
                yield scaled.isAbove(beta).choose(dy, dy.times(sigmoid(scaled)));
            }
            case MISH -> {
                Term t = new Term(x.l(), x.l().run(new Unary(Unary.Function.SOFTPLUS, 1, Float.MAX_VALUE), x.operand()))
                        .unary(Unary.Function.TANH);
                yield dy.times(t.plus(x.times(square(t).linear(-1, 1)).times(sigmoid(x))));
            }
            case EXP -> dy.times(x.unary(Unary.Function.EXP));
            case LOG -> dy.over(x);
            case SQRT -> dy.linear(0.5, 0).over(x.unary(Unary.Function.SQRT));
            case RSQRT -> dy.linear(-0.5, 0).times(x.unary(Unary.Function.RSQRT)).over(x);
            case SQUARE -> dy.times(x).linear(2, 0);
            case ABS -> dy.times(x.unary(Unary.Function.SIGN));
            case RECIPROCAL -> dy.over(square(x)).unary(Unary.Function.NEGATE);
            case POW -> power(dy, x, alpha);
            case SIN -> dy.times(x.unary(Unary.Function.COS));
            case COS -> dy.times(x.unary(Unary.Function.SIN)).unary(Unary.Function.NEGATE);
            case ERF -> dy.times(square(x).unary(Unary.Function.NEGATE).unary(Unary.Function.EXP))
                    .linear(2 / Math.sqrt(Math.PI), 0);
            case FLOOR, CEIL, ROUND, SIGN, LINEAR, NEGATE, LOGICAL_NOT, IS_NAN, IS_INF, IS_FINITE ->
                throw new IllegalArgumentException("The gradient of " + grad.function() + " does not depend on x");
        };
    }

    private static Term geluTanh(Term dy, Term x) {
        Term squared = square(x);
        Term t = x.times(squared.linear(GELU_CUBE, 1)).linear(GELU_FACTOR, 0).unary(Unary.Function.TANH);
        Term bend = x.times(square(t).linear(-1, 1)).times(squared.linear(3 * GELU_CUBE, 1))
                .linear(0.5 * GELU_FACTOR, 0);
        return dy.times(t.linear(0.5, 0.5).plus(bend));
    }

    /** The power of an exponent of 0 has no slope, even where x is 0. */
    private static Term power(Term dy, Term x, float exponent) {
        if (exponent == 0) {
            return new Term(dy.l(), dy.l().fill(0, dy.operand().spec()));
        }
        if (exponent == 1) {
            return dy;
        }
        Operand lessened = dy.l().binary(Binary.Function.POWER, x.operand(), x.number(exponent - 1.0).operand());
        return dy.times(new Term(dy.l(), lessened)).linear(exponent, 0);
    }

    private static Term square(Term x) {
        return x.unary(Unary.Function.SQUARE);
    }

    private static Term sigmoid(Term x) {
        return x.unary(Unary.Function.SIGMOID);
    }

    private static Term ofSigmoid(Term s) {
        return s.times(s.linear(-1, 1));
    }

    private static Term least(Term x, double bound) {
        return new Term(x.l(), x.l().binary(Binary.Function.MINIMUM, x.operand(), x.number(bound).operand()));
    }
}
