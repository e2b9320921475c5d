package io.seriatim.graph.ops.control;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import java.util.List;
import java.util.stream.Stream;

/** Lists of tensors (arrays), which loops write and read. */
public final class TensorListOperations {
    private TensorListOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("write_to_array").in("X", "I").out("Out").changesInPlace(op -> op.output("Out"))
                .infer(inference -> {
                    index(inference);
                    inference.set("Out", 0, ArgType.array(inference.dtype("X"), inference.dims("X")));
                }).grad("read_from_array(X=Out@GRAD, I, X_W=X) -> Out=X@GRAD").register(registry);
        Operation.define("read_from_array").in("X", "I", "X_W?").out("Out").changesInPlace(TensorListOperations::taken)
                .infer(inference -> {
                    index(inference);
                    list(inference);
                    inference.set("Out", inference.dtype("X"), inference.dims("X"));
                }).grad("write_to_array(X=Out@GRAD, I) -> Out=X@GRAD").register(registry);
        Operation.define("lod_array_length").in("X").out("Out").infer(inference -> {
            list(inference);
            inference.set("Out", DType.INT64, 1);
        }).register(registry);
        Operation.define("tensor_array_to_tensor").in("X").out("Out", "OutIndex").attr("axis", 0)
                .attr("use_stack", false)
                .infer(inference -> {
                    list(inference);
                    inference.set("Out", inference.dtype("X"), joined(inference));
                    inference.set("OutIndex", DType.INT32, -1);
                }).grad("tensor_array_to_tensor_grad(X, Out@GRAD) -> X@GRAD").register(registry);
        Operation.define("tensor_array_to_tensor_grad").in("X", "Out@GRAD").out("X@GRAD").attr("axis", 0)
                .attr("use_stack", false)
                .infer(inference -> {
                    list(inference);
                    inference.same("X", "X@GRAD");
                }).register(registry);
    }

    /** The gradient of writing an element takes it out of the list; its result may be the list itself. */
    private static List<String> taken(OpDesc op) {
        return op.input("X_W").isEmpty()
                ? List.of()
                : Stream.concat(op.input("X").stream(), op.output("Out").stream()).toList();
    }

    private static void index(Inference inference) {
        long size = Inference.size(inference.dims("I"));
        inference.require(!inference.dtype("I").isFloating() && (size == 1 || size < 0),
                "the index must be one whole number, but is %s",
                inference.in("I"));
    }

    private static void list(Inference inference) {
        inference.require(inference.in("X").kind() == ArgType.Kind.ARRAY,
                "X must be a list of tensors (an array), but is %s",
                inference.in("X"));
    }

    private static long[] joined(Inference inference) {
        long[] dims = inference.dims("X");
        int rank = dims.length + (inference.attrs().getBool("use_stack") ? 1 : 0);
        int axis = inference.attrs().getInt("axis");
        inference.require(axis >= -rank && axis < rank, "the axis must be from %d to %d, but is %d", -rank, rank - 1,
                axis);
        int at = axis < 0 ? axis + rank : axis;
        long[] joined = new long[rank];
        for (int i = 0; i < rank; i++) {
            joined[i] = i == at ? -1 : dims[rank > dims.length && i > at ? i - 1 : i];
        }
        return joined;
    }
}
