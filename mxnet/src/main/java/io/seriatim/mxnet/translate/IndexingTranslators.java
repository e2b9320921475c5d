package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.List;

/** Elements that are found by tensors of indexes. MXNet's indexes are of any type, often float32. */
final class IndexingTranslators {
    private IndexingTranslators() {
    }

    static void register(Translators table) {
        table.one(IndexingTranslators::embedding, "Embedding", "_contrib_SparseEmbedding");
        table.one(IndexingTranslators::take, "take");
        table.one(IndexingTranslators::batchTake, "batch_take", "choose_element_0index");
        table.one(IndexingTranslators::pick, "pick");
        table.one(IndexingTranslators::gatherNd, "gather_nd");
        table.one(IndexingTranslators::oneHot, "one_hot", "_onehot_encode");
        table.one(IndexingTranslators::where, "where");
        table.one(IndexingTranslators::masked, "_contrib_boolean_mask");
    }

    private static String whole(NodeInputs node, String x) {
        DType dtype = node.dtype(x);
        return dtype == DType.INT32 || dtype == DType.INT64 ? x : node.ops().cast(x, DType.INT64);
    }

    /** Indexes out of range go to the first or the last row. */
    private static String clipped(NodeInputs node, String index, String x, int axis) {
        Ops ops = node.ops();
        DType dtype = node.dtype(index);
        long length = node.dims(x)[axis];
        String last = length > 0
                ? ops.constant(dtype, (double) length - 1, 1)
                : ops.scale(ExpansionTranslators.length(node, x, axis, dtype), 1, -1);
        return ops.binary("elementwise_max", ops.binary("elementwise_min", index, last), ops.constant(dtype, 0, 1));
    }

    /** Indexes count modulo the number of rows; those below 0 from the end. */
    private static String wrapped(NodeInputs node, String index, String x, int axis) {
        return node.ops().binary("elementwise_mod", index,
                ExpansionTranslators.length(node, x, axis, node.dtype(index)));
    }

    private static String embedding(NodeInputs node) {
        String ids = clipped(node, whole(node, node.in(0)), node.in(1), 0);
        return node.op("lookup_table_v2").in("W", node.in(1)).in("Ids", ids).one("Out");
    }

    private static String take(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        String x = node.in(0);
        int axis = node.axis(x, attributes.integer("axis", 0));
        String whole = whole(node, node.in(1));
        String mode = attributes.text("mode", "clip");
        String index = switch (mode) {
            case "clip" -> clipped(node, whole, x, axis);
            case "wrap" -> wrapped(node, whole, x, axis);
            case "raise" -> whole;
            default -> throw attributes.wrong("mode", "clip, wrap or raise");
        };
        int rank = node.rank(index);
        if (rank == 1) {
            return ops.op("gather").in("X", x).in("Index", index).attr("axis", axis).one("Out");
        }
        String flat = ops.op("gather").in("X", x).in("Index", ops.reshape(index, -1)).attr("axis", axis).one("Out");
        String shape = ops.shape(x);
        List<String> parts = new ArrayList<>();
        if (axis > 0) {
            parts.add(ops.slice(shape, 0, 0, axis));
        }
        parts.add(ops.shape(index));
        if (axis < node.rank(x) - 1) {
            parts.add(ops.slice(shape, 0, axis + 1L, node.rank(x)));
        }
        return ops.reshape(flat, ops.concat(0, parts));
    }

    private static String batchTake(NodeInputs node) {
        Ops ops = node.ops();
        String index = clipped(node, ops.reshape(whole(node, node.in(1)), -1, 1), node.in(0), 1);
        return ops.reshape(ops.op("take_along_axis").in("Input", node.in(0)).in("Index", index).attr("Axis", 1)
                .one("Result"), -1);
    }

    private static String pick(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        String x = node.in(0);
        int rank = node.rank(x);
        int axis = node.axis(x, attributes.integer("axis", -1));
        String whole = whole(node, node.in(1));
        String column = node.rank(whole) == rank ? whole : ops.unsqueeze(whole, axis);
        String mode = attributes.text("mode", "clip");
        String index = switch (mode) {
            case "clip" -> clipped(node, column, x, axis);
            case "wrap" -> wrapped(node, column, x, axis);
            default -> throw attributes.wrong("mode", "clip or wrap");
        };
        String picked = ops.op("take_along_axis").in("Input", x).in("Index", index).attr("Axis", axis).one("Result");
        return attributes.flag("keepdims", false)
                ? picked
                : rank == 1 ? ops.reshape(picked, 1) : ops.squeeze(picked, axis);
    }

    /** MXNet has the coordinates in the first dimension, Paddle in the last. */
    private static String gatherNd(NodeInputs node) {
        Ops ops = node.ops();
        int rank = node.rank(node.in(1));
        String index = ops.transpose(whole(node, node.in(1)), Ops.moved(rank, 0, rank - 1));
        return ops.op("gather_nd").in("X", node.in(0)).in("Index", index).one("Out");
    }

    private static String oneHot(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        double on = attributes.real("on_value", 1);
        double off = attributes.real("off_value", 0);
        String hot = ops.op("one_hot_v2").in("X", whole(node, node.in(0))).attr("depth", attributes.integer("depth"))
                .attr("allow_out_of_range", true).one("Out");
        String typed = ops.cast(hot, attributes.dtype("dtype", DType.FLOAT32));
        if (on == 1 && off == 0) {
            return typed;
        }
        String others = ops.scale(ops.scale(typed, -1, 1), off, 0);
        return ops.binary("elementwise_add", ops.scale(typed, on, 0), others);
    }

    private static String where(NodeInputs node) {
        Ops ops = node.ops();
        String condition = BinaryTranslators.isTrue(node, node.in(0));
        int rank = node.rank(node.in(1));
        if (node.rank(condition) < rank) {
            // A vector chooses among rows.
            condition = ops.unsqueeze(condition, Ops.range(1, rank));
            condition = ops.broadcastLike(condition, node.in(1));
        }
        // States of recurrent networks begin as constants of which the batch is not known.
        String x = node.openDims(node.in(1)) == null ? node.in(1) : ops.broadcastLike(node.in(1), condition);
        String y = node.openDims(node.in(2)) == null ? node.in(2) : ops.broadcastLike(node.in(2), condition);
        return ops.where(condition, x, y);
    }

    private static String masked(NodeInputs node) {
        if (node.attributes().integer("axis", 0) != 0) {
            throw node.attributes().wrong("axis", "0");
        }
        Ops ops = node.ops();
        String places = ops.op("where_index").in("Condition", BinaryTranslators.isTrue(node, node.in(1))).one("Out");
        return ops.op("gather").in("X", node.in(0)).in("Index", ops.reshape(places, -1)).attr("axis", 0).one("Out");
    }
}
