package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.tensor.computation.Unary;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of a {@link DoubleGradient}, whose results are a = ddx · s(p) and b = dout · ddx · s'(p). With da and
 * db, the gradients that come in for those, that of the point is da · ddx · s'(p) + db · dout · ddx · s''(p), that of
 * ddx is da · s(p) + db · dout · s'(p), and that of dout is db · ddx · s'(p).
 *
 * @param signature
 *            with the slots that Paddle gave it
 * @param slots
 *            which is what
 * @param bend
 *            s''
 */
public record TripleGradient(String signature, Slots slots, DoubleGradient.Factor bend) {
    /**
     * The slots of p, dout, ddx, da and db. Those of the gradients of the first three have the same names with the
     * usual suffix.
     */
    public record Slots(String point, String dout, String ddx, String da, String db) {
    }

    private static final Slots TRIGONOMETRIC = new Slots("X", "grad_out_forward", "grad_x_grad_forward",
            "grad_out_grad@GRAD",
            "grad_x@GRAD");

    static final TripleGradient SIN = trigonometric("sin_triple_grad",
            (l, x) -> l.unary(Unary.Function.NEGATE, l.unary(Unary.Function.COS, x)));
    static final TripleGradient COS = trigonometric("cos_triple_grad", (l, x) -> l.unary(Unary.Function.SIN, x));
    static final TripleGradient TANH = new TripleGradient(
            "tanh_triple_grad(Out, grad_out_forward=grad_out, grad_x_grad_forward=grad_x@GRAD,"
                    + " grad_out_grad@GRAD=grad_out@GRAD@GRAD, grad_out_new@GRAD=Out@GRAD@GRAD)"
                    + " -> Out@GRAD, grad_out_forward@GRAD=grad_out@GRAD, grad_x_grad_forward@GRAD=grad_x@GRAD@GRAD",
            new Slots("Out", "grad_out_forward", "grad_x_grad_forward", "grad_out_grad@GRAD", "grad_out_new@GRAD"),
            (l, y) -> l.number(y.dtype(), -2));
    static final TripleGradient SIGMOID = new TripleGradient(
            "sigmoid_triple_grad(Out, fwd_grad_out, grad_grad_x=grad_x@GRAD,"
                    + " grad_grad_out@GRAD=fwd_grad_out@GRAD@GRAD, grad_out@GRAD=Out@GRAD@GRAD)"
                    + " -> Out@GRAD, fwd_grad_out@GRAD, grad_grad_x@GRAD=grad_x@GRAD@GRAD",
            new Slots("Out", "fwd_grad_out", "grad_grad_x", "grad_grad_out@GRAD", "grad_out@GRAD"),
            (l, y) -> l.number(y.dtype(), -2));

    private static TripleGradient trigonometric(String type, DoubleGradient.Factor bend) {
        return new TripleGradient(
                type + "(X, grad_out_forward=grad_out, grad_x_grad_forward=grad_x@GRAD, grad_x@GRAD=X@GRAD@GRAD,"
                        + " grad_out_grad@GRAD=grad_out@GRAD@GRAD)"
                        + " -> X@GRAD, grad_out_forward@GRAD=grad_out@GRAD, grad_x_grad_forward@GRAD=grad_x@GRAD@GRAD",
                TRIGONOMETRIC, bend);
    }

    void addTo(Operation.Builder second, DoubleGradient.Slope slope, DoubleGradient.Factor curvature) {
        second.grad(signature, l -> lower(l, slope, curvature));
    }

    private void lower(Lowering l, DoubleGradient.Slope slope, DoubleGradient.Factor curvature) {
        Operand point = l.in(slots.point());
        Operand dout = l.in(slots.dout());
        Operand ddx = l.in(slots.ddx());
        @Nullable
        Operand da = l.optional(slots.da());
        @Nullable
        Operand curved = curvature.at(l, point);
        @Nullable
        Operand ofB = DoubleGradient.product(l, l.optional(slots.db()), curved);
        wanted(l, slots.dout(), () -> DoubleGradient.product(l, ofB, ddx));
        wanted(l, slots.ddx(),
                () -> DoubleGradient.sum(l, da == null ? null : slope.times(l, point, da),
                        DoubleGradient.product(l, ofB, dout)));
        wanted(l, slots.point(), () -> {
            Operand bent = DoubleGradient.product(l, DoubleGradient.product(l, l.optional(slots.db()), dout),
                    bend.at(l, point));
            Operand straight = DoubleGradient.product(l, da, curved);
            return DoubleGradient.product(l, DoubleGradient.sum(l, straight, bent), ddx);
        });
    }

    /** The terms of an output. */
    @FunctionalInterface
    private interface Value {
        @Nullable
        Operand get();
    }

    private static void wanted(Lowering l, String slot, Value value) {
        String gradient = GradientRule.gradient(slot);
        if (l.wants(gradient)) {
            DoubleGradient.out(l, gradient, value.get());
        }
    }
}
