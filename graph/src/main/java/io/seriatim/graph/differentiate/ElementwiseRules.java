package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.BinaryGrad;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Dropout;
import io.seriatim.tensor.computation.DropoutGrad;
import io.seriatim.tensor.computation.Pad;
import io.seriatim.tensor.computation.PadGrad;
import io.seriatim.tensor.computation.Scan;
import io.seriatim.tensor.computation.Triangle;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.Where;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Functions of single elements, and linear computations that move elements. */
final class ElementwiseRules {
    /** Functions whose slope follows from the result. */
    private static final Set<Unary.Function> BY_RESULT = Set.of(Unary.Function.RELU, Unary.Function.SIGMOID,
            Unary.Function.TANH, Unary.Function.EXP, Unary.Function.SQRT, Unary.Function.RSQRT,
            Unary.Function.RECIPROCAL);

    private ElementwiseRules() {
    }

    static void register() {
        Rules.rule(Unary.class, ElementwiseRules::unary);
        Rules.rule(Binary.class, (binary, d) -> binary(binary.function(), d));
        Rules.expand(BinaryGrad.class, ElementwiseRules::binaryGrad);
        Rules.expand(Chain.class, ElementwiseRules::chain);
        Rules.rule(Where.class, (_, d) -> {
            Term condition = d.term(d.in(0));
            Term gradient = d.term(d.gradient());
            d.give(1, condition.choose(gradient, gradient.number(0)).operand());
            d.give(2, condition.choose(gradient.number(0), gradient).operand());
        });
        Rules.rule(Copy.class, (_, d) -> d.give(0, d.gradient()));
        Rules.rule(Dropout.class, (dropout, d) -> d.give(0,
                d.l().run(new DropoutGrad(dropout), d.gradient(), d.out(1))));
        Rules.rule(DropoutGrad.class, (dropout, d) -> d.give(0, d.l().run(dropout, d.gradient(), d.in(1))));
        Rules.rule(Triangle.class, (triangle, d) -> d.give(0, d.l().run(triangle, d.gradient())));
        Rules.rule(Scan.class, (scan, d) -> d.give(0,
                d.l().run(new Scan(scan.axis(), scan.exclusive(), !scan.reverse()), d.gradient())));
        Rules.rule(Pad.class, (pad, d) -> d.give(0, pad.mode() == Pad.Mode.CONSTANT
                ? inside(pad, d.gradient())
                : d.l().run(new PadGrad(pad), d.gradient())));
        Rules.rule(PadGrad.class, (gradient, d) -> {
            Pad pad = gradient.forward();
            d.give(0, d.l().run(new Pad(pad.before(), pad.after(), pad.mode(), 0), d.gradient()));
        });
    }

    /** What padding leaves in the middle. */
    private static Operand inside(Pad pad, Operand padded) {
        Operand inside = padded;
        for (int axis = 0; axis < padded.rank(); axis++) {
            inside = inside.slice(axis, pad.before().get(axis), padded.dim(axis) - pad.after().get(axis));
        }
        return inside;
    }

    private static void unary(Unary unary, Derivative d) {
        switch (unary.function()) {
            case FLOOR, CEIL, ROUND, SIGN, LOGICAL_NOT, IS_NAN, IS_INF, IS_FINITE -> {
                // The slope is 0 almost everywhere.
            }
            case NEGATE -> d.give(0, d.l().unary(Unary.Function.NEGATE, d.gradient()));
            case LINEAR -> d.give(0, d.l().run(UnaryGrad.of(unary), null, null, d.gradient()));
            default -> {
                boolean byResult = BY_RESULT.contains(unary.function()) && d.isGiven(0);
                d.give(0, d.l().run(UnaryGrad.of(unary), byResult ? null : d.in(0), byResult ? d.out(0) : null,
                        d.gradient()));
            }
        }
    }

    private static void binary(Binary.Function function, Derivative d) {
        if (function.isTest()) {
            return;
        }
        for (int side = 0; side < 2; side++) {
            if (d.wants(side)) {
                Operand gradient = switch (function) {
                    case ADD -> d.gradient();
                    case SUBTRACT -> side == 0 ? d.gradient() : d.l().unary(Unary.Function.NEGATE, d.gradient());
                    case MULTIPLY -> d.l().binary(Binary.Function.MULTIPLY, d.gradient(),
                            ComplexRules.conjugate(d.l(), d.in(1 - side)));
                    case FLOOR_DIVIDE -> null;
                    default -> slope(function, side == 0, d.l(), d.in(0), d.in(1), d.gradient());
                };
                if (gradient != null) {
                    d.give(side, gradient);
                }
            }
        }
    }

    /** A gradient times the slope of a function of two elements, in the shape of the result. */
    private static @Nullable Operand slope(Binary.Function function, boolean left, Lowering l, Operand x, Operand y,
            Operand gradient) {
        Term dout = new Term(l, gradient);
        Term a = new Term(l, x);
        Term b = new Term(l, y);
        Term slope = switch (function) {
            case ADD -> dout;
            case SUBTRACT -> left ? dout : dout.unary(Unary.Function.NEGATE);
            case MULTIPLY -> dout.times(left ? b : a);
            case DIVIDE -> left
                    ? dout.over(b)
                    : dout.over(b).times(a.over(b)).unary(Unary.Function.NEGATE);
            case MAXIMUM -> extreme(dout, Binary.Function.GREATER, left ? a : b, left ? b : a);
            case MINIMUM -> extreme(dout, Binary.Function.LESS, left ? a : b, left ? b : a);
            case PRELU -> left
                    ? a.isBelow(0).choose(dout.times(b), dout)
                    : a.isBelow(0).orZero(dout.times(a));
            case POWER -> left ? ofBase(dout, a, b) : ofExponent(dout, a, b);
            case MODULO -> left
                    ? dout
                    : dout.times(a.over(b).unary(Unary.Function.FLOOR)).unary(Unary.Function.NEGATE);
            case REMAINDER -> left ? dout : dout.times(towardsZero(a.over(b))).unary(Unary.Function.NEGATE);
            case FLOOR_DIVIDE -> null;
            default -> throw new IllegalArgumentException(function + " has no gradient");
        };
        return slope == null ? null : slope.operand();
    }

    private static Term towardsZero(Term x) {
        return x.isBelow(0).choose(x.unary(Unary.Function.CEIL), x.unary(Unary.Function.FLOOR));
    }

    /** Half of the gradient goes to each of equal operands. */
    private static Term extreme(Term dout, Binary.Function wins, Term one, Term other) {
        Term half = one.is(Binary.Function.EQUAL, other).orZero(dout.linear(0.5, 0));
        return one.is(wins, other).choose(dout, half);
    }

    /** The exponent is not 0 where it is lessened by 1, so that no infinity meets a 0. */
    private static Term ofBase(Term dout, Term x, Term y) {
        Term lessened = y.is(Binary.Function.EQUAL, y.number(0)).choose(y.number(1), y.linear(1, -1));
        return dout.times(y.times(power(x, lessened)));
    }

    private static Term ofExponent(Term dout, Term x, Term y) {
        Term positive = x.isAbove(0);
        Term logarithm = positive.choose(x, x.number(1)).unary(Unary.Function.LOG);
        return dout.times(power(x, y).times(logarithm));
    }

    private static Term power(Term x, Term y) {
        return new Term(x.l(), x.l().binary(Binary.Function.POWER, x.operand(), y.operand()));
    }

    private static List<@Nullable Operand> binaryGrad(BinaryGrad grad, Lowering l, List<@Nullable Operand> in) {
        Operand x = Objects.requireNonNull(in.get(0));
        Operand y = Objects.requireNonNull(in.get(1));
        Operand dout = Objects.requireNonNull(in.get(2));
        List<@Nullable Operand> results = new ArrayList<>();
        for (boolean left : new boolean[]{true, false}) {
            Operand to = left ? x : y;
            Operand slope = slope(grad.function(), left, l, x, y, dout);
            results.add(slope == null ? l.fill(0, to.spec()) : Views.fitted(l, slope, to.shape()));
        }
        return results;
    }

    private static List<@Nullable Operand> chain(Chain chain, Lowering l, List<@Nullable Operand> in) {
        List<@Nullable Operand> values = new ArrayList<>(in);
        for (Chain.Step step : chain.steps()) {
            values.add(switch (step) {
                case Chain.Apply(var function, var x) -> l.run(function, values.get(x));
                case Chain.Combine(var function, var x, var y) -> l.run(Binary.of(function), values.get(x),
                        values.get(y));
                case Chain.Grad(var gradient, var x, var y, var dy) -> l.run(gradient,
                        x == Chain.ABSENT ? null : values.get(x), y == Chain.ABSENT ? null : values.get(y),
                        values.get(dy));
                case Chain.Cast(var to, var x) -> l.run(new Copy(to), values.get(x));
                case Chain.Select(var condition, var x, var y) -> l.run(new Where(), values.get(condition),
                        values.get(x), values.get(y));
            });
        }
        List<@Nullable Operand> results = new ArrayList<>();
        chain.outputs().forEach(output -> results.add(values.get(output)));
        return results;
    }
}
