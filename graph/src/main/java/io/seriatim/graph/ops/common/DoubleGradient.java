package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.Where;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of the gradient of a function of each element. The gradient operation computes dx = dout · s(p), where
 * the slope s is a function of the point p: of X, or of Out. Its gradient gets ddx, and computes the gradient of dout,
 * ddx · s(p), and that of the point, dout · ddx · s'(p).
 *
 * @param signature
 *            with the slots that Paddle gave it
 * @param point
 *            the slot of p
 * @param first
 *            the slot of dout, or of what curvature is multiplied with instead; that of dout's gradient
 * @param curvature
 *            s', or null if it is 0 almost everywhere
 * @param third
 *            the gradient of this, or null if there is none
 */
public record DoubleGradient(String signature, String point, String first, @Nullable Factor curvature,
        @Nullable TripleGradient third) {
    public static final DoubleGradient RELU = straight(
            "relu_grad_grad(Out, grad_x@GRAD=X@GRAD@GRAD) -> grad_out@GRAD=Out@GRAD@GRAD", "Out");
    public static final DoubleGradient LEAKY_RELU = straight(
            "leaky_relu_grad_grad(X, grad_x@GRAD=X@GRAD@GRAD) -> grad_out@GRAD=Out@GRAD@GRAD",
            "X");
    public static final DoubleGradient ABS = straight(
            "abs_double_grad(x=X, grad_x@GRAD=X@GRAD@GRAD) -> grad_out@GRAD=Out@GRAD@GRAD", "x");

    public static final DoubleGradient LOG = ofX("log_grad_grad", DoubleGradient::logCurvature, null);
    public static final DoubleGradient SQUARE = ofX("square_grad_grad", (l, x) -> l.number(x.dtype(), 2), null);
    public static final DoubleGradient ELU = ofX("elu_grad_grad", DoubleGradient::eluCurvature, null);
    public static final DoubleGradient SOFTPLUS = ofX("softplus_double_grad", DoubleGradient::softplusCurvature, null);
    public static final DoubleGradient SIN =
            ofX("sin_double_grad", (l, x) -> negative(l, l.unary(Unary.Function.SIN, x)),
                    TripleGradient.SIN);
    public static final DoubleGradient COS =
            ofX("cos_double_grad", (l, x) -> negative(l, l.unary(Unary.Function.COS, x)),
                    TripleGradient.COS);

    public static final DoubleGradient TANH = new DoubleGradient(
            "tanh_grad_grad(Out, grad_out=Out@GRAD, grad_x@GRAD=X@GRAD@GRAD) -> Out@GRAD, grad_out@GRAD=Out@GRAD@GRAD",
            "Out", "grad_out",
            (l, y) -> l.linear(y, -2, 0), TripleGradient.TANH);
    public static final DoubleGradient SIGMOID = new DoubleGradient(
            "sigmoid_grad_grad(Out, fwd_grad_out=Out@GRAD, grad_x@GRAD=X@GRAD@GRAD) -> Out@GRAD, "
                    + "fwd_grad_out@GRAD=Out@GRAD@GRAD",
            "Out",
            "fwd_grad_out", (l, y) -> l.linear(y, -2, 1), TripleGradient.SIGMOID);
    /** For square roots: reads dx = dout / (2 · out) instead of dout. */
    public static final DoubleGradient SQRT = ofOut("sqrt_grad_grad",
            (l, y) -> negative(l, l.unary(Unary.Function.RECIPROCAL, y)));
    /** For reciprocal square roots: reads dx = −dout · out³ / 2 instead of dout. */
    public static final DoubleGradient RSQRT = ofOut("rsqrt_grad_grad",
            (l, y) -> l.linear(l.unary(Unary.Function.RECIPROCAL, y), 3, 0));

    /** A function of a point; null for 0. */
    @FunctionalInterface
    public interface Factor {
        @Nullable
        Operand at(Lowering l, Operand point);
    }

    /** The gradient operation itself: a gradient times the slope at the point. */
    @FunctionalInterface
    public interface Slope {
        Operand times(Lowering l, Operand point, Operand gradient);
    }

    private static DoubleGradient straight(String signature, String point) {
        return new DoubleGradient(signature, point, "grad_out", null, null);
    }

    private static DoubleGradient ofX(String type, Factor curvature, @Nullable TripleGradient third) {
        return new DoubleGradient(
                type + "(X, grad_out=Out@GRAD, grad_x@GRAD=X@GRAD@GRAD) -> X@GRAD, grad_out@GRAD=Out@GRAD@GRAD", "X",
                "grad_out",
                curvature, third);
    }

    private static DoubleGradient ofOut(String type, Factor curvature) {
        return new DoubleGradient(
                type + "(Out, grad_x=X@GRAD, grad_x@GRAD=X@GRAD@GRAD) -> Out@GRAD, grad_out@GRAD=Out@GRAD@GRAD", "Out",
                "grad_x",
                curvature, null);
    }

    private static Operand negative(Lowering l, Operand x) {
        return l.unary(Unary.Function.NEGATE, x);
    }

    private static Operand logCurvature(Lowering l, Operand x) {
        return negative(l, l.unary(Unary.Function.SQUARE, l.unary(Unary.Function.RECIPROCAL, x)));
    }

    /** alpha · eˣ up to 0; larger exponents could overflow. */
    private static Operand eluCurvature(Lowering l, Operand x) {
        Operand zero = l.number(x.dtype(), 0);
        Operand exponential = l.linear(l.unary(Unary.Function.EXP, l.binary(Binary.Function.MINIMUM, x, zero)),
                l.attrs().getFloat("alpha"),
                0);
        return l.run(new Where(), l.binary(Binary.Function.LESS_EQUAL, x, zero), exponential, zero);
    }

    /** beta · σ'(beta · x), and 0 where the function is x itself. */
    private static Operand softplusCurvature(Lowering l, Operand x) {
        float beta = l.attrs().getFloat("beta");
        Operand scaled = l.linear(x, beta, 0);
        Operand slope = l.run(UnaryGrad.of(Unary.of(Unary.Function.SIGMOID)), scaled, null, l.fill(beta, x.spec()));
        Operand straight = l.binary(Binary.Function.GREATER, scaled,
                l.number(x.dtype(), l.attrs().getFloat("threshold")));
        return l.run(new Where(), straight, l.number(x.dtype(), 0), slope);
    }

    /** Registers a gradient operation and the gradients of that. */
    public void register(Operations registry, Operation.Builder gradient, Slope slope) {
        Operation.Builder second = gradient.gradOperation(signature, null).lower(l -> lower(l, slope));
        gradient.grad(signature).register(registry);
        if (third != null && curvature != null) {
            third.addTo(second, slope, curvature);
        }
        second.register(registry);
    }

    private void lower(Lowering l, Slope slope) {
        Operand at = l.in(point);
        Operand incoming = l.in("grad_x@GRAD");
        String ofFirst = first.equals("grad_x") ? "grad_out@GRAD" : GradientRule.gradient(first);
        if (l.wants(ofFirst)) {
            l.out(ofFirst, slope.times(l, at, incoming));
        }
        String ofPoint = GradientRule.gradient(point);
        if (l.wants(ofPoint)) {
            Operand bend = curvature == null ? null : curvature.at(l, at);
            out(l, ofPoint, product(l, ComplexNumbers.timesConjugate(l, l.in(first), incoming),
                    bend == null ? null : ComplexNumbers.conjugate(l, bend)));
        }
    }

    /** Gives an output its value, or zeros. */
    static void out(Lowering l, String slot, @Nullable Operand value) {
        l.out(slot, value == null ? l.fill(0, l.output(slot).spec()) : value);
    }

    static @Nullable Operand product(Lowering l, @Nullable Operand a, @Nullable Operand b) {
        return a == null || b == null ? null : l.binary(Binary.Function.MULTIPLY, a, b);
    }

    static @Nullable Operand sum(Lowering l, @Nullable Operand a, @Nullable Operand b) {
        return a == null ? b : b == null ? a : l.binary(Binary.Function.ADD, a, b);
    }
}
