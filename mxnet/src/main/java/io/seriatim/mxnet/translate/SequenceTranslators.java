package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.Arrays;

/** Sequences of different lengths, padded to one length: time is the first dimension unless an attribute says. */
final class SequenceTranslators {
    private SequenceTranslators() {
    }

    static void register(Translators table) {
        table.one(SequenceTranslators::mask, "SequenceMask");
        table.one(SequenceTranslators::last, "SequenceLast");
        table.one(SequenceTranslators::reversed, "SequenceReverse");
    }

    private static boolean hasLengths(NodeInputs node) {
        return node.attributes().flag("use_sequence_length", false) && node.count() > 1;
    }

    /** 0 or 1. */
    private static int time(NodeInputs node) {
        int axis = node.attributes().integer("axis", 0);
        if (axis != 0 && axis != 1) {
            throw node.attributes().wrong("axis", "0 or 1");
        }
        return axis;
    }

    /**
     * Whether a place on an axis is below the length of its sequence, for each element of a tensor. The lengths have
     * its dimensions without that axis, or the first of them.
     */
    static String below(NodeInputs node, String x, int axis, String lengths) {
        Ops ops = node.ops();
        int rank = node.rank(x);
        String whole = ops.cast(lengths, DType.INT64);
        int given = node.rank(whole);
        String expanded = given < rank - 1 ? ops.unsqueeze(whole, Ops.range(given, rank - 1)) : whole;
        String bound = ops.unsqueeze(expanded, axis);
        String places = ops.reshape(ops.indexes(x, axis, DType.INT64), alone(rank, axis));
        String inside = ops.binary("less_than", places, bound);
        return ops.broadcastLike(inside, x);
    }

    private static long[] alone(int rank, int axis) {
        long[] dims = new long[rank];
        Arrays.fill(dims, 1);
        dims[axis] = -1;
        return dims;
    }

    private static String mask(NodeInputs node) {
        if (!hasLengths(node)) {
            return node.in(0);
        }
        Ops ops = node.ops();
        String x = node.in(0);
        String other = ops.op("fill_any_like").in("X", x)
                .attr("value", (float) node.attributes().real("value", 0)).one("Out");
        return ops.where(below(node, x, time(node), node.in(1)), x, other);
    }

    /** The last step of each sequence. */
    private static String last(NodeInputs node) {
        Ops ops = node.ops();
        String x = node.in(0);
        int time = time(node);
        if (!hasLengths(node)) {
            return ops.select(x, time, -1);
        }
        int rank = node.rank(x);
        String place = ops.scale(ops.cast(node.in(1), DType.INT64), 1, -1);
        String index = ops.unsqueeze(ops.unsqueeze(place, time), Ops.range(2, rank));
        return ops.squeeze(along(node, x, ops.broadcastLike(index, ops.slice(x, time, 0, 1)), time), time);
    }

    private static String along(NodeInputs node, String x, String index, int axis) {
        return node.op("take_along_axis").in("Input", x).in("Index", index).attr("Axis", axis).one("Result");
    }

    private static String reversed(NodeInputs node) {
        Ops ops = node.ops();
        String x = node.in(0);
        if (!hasLengths(node)) {
            return ops.op("flip").in("X", x).attr("axis", new int[]{0}).one("Out");
        }
        int rank = node.rank(x);
        String places = ops.reshape(ops.indexes(x, 0, DType.INT64), -1, 1);
        String lengths = ops.unsqueeze(ops.cast(node.in(1), DType.INT64), 0);
        String mirrored = ops.scale(ops.binary("elementwise_sub", lengths, places), 1, -1);
        String zero = ops.constant(DType.INT64, 0, 1);
        String inside = ops.binary("greater_equal", mirrored, zero);
        String same = ops.broadcastLike(places, mirrored);
        String index = ops.unsqueeze(ops.where(inside, mirrored, same), Ops.range(2, rank));
        return along(node, x, ops.broadcastLike(index, x), 0);
    }
}
