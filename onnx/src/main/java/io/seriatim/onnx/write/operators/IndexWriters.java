package io.seriatim.onnx.write.operators;

import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** What reads or writes elements at places that are computed. */
public final class IndexWriters {
    private IndexWriters() {
    }

    /** Adds the writers. */
    public static void register(OpWriters all) {
        all.add("gather", IndexWriters::gather);
        all.add("gather_nd", op -> op.out("Out",
                op.node("GatherND", op.in("X"), op.cast(op.in("Index"), DType.INT64))));
        all.add("index_select", op -> op.out("Out",
                op.node("Gather", Map.of("axis", op.attrs().getInt("dim")), op.in("X"), flat(op))));
        all.add("index_sample", op -> op.out("Out",
                op.node("GatherElements", Map.of("axis", 1), op.in("X"), op.in("Index"))));
        all.add("take_along_axis", op -> op.out("Result", op.node("GatherElements",
                Map.of("axis", op.attrs().getInt("Axis")), op.in("Input"), op.in("Index"))));
        all.add("lookup_table_v2", op -> op.out("Out", embedding(op, op.in("Ids"))));
        all.add("lookup_table", op -> op.out("Out", embedding(op,
                op.node("Squeeze", op.in("Ids"), op.ints(op.rank("Ids") - 1L)))));
        all.add("one_hot_v2", IndexWriters::oneHot);
        all.add("where_index", op -> op.out("Out",
                op.node("Transpose", Map.of("perm", new long[]{1, 0}), op.node("NonZero", op.in("Condition")))));
        all.add("masked_select", IndexWriters::maskedSelect);
        all.add("scatter", IndexWriters::scatter);
        all.add("scatter_nd_add", op -> op.out("Out", op.node("ScatterND", Map.of("reduction", "add"), op.in("X"),
                op.cast(op.in("Index"), DType.INT64), op.in("Updates"))));
        all.add("set_value", IndexWriters::setValue);
    }

    private static void gather(WrittenOp op) {
        if (op.has("Axis")) {
            throw op.error("computes its axis, which ONNX does not have");
        }
        op.out("Out", op.node("Gather", Map.of("axis", op.attrs().getInt("axis")), op.in("X"), flat(op)));
    }

    private static String flat(WrittenOp op) {
        return op.rank("Index") == 2 ? op.node("Reshape", op.in("Index"), op.ints(-1)) : op.in("Index");
    }

    /** The row of the padding index is read as zeros. */
    private static String embedding(WrittenOp op, String ids) {
        long padding = op.attrs().getLong("padding_idx");
        if (padding == -1) {
            return op.node("Gather", op.in("W"), ids);
        }
        String is = op.node("Equal", ids, op.scalar(op.dtype("Ids"), (double) padding));
        String rows = op.node("Gather", op.in("W"), op.node("Where", is, op.scalar(op.dtype("Ids"), 0), ids));
        return op.node("Where", op.node("Unsqueeze", is, op.ints(-1)), op.scalar(op.dtype("W"), 0), rows);
    }

    private static void oneHot(WrittenOp op) {
        DType dtype = op.attrs().getDType("dtype");
        String depth = op.has("depth_tensor")
                ? op.int64s(op.in("depth_tensor"))
                : op.ints(op.attrs().getInt("depth"));
        boolean scalar = op.rank("X") == 0;
        String x = op.cast(op.in("X"), DType.INT64);
        String numbers = op.node("OneHot", scalar ? op.node("Unsqueeze", x, op.ints(0)) : x, depth,
                op.graph().constant(Tensor.of(dtype, new double[]{0, 1}, 2)));
        op.out("Out", scalar ? op.node("Squeeze", numbers, op.ints(0)) : numbers);
    }

    private static void maskedSelect(WrittenOp op) {
        String mask = op.node("Expand", op.in("Mask"), op.node("Shape", op.in("X")));
        String x = op.node("Expand", op.in("X"), op.node("Shape", mask));
        op.out("Y", op.node("Compress", Map.of("axis", 0), op.node("Reshape", x, op.ints(-1)),
                op.node("Reshape", mask, op.ints(-1))));
    }

    private static void scatter(WrittenOp op) {
        if (!op.attrs().getBool("overwrite")) {
            throw op.error(
                    "sums updates over rows that it sets to 0 first (overwrite = false), which ONNX does not have");
        }
        String rows = op.node("Reshape", op.cast(op.in("Ids"), DType.INT64), op.ints(-1, 1));
        String updates = op.rank("Ids") == 0
                ? op.node("Unsqueeze", op.in("Updates"), op.ints(0))
                : op.in("Updates");
        op.out("Out", op.node("ScatterND", op.in("X"), rows, updates));
    }

    /** A slice is written to as to the places of its elements, so its axes must have known sizes. */
    private static void setValue(WrittenOp op) {
        long[] axes = op.attrs().getLongs("axes");
        long[] starts = op.attrs().getLongs("starts");
        long[] ends = op.attrs().getLongs("ends");
        long[] steps = op.attrs().getLongs("steps");
        long[] dims = op.dims("Input");
        boolean known = op.has("ValueTensor") && op.attrs().getLongs("none_axes").length == 0
                && starts.length == axes.length && ends.length == axes.length && steps.length == axes.length;
        for (int i = 0; known && i < axes.length; i++) {
            known = axes[i] == i && starts[i] >= 0 && ends[i] > starts[i] && steps[i] > 0 && dims[i] >= ends[i];
        }
        if (!known) {
            throw op.error("sets a part whose bounds are not constants within the first axes");
        }
        long[] counts = new long[axes.length];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = (ends[i] - starts[i] - 1) / steps[i] + 1;
        }
        int[] single = op.attrs().getInts("decrease_axes");
        List<Long> shape = new ArrayList<>();
        for (int i = 0; i < counts.length; i++) {
            int axis = i;
            if (IntStream.of(single).noneMatch(other -> other == axis)) {
                shape.add(counts[i]);
            }
        }
        for (int i = counts.length; i < dims.length; i++) {
            shape.add(dims[i]);
        }
        long[] updates = shape.stream().mapToLong(Long::longValue).toArray();
        long[] given = op.dims("ValueTensor");
        boolean fits = given.length == updates.length;
        for (int i = 0; fits && i < given.length; i++) {
            fits = given[i] == updates[i] || updates[i] < 0;
        }
        if (!fits) {
            throw op.error("sets a part to a value that is expanded to it");
        }
        long[] of = Arrays.copyOf(updates, updates.length - (dims.length - counts.length) + 1);
        of[of.length - 1] = counts.length;
        op.out("Out", op.node("ScatterND", op.in("Input"),
                op.graph().constant(Tensor.of(places(starts, steps, counts), of)), op.in("ValueTensor")));
    }

    /** Returns the index tuples of a slice, one after the other. */
    private static long[] places(long[] starts, long[] steps, long[] counts) {
        long[] tuples = new long[Math.toIntExact(Shape.of(counts).size() * counts.length)];
        long[] memory = Shape.of(counts).strides();
        for (int i = 0; i < tuples.length; i++) {
            int axis = i % counts.length;
            tuples[i] = starts[axis] + i / counts.length / memory[axis] % counts[axis] * steps[axis];
        }
        return tuples;
    }
}
