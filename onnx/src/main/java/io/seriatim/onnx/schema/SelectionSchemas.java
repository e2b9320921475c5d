package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.TakeAlongAxis;
import io.seriatim.tensor.computation.Where;
import java.util.Arrays;
import java.util.stream.LongStream;

/** One-hot rows, and sequences in reverse. */
final class SelectionSchemas {
    private SelectionSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_one_hot").in("Indices", "Depth", "Values").out("Out").attr("axis", -1).values("Depth")
                .infer(SelectionSchemas::inferOneHot).lower(SelectionSchemas::oneHot)
                .grad("onnx_one_hot_grad(Indices, Depth, Values, Out@GRAD) -> Values@GRAD").register(registry);
        Operation.define("onnx_reverse_sequence").in("X", "Lengths").out("Out").attr("axis", 0)
                .infer(SelectionSchemas::inferReversed).lower(SelectionSchemas::reverse)
                .grad("onnx_reverse_sequence_grad(X, Lengths, Out@GRAD) -> X@GRAD").register(registry);
    }

    private static void inferOneHot(Inference inference) {
        long[] indices = inference.dims("Indices");
        int axis = inference.attrs().getInt("axis");
        long[] depth = inference.values("Depth");
        inference.require(depth == null || (depth.length == 1 && depth[0] >= 0),
                "Depth must be one number from 0 on, but is %s", Numbers.text(depth));
        long[] values = inference.dims("Values");
        inference.require(values.length == 1 && (values[0] == 2 || values[0] < 0),
                "Values must be two numbers, but has the shape %s", Numbers.text(values));
        long[] dims = new long[indices.length + 1];
        System.arraycopy(indices, 0, dims, 0, axis);
        dims[axis] = depth == null ? -1 : depth[0];
        System.arraycopy(indices, axis, dims, axis + 1, indices.length - axis);
        inference.set("Out", inference.dtype("Values"), dims);
    }

    private static void oneHot(Lowering l) {
        long[] dims = l.outType("Out", 0).dims();
        int axis = l.attrs().getInt("axis");
        long depth = dims[axis];
        Operand indices = l.in("Indices");
        Operand negative = l.cast(l.binary(Binary.Function.LESS, indices, l.number(DType.INT64, 0)), DType.INT64);
        Operand places = l.binary(Binary.Function.ADD, indices, l.linear(negative, (double) depth, 0)).unsqueeze(axis);
        long[] alone = new long[dims.length];
        Arrays.fill(alone, 1);
        alone[axis] = depth;
        Operand range =
                l.constant(Tensor.of(LongStream.range(0, l.arrayLength("its indexes", depth)).toArray(), alone));
        Operand chosen = l.binary(Binary.Function.EQUAL, places, range);
        Operand values = l.in("Values");
        l.out("Out", l.run(new Where(), chosen, values.select(0, 1), values.select(0, 0)));
    }

    private static void inferReversed(Inference inference) {
        long[] x = inference.dims("X");
        long[] lengths = inference.dims("Lengths");
        int axis = inference.attrs().getInt("axis");
        inference.require(
                x.length >= 2 && lengths.length == 1
                        && (lengths[0] == x[1 - axis] || lengths[0] < 0 || x[1 - axis] < 0),
                "Lengths must have one number for each sequence, but X is %s and Lengths %s", Numbers.text(x),
                Numbers.text(lengths));
        inference.same("X", "Out");
    }

    private static void reverse(Lowering l) {
        int axis = l.attrs().getInt("axis");
        Operand x = l.in("X");
        long[] alone = new long[x.rank()];
        Arrays.fill(alone, 1);
        alone[axis] = x.dim(axis);
        Operand range =
                l.constant(Tensor.of(LongStream.range(0, l.arrayLength("its indexes", x.dim(axis))).toArray(), alone));
        alone[axis] = 1;
        alone[1 - axis] = x.dim(1 - axis);
        Operand lengths = l.reshape(l.cast(l.in("Lengths"), DType.INT64), alone);
        Operand last = l.linear(lengths, 1, -1);
        Operand inside = l.binary(Binary.Function.LESS_EQUAL, range, last);
        Operand places = l.run(new Where(), inside, l.binary(Binary.Function.SUBTRACT, last, range), range);
        l.out("Out", l.run(new TakeAlongAxis(axis), x, l.expand(places, Shape.of(x.shape().dims()))));
    }
}
