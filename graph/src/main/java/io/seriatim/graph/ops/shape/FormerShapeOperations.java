package io.seriatim.graph.ops.shape;

import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;

/** Former types of reshape2 and transpose2: without XShape, so that their gradients name X for its shape. */
public final class FormerShapeOperations {
    private FormerShapeOperations() {
    }

    public static void register(Operations registry) {
        reshape(registry);
        transpose(registry);
    }

    private static void reshape(Operations registry) {
        String signature = "reshape_grad(X, Shape, ShapeTensor, Out, Out@GRAD)"
                + " -> X@GRAD, Shape@GRAD, ShapeTensor@GRAD";
        Operation.Builder reshape = Operation.define("reshape").in("X", "Shape?", "ShapeTensor*?").out("Out")
                .attr("shape", new int[0]).values("Shape", "ShapeTensor").shapeArithmetic()
                .infer(ShapeOperations::reshaped).lower(l -> ShapeOperations.reshape(l, "X", "Out")).grad(signature);
        reshape.gradOperation(signature, null).shapesOnly("X", "Shape", "ShapeTensor", "Out")
                .lower(l -> ShapeOperations.reshape(l, "Out@GRAD", "X@GRAD"))
                .grad("reshape(X=X@GRAD@GRAD, Shape, ShapeTensor) -> Out=Out@GRAD@GRAD").register(registry);
        reshape.register(registry);
    }

    private static void transpose(Operations registry) {
        String signature = "transpose_grad(X, Out, Out@GRAD) -> X@GRAD";
        Operation.Builder transpose = Operation.define("transpose").in("X").out("Out")
                .required("axis", Attribute.Ints.class).infer(ShapeOperations::transposed)
                .lower(l -> l.out("Out", l.in("X").transpose(ShapeOperations.order(l.attrs())))).grad(signature);
        transpose.gradOperation(signature, null).shapesOnly("X", "Out")
                .lower(l -> l.out("X@GRAD",
                        l.in("Out@GRAD").transpose(ShapeOperations.inverse(ShapeOperations.order(l.attrs())))))
                .grad("transpose(X=X@GRAD@GRAD) -> Out=Out@GRAD@GRAD").register(registry);
        transpose.register(registry);
    }
}
