package io.seriatim.onnx.operators;

import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.translate.BlockBuilder;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import io.seriatim.onnx.node.Size;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Parts of values, by ranges and by indexes. */
public final class IndexOperators {
    private IndexOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.one("Slice", IndexOperators::slice);
        operators.one("Gather", IndexOperators::gather);
        operators.one("GatherElements", IndexOperators::gatherElements);
        operators.one("GatherND", IndexOperators::gatherNd);
        operators.one("Scatter", IndexOperators::scatterElements);
        operators.one("ScatterElements", IndexOperators::scatterElements);
        operators.one("ScatterND", IndexOperators::scatterNd);
        operators.one("TensorScatter", IndexOperators::tensorScatter);
        operators.one("Compress", IndexOperators::compress);
        operators.one("OneHot", IndexOperators::oneHot);
        operators.one("ReverseSequence", IndexOperators::reverseSequence);
    }

    private static Ref slice(Node node) {
        Ref x = node.input(0);
        boolean former = node.version() < 10;
        long[] starts = former ? node.integers("starts") : node.integers(1);
        long[] ends = former ? node.integers("ends") : node.integers(2);
        long[] axes = former ? node.integers("axes") : node.has(3) ? node.integers(3) : null;
        if (!former && node.has(3) && axes == null) {
            return node.op("onnx_slice").in("X", x).in("Starts", node.input(1)).in("Ends", node.input(2))
                    .in("Axes", node.input(3)).maybe("Steps", node.maybe(4)).out("Out");
        }
        if (!former && starts == null && axes == null && length(node.input(1)) < 0) {
            // The first axes, as many as there are starts.
            BlockBuilder block = node.block();
            Ref first = node.op("range").in("Start", block.integers(DType.INT64, 0))
                    .in("End", block.length(node.input(1), 0)).in("Step", block.integers(DType.INT64, 1)).out("Out");
            return node.op("onnx_slice").in("X", x).in("Starts", node.input(1)).in("Ends", node.input(2))
                    .in("Axes", first).maybe("Steps", node.maybe(4)).out("Out");
        }
        long[] steps = former || !node.has(4) ? null : node.integers(4);
        boolean isKnown = starts != null && ends != null && (former || !node.has(4) || steps != null);
        long given = starts != null ? starts.length : axes != null ? axes.length : length(node.input(1));
        int count = given < 0 || given > x.rank() ? -1 : (int) given;
        if (count < 0 || (axes != null && axes.length != count)
                || (ends != null && ends.length != count)
                || (steps != null && steps.length != count)) {
            throw node.error("starts, ends, axes and steps need one number for each axis, at most %d", x.rank());
        }
        int[] counted = axes == null
                ? IntStream.range(0, count).toArray()
                : Arrays.stream(axes).mapToInt(axis -> node.axis(axis, x.rank())).toArray();
        if (Arrays.stream(counted).distinct().count() < count) {
            throw node.error("an axis is sliced once, but axes are %s", Numbers.text(axes));
        }
        if (isKnown && starts != null && ends != null && isPlain(x, counted, starts, ends, steps)) {
            int[] from = new int[count];
            int[] to = new int[count];
            for (int i = 0; i < count; i++) {
                from[i] = Math.clamp(starts[i], Integer.MIN_VALUE, Integer.MAX_VALUE);
                to[i] = Math.clamp(ends[i], Integer.MIN_VALUE, Integer.MAX_VALUE);
            }
            return node.op("slice").in("Input", x).attr("axes", counted).attr("starts", from).attr("ends", to)
                    .out("Out");
        }
        Ref begin = former ? bounds(node, "starts", starts) : node.input(1);
        Ref end = former ? bounds(node, "ends", ends) : node.input(2);
        return node.op("onnx_slice").in("X", x).in("Starts", begin).in("Ends", end)
                .maybe("Steps", former ? null : node.maybe(4)).attr("axes", counted).out("Out");
    }

    private static long length(Ref numbers) {
        return numbers.rank() == 1 ? numbers.dim(0) : -1;
    }

    private static Ref bounds(Node node, String name, long @Nullable [] bounds) {
        if (bounds == null) {
            throw node.error("needs the attribute '%s'", name);
        }
        return node.block().integers(DType.INT64, bounds);
    }

    /** Whether all steps are 1 and no end can lie before its start, so that Paddle's slice means the same. */
    private static boolean isPlain(Ref x, int[] axes, long[] starts, long[] ends, long @Nullable [] steps) {
        for (int i = 0; i < axes.length; i++) {
            long length = x.dim(axes[i]);
            boolean sameSide = starts[i] < 0 == ends[i] < 0;
            long from = starts[i] < 0 ? Math.max(0, starts[i] + length) : starts[i];
            long to = ends[i] < 0 ? Math.max(0, ends[i] + length) : ends[i];
            boolean leads = length >= 0
                    ? from < to && from < length
                    : (sameSide && starts[i] < ends[i]) || (starts[i] == 0 && ends[i] > 0)
                            || (starts[i] < 0 && ends[i] >= Integer.MAX_VALUE);
            if ((steps != null && steps[i] != 1) || !leads) {
                return false;
            }
        }
        return true;
    }

    /** Indexes of which negative ones count from the end of an axis, as indexes from the front. */
    static Ref fromFront(Node node, Ref indexes, Ref x, int axis) {
        return fromFront(node, indexes, List.of(Size.of(node.block(), x, axis)));
    }

    /** Indexes into as many axes as their last dimension has elements, or into one. */
    private static Ref fromFront(Node node, Ref indexes, List<Size> lengths) {
        BlockBuilder block = node.block();
        if (indexes.dtype() != DType.INT32 && indexes.dtype() != DType.INT64) {
            throw node.error("indexes are int32 or int64, but are %s", indexes.dtype());
        }
        Tensor known = block.model().value(indexes);
        if (known != null && Arrays.stream(known.toLongArray()).allMatch(index -> index >= 0)) {
            return indexes;
        }
        Ref length = block.cast(Size.tensor(block, lengths), indexes.dtype());
        Ref negative = block.cast(block.binary("less_than", indexes, block.scalar(indexes.dtype(), 0)),
                indexes.dtype());
        if (lengths.size() == 1 && indexes.rank() == 0) {
            length = block.reshape(length);
        }
        return block.binary("elementwise_add", indexes, block.binary("elementwise_mul", negative, length));
    }

    private static Ref gather(Node node) {
        Ref x = node.input(0);
        BlockBuilder block = node.block();
        int axis = node.axis(node.integer("axis", 0), x.rank());
        Ref range = range(node, x, axis);
        if (range != null) {
            return range;
        }
        Ref indexes = fromFront(node, node.input(1), x, axis);
        if (indexes.rank() == 1) {
            return node.op("gather").in("X", x).in("Index", indexes).attr("axis", axis).out("Out");
        }
        if (indexes.rank() == 0) {
            Ref one = node.op("gather").in("X", x).in("Index", block.reshape(indexes, 1)).attr("axis", axis)
                    .out("Out");
            return block.squeeze(one, axis);
        }
        if (x.rank() == 2 && axis == 0) {
            return node.op("lookup_table_v2").in("W", x).in("Ids", indexes).out("Out");
        }
        List<Size> sizes = new ArrayList<>(Size.all(block, x));
        sizes.remove(axis);
        sizes.addAll(axis, Size.all(block, indexes));
        Ref flat = node.op("gather").in("X", x).in("Index", block.reshape(indexes, -1)).attr("axis", axis).out("Out");
        return Size.reshape(block, flat, sizes);
    }

    /**
     * Constant places that follow one another are a slice, which needs no copy where a view will do. Vectors are left
     * as they are, since most are shapes.
     */
    private static @Nullable Ref range(Node node, Ref x, int axis) {
        long[] places = node.input(1).rank() <= 1 && x.rank() >= 2 ? node.integers(1) : null;
        long length = x.dim(axis);
        if (places == null || places.length == 0 || length < 0) {
            return null;
        }
        long first = places[0] < 0 ? places[0] + length : places[0];
        for (int i = 0; i < places.length; i++) {
            if ((places[i] < 0 ? places[i] + length : places[i]) != first + i) {
                return null;
            }
        }
        if (first < 0 || first + places.length > length) {
            return null;
        }
        Ref slice = places.length == length ? x : node.block().slice(x, axis, first, first + places.length);
        return node.input(1).rank() == 0 ? node.block().squeeze(slice, axis) : slice;
    }

    private static Ref gatherElements(Node node) {
        Ref x = node.input(0);
        int axis = node.axis(node.integer("axis", 0), x.rank());
        return node.op("take_along_axis").in("Input", x).in("Index", fromFront(node, node.input(1), x, axis))
                .attr("Axis", axis).out("Result");
    }

    /** The indexes, whose last dimension has as many elements as they go into axes. */
    private static Ref deep(Node node, int depth) {
        Ref indexes = node.input(1);
        if (indexes.rank() == 0 || indexes.dim(-1) >= 0 || depth < 1) {
            return indexes;
        }
        long[] dims = new long[indexes.rank()];
        dims[dims.length - 1] = depth;
        return node.block().reshape(indexes, dims);
    }

    private static Ref gatherNd(Node node) {
        Ref x = node.input(0);
        BlockBuilder block = node.block();
        int batch = node.int32("batch_dims", 0);
        int rank = node.input(1).rank();
        int declared = node.declaredRank();
        Ref given = deep(node, declared < 0 ? -1 : rank - 1 + x.rank() - batch - declared);
        long depth = rank == 0 ? -1 : given.dim(rank - 1);
        if (batch < 0 || batch >= Math.min(x.rank(), rank) || depth < 1 || depth > x.rank() - batch) {
            throw node.error("batch_dims is %d, the data have %s and the indexes %s: the last dimension of the indexes "
                    + "must be known and at most the rank of the data less batch_dims", batch,
                    Numbers.text(x.dims()), Numbers.text(given.dims()));
        }
        List<Size> data = Size.all(block, x);
        Ref indexes = fromFront(node, given, data.subList(batch, batch + (int) depth));
        if (batch == 0) {
            return node.op("gather_nd").in("X", x).in("Index", indexes).out("Out");
        }
        List<Ref> columns = new ArrayList<>();
        List<Size> places = new ArrayList<>(Size.all(block, indexes).subList(0, rank - 1));
        places.add(new Size.Known(1));
        for (int i = 0; i < batch; i++) {
            Ref range = node.op("range").in("Start", block.integers(indexes.dtype(), 0))
                    .in("End", block.cast(data.get(i).tensor(block), indexes.dtype()))
                    .in("Step", block.integers(indexes.dtype(), 1)).out("Out");
            long[] dims = new long[rank];
            Arrays.fill(dims, 1);
            dims[i] = -1;
            columns.add(node.op("onnx_expand").in("X", block.reshape(range, dims))
                    .in("Shape", Size.tensor(block, places)).out("Out"));
        }
        columns.add(indexes);
        Ref all = block.concat(rank - 1, columns);
        if (all.dim(rank - 1) < 0) {
            // The sizes of the columns are values of the run, but their number is known; 0 keeps a size.
            long[] dims = new long[rank];
            dims[rank - 1] = batch + depth;
            all = block.reshape(all, dims);
        }
        return node.op("gather_nd").in("X", x).in("Index", all).out("Out");
    }

    private static String reduction(Node node) {
        String reduction = node.text("reduction", "none");
        if (!List.of("none", "add", "mul", "max", "min").contains(reduction)) {
            throw node.error("the attribute 'reduction' is none, add, mul, max or min, but is '%s'", reduction);
        }
        return reduction;
    }

    private static Ref scatterElements(Node node) {
        Ref x = node.input(0);
        int axis = node.axis(node.integer("axis", 0), x.rank());
        String reduce = switch (reduction(node)) {
            case "none" -> "assign";
            case "max" -> "amax";
            case "min" -> "amin";
            case String other -> other;
        };
        return node.op("put_along_axis").in("Input", x).in("Index", fromFront(node, node.input(1), x, axis))
                .in("Value", node.input(2)).attr("Axis", axis).attr("Reduce", reduce).out("Result");
    }

    private static Ref scatterNd(Node node) {
        Ref x = node.input(0);
        Ref given = deep(node, node.input(1).rank() - 1 + x.rank() - node.input(2).rank());
        long depth = given.rank() == 0 ? -1 : given.dim(-1);
        if (depth < 1 || depth > x.rank()) {
            throw node.error("the last dimension of the indexes must be known and at most %d, but they have %s",
                    x.rank(), Numbers.text(given.dims()));
        }
        Ref indexes = fromFront(node, given, Size.all(node.block(), x).subList(0, (int) depth));
        String reduction = reduction(node);
        Tensor known = node.block().model().value(indexes);
        IndexedSlice slice = known == null || !reduction.equals("none") ? null : IndexedSlice.of(known);
        if (slice != null && slice.isWithin(x.dims())) {
            return node.op("set_value").in("Input", x).in("ValueTensor", node.input(2)).attr("dtype", x.dtype())
                    .attr("axes", slice.axes()).attr("starts", slice.starts()).attr("ends", slice.ends())
                    .attr("steps", slice.steps()).attr("decrease_axes", slice.single()).out("Out");
        }
        return reduction.equals("add")
                ? node.op("scatter_nd_add").in("X", x).in("Index", indexes).in("Updates", node.input(2)).out("Out")
                : node.op("onnx_scatter_nd").in("X", x).in("Index", indexes).in("Updates", node.input(2))
                        .attr("reduction", reduction).out("Out");
    }

    private static Ref tensorScatter(Node node) {
        String mode = node.text("mode", "linear");
        if (!mode.equals("linear") && !mode.equals("circular")) {
            throw node.error("the attribute 'mode' is linear or circular, but is '%s'", mode);
        }
        return node.op("onnx_tensor_scatter").in("X", node.input(0)).in("Updates", node.input(1))
                .maybe("Starts", node.maybe(2))
                .attr("axis", node.axis(node.integer("axis", -2), node.input(0).rank()))
                .attr("circular", mode.equals("circular")).out("Out");
    }

    private static Ref compress(Node node) {
        BlockBuilder block = node.block();
        boolean flat = !node.hasAttribute("axis");
        Ref x = flat ? block.reshape(node.input(0), -1) : node.input(0);
        int axis = flat ? 0 : node.axis(node.integer("axis", 0), x.rank());
        // Conditions beyond the axis do not count.
        Ref length = block.length(x, axis);
        Ref condition = block.op("slice").in("Input", node.input(1)).in("EndsTensor", block.reshape(length, 1))
                .attr("axes", new int[]{0}).attr("starts", new int[]{0}).attr("ends", new int[]{-1}).out("Out");
        Ref places = block.reshape(node.op("where_index").in("Condition", condition).out("Out"), -1);
        return node.op("gather").in("X", x).in("Index", places).attr("axis", axis).out("Out");
    }

    private static Ref oneHot(Node node) {
        Ref indexes = node.input(0);
        Ref depth = node.input(1);
        BlockBuilder block = node.block();
        return node.op("onnx_one_hot").in("Indices", block.cast(indexes, DType.INT64))
                .in("Depth", block.cast(depth, DType.INT64)).in("Values", node.input(2))
                .attr("axis", node.axis(node.integer("axis", -1), indexes.rank() + 1)).out("Out");
    }

    private static Ref reverseSequence(Node node) {
        Ref x = node.input(0);
        int time = node.axis(node.integer("time_axis", 0), x.rank());
        int batch = node.axis(node.integer("batch_axis", 1), x.rank());
        if (time + batch != 1) {
            throw node.error("one of the attributes time_axis and batch_axis is 0, the other 1, but they are %d and %d",
                    time, batch);
        }
        return node.op("onnx_reverse_sequence").in("X", x).in("Lengths", node.input(1)).attr("axis", time).out("Out");
    }

}
