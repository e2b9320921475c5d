package io.seriatim.graph.ops.elementwise;

import static io.seriatim.tensor.computation.Unary.Function.EXP;
import static io.seriatim.tensor.computation.Unary.Function.RSQRT;
import static io.seriatim.tensor.computation.Unary.Function.SIGN;
import static io.seriatim.tensor.computation.Unary.Function.SQUARE;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.ops.common.Term;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.numerics.Bessel;
import io.seriatim.tensor.numerics.Gamma;
import io.seriatim.tensor.numerics.NormalQuantile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Slopes of functions of each element as steps, of which there are gradients, too. */
final class Slopes {
    private Slopes() {
    }

    static Term square(Term x) {
        return x.unary(SQUARE);
    }

    /** 1 / √(1 − x²). */
    static Term ofSine(Term x) {
        return square(x).linear(-1, 1).unary(RSQRT);
    }

    /** A derivative of digamma, whose own derivative is the next one. */
    static Term polygamma(Term x, int n) {
        return function(x, "polygamma", each -> n == 0 ? Gamma.digamma(each) : Gamma.polygamma(n, each),
                each -> polygamma(each, n + 1));
    }

    static Term i0(Term x) {
        return function(x, "i0", Bessel::i0, Slopes::i1);
    }

    static Term i1(Term x) {
        return function(x, "i1", Bessel::i1, Slopes::ofI1);
    }

    static Term ofI1(Term x) {
        return i0(x).minus(byArgument(x, i1(x)));
    }

    /** A quotient f(x) / x, which is 1/2 at 0. */
    private static Term byArgument(Term x, Term value) {
        Term zero = x.is(Binary.Function.EQUAL, x.number(0));
        return zero.choose(x.number(0.5), value.over(zero.choose(x.number(1), x)));
    }

    static Term i0Scaled(Term x) {
        return function(x, "i0e", Bessel::i0Scaled, Slopes::ofI0Scaled);
    }

    static Term ofI0Scaled(Term x) {
        return i1Scaled(x).minus(x.unary(SIGN).times(i0Scaled(x)));
    }

    static Term i1Scaled(Term x) {
        return function(x, "i1e", Bessel::i1Scaled, Slopes::ofI1Scaled);
    }

    static Term ofI1Scaled(Term x) {
        Term own = i1Scaled(x);
        return i0Scaled(x).minus(own.times(x.unary(SIGN))).minus(byArgument(x, own));
    }

    private static Term function(Term x, String name, DoubleUnaryOperator function, UnaryOperator<Term> slope) {
        return new Term(x.l(), mapped(x.l(), name, x.operand(), function, slope));
    }

    /** The slope of erf⁻¹, from its result. */
    static Term ofErrorInverse(Term y) {
        return square(y).unary(EXP).linear(Math.sqrt(Math.PI) / 2, 0);
    }

    static Term slopeOfErrorInverse(Term x) {
        return ofErrorInverse(function(x, "erfinv", NormalQuantile::errorInverse,
                Slopes::slopeOfErrorInverse));
    }

    static Operand mapped(Lowering l, String name, Operand x, DoubleUnaryOperator function,
            UnaryOperator<Term> slope) {
        Operand y = l.temporary(x.spec().rowMajor());
        Step.HostFunction values = (in, out) -> ElementaryOperations.write(
                Arrays.stream(ElementaryOperations.read(in, 0)).map(function).toArray(), out);
        l.call(name, new Step.Differentiable(values, (steps, in, _, gradients) -> {
            Operand gradient = Objects.requireNonNull(gradients.getFirst());
            List<@Nullable Operand> found = new ArrayList<>();
            found.add(new Term(steps, gradient).times(slope.apply(new Term(steps, in.getFirst()))).operand());
            return found;
        }), List.of(x), List.of(y));
        return y;
    }
}
