package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.GatherNd;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
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
        String reduction = l.attrs().getText("reduction");
        Operand x = Copies.rowMajor(l, l.in("X"));
        Operand result = Copies.temporary(l, x);
        Step.HostFunction function = (in, out) -> scatterTuples(reduction, in, Objects.requireNonNull(out.getFirst()));
        l.call("onnx_scatter_nd",
                reduction.equals("none") ? new Step.Differentiable(function, ScatterSchemas::gradients) : function,
                List.of(x, l.in("Index"), Copies.rowMajor(l, l.in("Updates"))), List.of(result));
        l.out("Out", result);
    }

    private static List<@Nullable Operand> gradients(Lowering l, List<Operand> inputs, List<Operand> outputs,
            List<@Nullable Operand> gradients) {
        Operand dout = gradients.getFirst();
        @Nullable
        Operand[] all = new @Nullable Operand[3];
        if (dout != null) {
            Operand cleared = Copies.temporary(l, dout);
            Operand zeros = l.fill(0, inputs.get(2).spec());
            l.call("onnx_scatter_nd",
                    (in, out) -> scatterTuples("none", in, Objects.requireNonNull(out.getFirst())),
                    List.of(Copies.rowMajor(l, dout), inputs.get(1), zeros), List.of(cleared));
            all[0] = cleared;
            all[2] = l.run(new GatherNd(), dout, inputs.get(1));
        }
        return Arrays.asList(all);
    }

    private static void scatterTuples(String reduction, List<@Nullable Tensor> in, Tensor out) {
        Tensor x = Objects.requireNonNull(in.get(0));
        Tensor index = Objects.requireNonNull(in.get(1));
        Tensor updates = Objects.requireNonNull(in.get(2));
        long[] tuples = index.toLongArray();
        Shape shape = x.shape();
        int depth = (int) index.shape().dim(index.shape().rank() - 1);
        long slice = 1;
        for (int i = depth; i < shape.rank(); i++) {
            slice *= shape.dim(i);
        }
        List<Place> places = new ArrayList<>();
        long count = depth == 0 ? index.shape().size() : tuples.length / depth;
        for (int k = 0; k < count; k++) {
            long at = 0;
            for (int i = 0; i < depth; i++) {
                long place = tuples[k * depth + i];
                if (place < 0 || place >= shape.dim(i)) {
                    throw new IndexRangeException("Operation 'onnx_scatter_nd': index " + place
                            + " is not within axis " + i + " of length " + shape.dim(i));
                }
                at = at * shape.dim(i) + place;
            }
            places.add(new Place(at * slice, k * slice));
        }
        write(reduction, x, updates, slice, places, out);
    }

    /** Where some elements of the updates belong. */
    private record Place(long to, long from) {
    }

    private static void write(String reduction, Tensor x, Tensor updates, long length, List<Place> places, Tensor out) {
        if (reduction.equals("none")) {
            Copies.into(x, out);
            MemorySegment from = updates.elements();
            long bytes = x.dtype().bytes();
            MemorySegment memory = out.elements();
            for (Place place : places) {
                MemorySegment.copy(from, place.from() * bytes, memory, place.to() * bytes, length * bytes);
            }
        } else if (x.dtype().isFloating()) {
            double[] values = x.toDoubleArray();
            double[] more = updates.toDoubleArray();
            for (Place place : places) {
                for (int i = 0; i < length; i++) {
                    int at = Math.toIntExact(place.to() + i);
                    values[at] = reduced(reduction, values[at], more[Math.toIntExact(place.from() + i)]);
                }
            }
            Copies.into(Tensor.of(x.dtype(), values, x.shape().dims()), out);
        } else {
            long[] values = x.toLongArray();
            long[] more = updates.toLongArray();
            for (Place place : places) {
                for (int i = 0; i < length; i++) {
                    int at = Math.toIntExact(place.to() + i);
                    values[at] = reduced(reduction, x.dtype(), values[at], more[Math.toIntExact(place.from() + i)]);
                }
            }
            Copies.into(Tensor.of(x.dtype(), values, x.shape().dims()), out);
        }
    }

    private static double reduced(String reduction, double a, double b) {
        return switch (reduction) {
            case "mul" -> a * b;
            case "max" -> Math.max(a, b);
            default -> Math.min(a, b);
        };
    }

    private static long reduced(String reduction, DType dtype, long a, long b) {
        boolean less = dtype == DType.UINT64 ? Long.compareUnsigned(a, b) < 0 : a < b;
        return switch (reduction) {
            case "mul" -> a * b;
            case "max" -> less ? b : a;
            default -> less ? a : b;
        };
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
        List<Place> places = new ArrayList<>();
        for (int b = 0; b < batch; b++) {
            if (starts.length != batch || starts[b] < 0 || (!circular && starts[b] > length - steps)) {
                throw new IllegalArgumentException("Operation 'onnx_tensor_scatter': " + steps + " elements from "
                        + (b < starts.length ? starts[b] : 0) + " do not fit into axis " + axis + " of length "
                        + length);
            }
            for (long o = 0; o < outer; o++) {
                for (long t = 0; t < steps; t++) {
                    places.add(new Place(((b * outer + o) * length + (starts[b] % length + t) % length) * inner,
                            ((b * outer + o) * steps + t) * inner));
                }
            }
        }
        write("none", x, updates, inner, places, out);
    }
}
