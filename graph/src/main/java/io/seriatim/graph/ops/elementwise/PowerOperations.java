package io.seriatim.graph.ops.elementwise;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.DoubleGradient;
import io.seriatim.graph.ops.common.TripleGradient;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import org.jspecify.annotations.Nullable;

/** The power with one exponent for all elements, an attribute or a tensor. */
public final class PowerOperations {
    private static final String FIRST = "pow_grad(X, FactorTensor, Out@GRAD) -> X@GRAD";

    private static final TripleGradient THIRD = new TripleGradient(
            "pow_triple_grad(X, FactorTensor, grad_out, grad_grad_x=grad_x@GRAD,"
                    + " grad_x@GRAD=X@GRAD@GRAD, grad_grad_out@GRAD=grad_out@GRAD@GRAD) -> X@GRAD, grad_out@GRAD, "
                    + "grad_grad_x@GRAD=grad_x@GRAD@GRAD",
            new TripleGradient.Slots("X", "grad_out", "grad_grad_x", "grad_grad_out@GRAD", "grad_x@GRAD"),
            (l, x) -> derivative(l, x, 3));

    private static final DoubleGradient SECOND = new DoubleGradient(
            "pow_double_grad(X, FactorTensor, grad_out=Out@GRAD,"
                    + " grad_x@GRAD=X@GRAD@GRAD) -> X@GRAD, grad_out@GRAD=Out@GRAD@GRAD",
            "X", "grad_out", (l, x) -> derivative(l, x, 2), THIRD);

    private PowerOperations() {
    }

    public static void register(Operations registry) {
        Operation.Builder builder = Operation.define("pow").in("X", "FactorTensor?").out("Out").attr("factor", 1f)
                .infer(PowerOperations::infer)
                .lower(PowerOperations::lower);
        Operation.Builder gradient = builder.gradOperation(FIRST, null)
                .lower(l -> l.out("X@GRAD", slope(l, l.in("X"), l.in("Out@GRAD"))));
        builder.grad(FIRST).register(registry);
        SECOND.register(registry, gradient, PowerOperations::slope);
    }

    private static void infer(Inference inference) {
        ScaleOperations.requireNumber(inference, "FactorTensor");
        boolean whole = !inference.dtype("X").isFloating();
        inference.require(inference.dtype("X") != DType.BOOL, "truth values have no power: cast X");
        inference.require(!whole || inference.has("FactorTensor") || inference.attrs().getDouble("factor") > -1,
                "a whole number has no power of %s; cast X to a floating-point type",
                inference.attrs().getFloat("factor"));
        inference.same("X", "Out");
    }

    private static void lower(Lowering l) {
        Operand x = l.in("X");
        boolean isKnown = x.dtype().isFloating() && !l.has("FactorTensor");
        boolean isSquare = isKnown && l.attrs().getFloat("factor") == 2;
        l.out("Out", isKnown
                ? l.run(isSquare
                        ? new Unary(Unary.Function.SQUARE, 0, 0)
                        : new Unary(Unary.Function.POW, l.attrs().getFloat("factor"), 0), x)
                : l.binary(Binary.Function.POWER, x, exponent(l, x.dtype())));
    }

    private static Operand exponent(Lowering l, DType dtype) {
        return l.has("FactorTensor")
                ? l.cast(l.in("FactorTensor").reshape(), dtype)
                : l.number(dtype, l.attrs().getDouble("factor"));
    }

    private static Operand slope(Lowering l, Operand x, Operand gradient) {
        Operand derivative = derivative(l, x, 1);
        return derivative == null ? l.fill(0, x.spec()) : l.binary(Binary.Function.MULTIPLY, gradient, derivative);
    }

    /** n · (n − 1) · … · x to the power of n − order; null for 0. */
    private static @Nullable Operand derivative(Lowering l, Operand x, int order) {
        Operand exponent = exponent(l, x.dtype());
        if (l.has("FactorTensor")) {
            Operand factor = exponent;
            for (int i = 1; i < order; i++) {
                factor = l.binary(Binary.Function.MULTIPLY, factor, l.linear(exponent, 1, -i));
            }
            return l.binary(Binary.Function.MULTIPLY, l.binary(Binary.Function.POWER, x, l.linear(exponent, 1, -order)),
                    factor);
        }
        double n = l.attrs().getDouble("factor");
        double factor = 1;
        for (int i = 0; i < order; i++) {
            factor *= n - i;
        }
        if (factor == 0) {
            return null;
        }
        Operand power = l.binary(Binary.Function.POWER, x, l.number(x.dtype(), n - order));
        return l.binary(Binary.Function.MULTIPLY, power, l.number(x.dtype(), factor));
    }
}
