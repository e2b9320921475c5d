package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.Where;

/** Functions of single elements. */
final class ElementwiseSchemas {
    private ElementwiseSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_round").in("X").out("Out").infer(inference -> {
            inference.require(inference.dtype("X").isFloating(), "X must be of a floating-point type, but is %s",
                    inference.dtype("X"));
            inference.same("X", "Out");
        }).lower(l -> l.out("Out", l.unary(Unary.Function.ROUND, l.in("X"))))
                .grad("onnx_round_grad(X, Out@GRAD) -> X@GRAD").register(registry);
        Operation.define("onnx_fmod").in("X", "Y").out("Out").infer(inference -> {
            inference.require(inference.dtype("X") == inference.dtype("Y"),
                    "X and Y must have one type, but are %s and %s: cast one of them", inference.dtype("X"),
                    inference.dtype("Y"));
            inference.set("Out", inference.dtype("X"), inference.broadcast(inference.dims("X"), inference.dims("Y")));
        }).lower(l -> l.out("Out", l.binary(Binary.Function.REMAINDER, l.in("X"), l.in("Y"))))
                .grad("onnx_fmod_grad(X, Y, Out@GRAD) -> X@GRAD, Y@GRAD").register(registry);
        Operation.define("onnx_where").in("Condition", "X", "Y").out("Out").infer(inference -> {
            inference.require(inference.dtype("Condition") == DType.BOOL, "Condition must be bool, but is %s",
                    inference.dtype("Condition"));
            inference.require(inference.dtype("X") == inference.dtype("Y"),
                    "X and Y must have one type, but are %s and %s: cast one of them", inference.dtype("X"),
                    inference.dtype("Y"));
            long[] both = inference.broadcast(inference.dims("X"), inference.dims("Y"));
            inference.set("Out", inference.dtype("X"), inference.broadcast(both, inference.dims("Condition")));
        }).lower(l -> l.out("Out", l.run(new Where(), l.in("Condition"), l.in("X"), l.in("Y"))))
                .grad("onnx_where_grad(Condition, X, Y, Out@GRAD) -> X@GRAD, Y@GRAD").register(registry);
    }
}
