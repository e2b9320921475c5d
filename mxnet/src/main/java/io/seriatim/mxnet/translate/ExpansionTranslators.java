package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Tensors that are repeated, broadcast or padded. */
final class ExpansionTranslators {
    private ExpansionTranslators() {
    }

    static void register(Translators table) {
        table.one(ExpansionTranslators::to, "broadcast_to");
        table.one(ExpansionTranslators::axes, "broadcast_axis", "broadcast_axes");
        table.one(ExpansionTranslators::like, "broadcast_like");
        table.one(node -> node.op("tile").in("X", node.in(0)).attr("repeat_times", node.attributes().integers("reps"))
                .one("Out"), "tile");
        table.one(ExpansionTranslators::repeat, "repeat");
        table.one(ExpansionTranslators::pad, "Pad", "pad");
    }

    private static String to(NodeInputs node) {
        int[] shape = node.attributes().integers("shape");
        // MXNet copies dimensions that are 0, Paddle those that are -1.
        int[] wanted = Arrays.stream(shape).map(dim -> dim == 0 ? -1 : dim).toArray();
        return node.op("expand_v2").in("X", node.in(0)).attr("shape", wanted).one("Out");
    }

    private static String axes(NodeInputs node) {
        int[] axes = node.attributes().integers("axis");
        int[] sizes = node.attributes().integers("size");
        if (axes.length != sizes.length) {
            throw node.attributes().wrong("size", axes.length + " numbers, as many as the attribute 'axis' has");
        }
        int[] shape = new int[node.rank(node.in(0))];
        Arrays.fill(shape, -1);
        for (int i = 0; i < axes.length; i++) {
            shape[node.axis(node.in(0), axes[i])] = sizes[i];
        }
        return node.op("expand_v2").in("X", node.in(0)).attr("shape", shape).one("Out");
    }

    private static String like(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        if (!attributes.has("lhs_axes")) {
            return ops.broadcastLike(node.in(0), node.in(1));
        }
        int[] left = attributes.integers("lhs_axes");
        int[] right = attributes.integers("rhs_axes");
        if (left.length != right.length) {
            throw attributes.wrong("rhs_axes", left.length + " numbers, as many as the attribute 'lhs_axes' has");
        }
        String shape = ops.shape(node.in(0));
        String other = ops.shape(node.in(1));
        List<String> parts = new ArrayList<>();
        for (int axis = 0; axis < node.rank(node.in(0)); axis++) {
            String from = shape;
            int place = axis;
            for (int i = 0; i < left.length; i++) {
                if (node.axis(node.in(0), left[i]) == axis) {
                    from = other;
                    place = node.axis(node.in(1), right[i]);
                }
            }
            parts.add(ops.slice(from, 0, place, place + 1L));
        }
        return ops.broadcast(node.in(0), ops.concat(0, parts));
    }

    private static String repeat(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        boolean flat = !attributes.has("axis");
        String x = flat ? node.ops().reshape(node.in(0), -1) : node.in(0);
        return node.op("repeat_interleave").in("X", x).attr("Repeats", attributes.integer("repeats"))
                .attr("dim", flat ? 0 : node.axis(x, attributes.integer("axis", 0))).one("Out");
    }

    private static String pad(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        int[] widths = attributes.integers("pad_width");
        int rank = node.rank(node.in(0));
        if (widths.length != 2 * rank) {
            throw attributes.wrong("pad_width", 2 * rank + " numbers, two for each dimension");
        }
        String mode = attributes.text("mode", "constant");
        if (mode.equals("constant")) {
            return padded(node, widths, attributes.real("constant_value", 0));
        }
        if (!mode.equals("edge") && !mode.equals("reflect")) {
            throw attributes.wrong("mode", "constant, edge or reflect");
        }
        if (rank < 4 || rank > 5 || Arrays.stream(widths, 0, 4).anyMatch(width -> width != 0)) {
            throw attributes.wrong("pad_width", "0 for the first two of four or five dimensions, with the mode "
                    + mode);
        }
        int[] six = new int[6];
        for (int axis = 2; axis < rank; axis++) {
            // Paddle begins with the last dimension.
            six[2 * (rank - 1 - axis)] = widths[2 * axis];
            six[2 * (rank - 1 - axis) + 1] = widths[2 * axis + 1];
        }
        Ops ops = node.ops();
        String x = rank == 4 ? ops.unsqueeze(node.in(0), 2) : node.in(0);
        String y = ops.op("pad3d").in("X", x).attr("paddings", six)
                .attr("mode", mode.equals("edge") ? "replicate" : "reflect").one("Out");
        return rank == 4 ? ops.squeeze(y, 2) : y;
    }

    static String padded(NodeInputs node, int[] widths, double value) {
        Ops ops = node.ops();
        String x = node.in(0);
        if (Ops.isExact(node.dtype(x), value)) {
            return ops.op("pad").in("X", x).attr("paddings", widths).attr("pad_value", (float) value).one("Out");
        }
        // The attribute is a float32.
        String zeros = ops.op("pad").in("X", x).attr("paddings", widths).attr("pad_value", 0f).one("Out");
        String ones = ops.op("pad").in("X", ops.filledLike(x, 0)).attr("paddings", widths).attr("pad_value", 1f)
                .one("Out");
        return ops.where(ops.cast(ones, DType.BOOL), ops.filledLike(zeros, value), zeros);
    }

    /** The number of elements of an axis, as a tensor of one element. */
    static String length(NodeInputs node, String x, int axis, DType dtype) {
        Ops ops = node.ops();
        return ops.cast(ops.slice(ops.shape(x), 0, axis, axis + 1L), dtype);
    }
}
