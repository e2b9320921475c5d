package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.ScatterNd;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Values that are written to places of a copy. */
final class ScatterSchemas {
    private ScatterSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_scatter_nd").in("X", "Index", "Updates").out("Out").attr("reduction", "none")
                .infer(ScatterSchemas::inferTuples).lower(ScatterSchemas::scatterTuples)
                .grad("onnx_scatter_nd_grad(X, Index, Updates, Out@GRAD) -> X@GRAD, Updates@GRAD").register(registry);
        Operation.define("onnx_tensor_scatter").in("X", "Updates", "Starts?").out("Out").attr("axis", 0)
                .attr("circular", false).infer(ScatterSchemas::inferRanges).lower(ScatterSchemas::scatterRanges)
                .register(registry);
    }

    private static void inferTuples(Inference inference) {
        long[] x = inference.dims("X");
        long[] index = inference.dims("Index");
        long depth = index.length == 0 ? -1 : index[index.length - 1];
        inference.require(depth >= 0 && depth <= x.length,
                "the last dimension of Index must be known and at most %d, but the shape is %s", x.length,
                Numbers.text(index));
        long[] expected = Arrays.copyOf(index, index.length - 1 + x.length - (int) depth);
        System.arraycopy(x, (int) depth, expected, index.length - 1, x.length - (int) depth);
        long[] updates = inference.dims("Updates");
        boolean fits = expected.length == updates.length;
        for (int i = 0; fits && i < updates.length; i++) {
            fits = expected[i] == updates[i] || expected[i] < 0 || updates[i] < 0;
        }
        inference.require(fits && inference.dtype("X") == inference.dtype("Updates"),
                "the updates must be %s of the shape %s", inference.dtype("X"), Numbers.text(expected));
        inference.same("X", "Out");
    }

    private static void scatterTuples(Lowering l) {
        ScatterNd.Function function = switch (l.attrs().getText("reduction")) {
            case "none" -> ScatterNd.Function.ASSIGN;
            case "mul" -> ScatterNd.Function.MULTIPLY;
            case "max" -> ScatterNd.Function.MAXIMUM;
            case "min" -> ScatterNd.Function.MINIMUM;
            case String other -> throw new IllegalArgumentException(
                    "the attribute reduction must be none, mul, max or min, but is '" + other + "'");
        };
        l.out("Out", l.run(new ScatterNd(function), l.in("X"), l.in("Index"), l.in("Updates")));
    }

    private static void inferRanges(Inference inference) {
        long[] x = inference.dims("X");
        long[] updates = inference.dims("Updates");
        int axis = inference.attrs().getInt("axis");
        boolean fits = x.length == updates.length && axis > 0;
        for (int i = 0; fits && i < x.length; i++) {
            fits = x[i] < 0 || updates[i] < 0 || (i == axis ? updates[i] <= x[i] : updates[i] == x[i]);
        }
        inference.require(fits, "the updates must have the shape of X but for axis %d, and axis 0 is the batch", axis);
        inference.same("X", "Out");
    }

    private static void scatterRanges(Lowering l) {
        int axis = l.attrs().getInt("axis");
        boolean circular = l.attrs().getBool("circular");
        Operand x = Copies.rowMajor(l, l.in("X"));
        Operand updates = Copies.rowMajor(l, l.in("Updates"));
        Operand result = Copies.temporary(l, x);
        List<Operand> in = l.has("Starts") ? List.of(x, updates, l.in("Starts")) : List.of(x, updates);
        l.call("onnx_tensor_scatter", (from, to) -> scatterRanges(axis, circular, from,
                Objects.requireNonNull(to.getFirst())), in, List.of(result));
        l.out("Out", result);
    }

    private static void scatterRanges(int axis, boolean circular, List<@Nullable Tensor> in, Tensor out) {
        Tensor x = Objects.requireNonNull(in.get(0));
        Tensor updates = Objects.requireNonNull(in.get(1));
        Tensor given = in.size() > 2 ? in.get(2) : null;
        Shape shape = x.shape();
        long batch = shape.dim(0);
        long[] starts = given == null ? new long[WorkingMemory.length(batch)] : given.toLongArray();
        long outer = 1;
        for (int i = 1; i < axis; i++) {
            outer *= shape.dim(i);
        }
        long inner = 1;
        for (int i = axis + 1; i < shape.rank(); i++) {
            inner *= shape.dim(i);
        }
        long length = shape.dim(axis);
        long steps = updates.shape().dim(axis);
        for (int b = 0; b < batch; b++) {
            if (starts.length != batch || starts[b] < 0 || (!circular && starts[b] > length - steps)) {
                throw new IllegalArgumentException("Operation 'onnx_tensor_scatter': " + steps + " elements from "
                        + (b < starts.length ? starts[b] : 0) + " do not fit into axis " + axis + " of length "
                        + length);
            }
        }
        Copies.into(x, out);
        long row = inner * x.dtype().bytes();
        for (int b = 0; b < batch; b++) {
            for (long slice = b * outer; slice < (b + 1) * outer; slice++) {
                for (long t = 0; t < steps; t++) {
                    MemorySegment.copy(updates.elements(), (slice * steps + t) * row, out.elements(),
                            (slice * length + (starts[b] % length + t) % length) * row, row);
                }
            }
        }
    }
}
