package io.seriatim.graph.ops.elementwise;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Alignment;
import io.seriatim.graph.ops.common.ComplexNumbers;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Gradients of the gradients of arithmetic. DOut is the gradient of the result, DDX and DDY are the gradients that come
 * in for those of X and Y: either may be left out, which means zero. Those of a third order have D_ before the slot
 * whose gradient they are.
 */
final class ElementwiseDoubleGradients {
    private ElementwiseDoubleGradients() {
    }

    static void ofAddition(Operations registry, Operation.Builder builder, String signature, Lowering.Rule rule) {
        Operation.Builder first = builder.gradOperation(signature, null).lower(rule);
        String second = "elementwise_add_grad_grad(Y, DOut=Out@GRAD, DDX=X@GRAD@GRAD, DDY=Y@GRAD@GRAD) -> "
                + "DDOut=Out@GRAD@GRAD";
        Operation.Builder twice = first.gradOperation(second, null).lower(l -> {
            int rank = l.in("DOut").rank();
            whole(l, "DDOut", sum(l, aligned(l, "DDX", rank), aligned(l, "DDY", rank)));
        });
        twice.grad("elementwise_add_triple_grad(DDX, DDY, D_DDOut=DDOut@GRAD) -> D_DDX=DDX@GRAD, D_DDY=DDY@GRAD", l -> {
            reduced(l, "D_DDX", l.in("D_DDOut"));
            reduced(l, "D_DDY", l.in("D_DDOut"));
        });
        register(registry, builder.grad(signature), first.grad(second), twice);
    }

    static void ofSubtraction(Operations registry, Operation.Builder builder, String signature, Lowering.Rule rule) {
        Operation.Builder first = builder.gradOperation(signature, null).lower(rule);
        String second = "elementwise_sub_grad_grad(Y, DOut=Out@GRAD, DDX=X@GRAD@GRAD, DDY=Y@GRAD@GRAD) -> "
                + "DDOut=Out@GRAD@GRAD";
        Operation.Builder twice = first.gradOperation(second, null).lower(l -> {
            int rank = l.in("DOut").rank();
            whole(l, "DDOut", sum(l, aligned(l, "DDX", rank), negative(l, aligned(l, "DDY", rank))));
        });
        register(registry, builder.grad(signature), first.grad(second), twice);
    }

    static void ofMultiplication(Operations registry, Operation.Builder builder, String signature, Lowering.Rule rule) {
        Operation.Builder first = builder.gradOperation(signature, null).lower(rule);
        String second = "elementwise_mul_grad_grad(X, Y, DOut=Out@GRAD, DDX=X@GRAD@GRAD, DDY=Y@GRAD@GRAD) -> "
                + "DDOut=Out@GRAD@GRAD, X@GRAD, Y@GRAD";
        Operation.Builder twice = first.gradOperation(second, null).lower(ElementwiseDoubleGradients::multiplication);
        twice.grad(
                "elementwise_mul_triple_grad(X, Y, DOut, DDX, DDY, D_DDOut=DDOut@GRAD, D_DX=X@GRAD@GRAD, "
                        + "D_DY=Y@GRAD@GRAD)"
                        + " -> D_X=X@GRAD, D_Y=Y@GRAD, D_DOut=DOut@GRAD, D_DDX=DDX@GRAD, D_DDY=DDY@GRAD",
                ElementwiseDoubleGradients::multiplicationThrice);
        register(registry, builder.grad(signature), first.grad(second), twice);
    }

    static void ofDivision(Operations registry, Operation.Builder builder, String signature, Lowering.Rule rule) {
        Operation.Builder first = builder.gradOperation(signature, null).lower(rule);
        String second = "elementwise_div_grad_grad(Y, Out, DX=X@GRAD, DDX=X@GRAD@GRAD, DDY=Y@GRAD@GRAD) -> "
                + "DDOut=Out@GRAD@GRAD, DOut=Out@GRAD, Y@GRAD";
        Operation.Builder twice = first.gradOperation(second, inference -> {
            inference.require(inference.has("DX"), "it is computed from the gradient of X: let X want one");
            inference.same("Out", "DDOut");
            inference.same("Out", "DOut");
            inference.same("Y", "Y@GRAD");
        }).lower(ElementwiseDoubleGradients::division);
        register(registry, builder.grad(signature), first.grad(second), twice);
    }

    private static void register(Operations registry, Operation.Builder... builders) {
        List.of(builders).forEach(builder -> builder.register(registry));
    }

    private static void multiplication(Lowering l) {
        Operand dout = l.in("DOut");
        int rank = dout.rank();
        Operand ddx = aligned(l, "DDX", rank);
        Operand ddy = aligned(l, "DDY", rank);
        if (l.wants("DDOut")) {
            whole(l, "DDOut", sum(l, product(l, ddx, aligned(l, "Y", rank)), product(l, ddy, aligned(l, "X", rank))));
        }
        reduced(l, "X@GRAD", back(l, dout, ddy));
        reduced(l, "Y@GRAD", back(l, dout, ddx));
    }

    private static void multiplicationThrice(Lowering l) {
        Operand dout = l.in("DOut");
        int rank = dout.rank();
        Operand ddx = aligned(l, "DDX", rank);
        Operand ddy = aligned(l, "DDY", rank);
        Operand ofDDOut = aligned(l, "D_DDOut", rank);
        Operand ofDX = aligned(l, "D_DX", rank);
        Operand ofDY = aligned(l, "D_DY", rank);
        reduced(l, "D_X", back(l, ofDDOut, ddy));
        reduced(l, "D_Y", back(l, ofDDOut, ddx));
        reduced(l, "D_DOut", sum(l, product(l, ofDX, ddy), product(l, ofDY, ddx)));
        reduced(l, "D_DDX", sum(l, back(l, ofDDOut, aligned(l, "Y", rank)), back(l, dout, ofDY)));
        reduced(l, "D_DDY", sum(l, back(l, ofDDOut, aligned(l, "X", rank)), back(l, dout, ofDX)));
    }

    /** Computed from DX = DOut / Y instead of DOut, as in Paddle, which is exact if X was not repeated. */
    private static void division(Lowering l) {
        Operand out = l.in("Out");
        int rank = out.rank();
        Operand dx = Alignment.of(l, l.in("DX"), rank);
        Operand ddy = aligned(l, "DDY", rank);
        Operand moved = sum(l, aligned(l, "DDX", rank), negative(l, product(l, out, ddy)));
        if (moved == null) {
            moved = l.number(out.dtype(), 0);
        }
        Operand quotient = ComplexNumbers.binary(l, Binary.Function.DIVIDE, moved, Alignment.of(l, l.in("Y"), rank));
        whole(l, "DDOut", quotient);
        whole(l, "DOut", negative(l, back(l, dx, ddy)));
        reduced(l, "Y@GRAD", negative(l, back(l, dx, quotient)));
    }

    private static @Nullable Operand aligned(Lowering l, String slot, int rank) {
        return l.has(slot) ? Alignment.of(l, l.in(slot), rank) : null;
    }

    private static @Nullable Operand sum(Lowering l, @Nullable Operand a, @Nullable Operand b) {
        return a == null ? b : b == null ? a : ComplexNumbers.binary(l, Binary.Function.ADD, a, b);
    }

    private static @Nullable Operand product(Lowering l, @Nullable Operand a, @Nullable Operand b) {
        return a == null || b == null ? null : ComplexNumbers.binary(l, Binary.Function.MULTIPLY, a, b);
    }

    /** The part of a factor's gradient that comes from a product with another factor. */
    private static @Nullable Operand back(Lowering l, @Nullable Operand gradient, @Nullable Operand factor) {
        return gradient == null || factor == null ? null : ComplexNumbers.timesConjugate(l, gradient, factor);
    }

    private static @Nullable Operand negative(Lowering l, @Nullable Operand a) {
        return a == null ? null : l.unary(Unary.Function.NEGATE, a);
    }

    /** Gives an output of the result's shape its value. */
    private static void whole(Lowering l, String slot, @Nullable Operand value) {
        if (l.wants(slot)) {
            Shape shape = l.output(slot).shape();
            Operand some = value == null ? l.number(l.output(slot).dtype(), 0) : value;
            l.out(slot, some.shape().equals(shape) ? some : some.expand(shape));
        }
    }

    /** Gives an output of the shape of X or Y its value, summed over what that was repeated for. */
    private static void reduced(Lowering l, String slot, @Nullable Operand value) {
        if (!l.wants(slot)) {
            return;
        }
        if (value == null) {
            whole(l, slot, null);
        } else {
            Alignment.out(l, slot, value);
        }
    }
}
