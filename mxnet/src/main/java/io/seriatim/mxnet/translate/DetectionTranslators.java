package io.seriatim.mxnet.translate;

import io.seriatim.mxnet.operation.DetectionOperations;
import io.seriatim.tensor.Tensor;
import java.util.List;

/** Boxes of detectors: made, decoded and suppressed. */
final class DetectionTranslators {
    private DetectionTranslators() {
    }

    static void register(Translators table) {
        table.one(DetectionTranslators::prior, "_contrib_MultiBoxPrior", "MultiBoxPrior");
        table.one(DetectionTranslators::detection, "_contrib_MultiBoxDetection", "MultiBoxDetection");
        table.many(node -> List.of(suppression(node)), "_contrib_box_nms", "_contrib_box_non_maximum_suppression");
        table.one(DetectionTranslators::overlap, "_contrib_box_iou");
        table.one(DetectionTranslators::decoded, "_contrib_box_decode");
    }

    private static float[] floats(NodeInputs node, String name, double... byDefault) {
        double[] numbers = node.attributes().reals(name, byDefault);
        float[] floats = new float[numbers.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) numbers[i];
        }
        return floats;
    }

    private static String prior(NodeInputs node) {
        return node.op(DetectionOperations.PRIOR).in("X", node.in(0)).attr("sizes", floats(node, "sizes", 1))
                .attr("ratios", floats(node, "ratios", 1)).attr("clip", node.attributes().flag("clip", false))
                .attr("steps", floats(node, "steps", -1, -1)).attr("offsets", floats(node, "offsets", 0.5, 0.5))
                .one("Out");
    }

    private static String detection(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        return node.op(DetectionOperations.DETECTION).in("Scores", node.in(0)).in("Locations", node.in(1))
                .in("Anchors", node.in(2)).attr("clip", attributes.flag("clip", true))
                .attr("threshold", (float) attributes.real("threshold", 0.01))
                .attr("nms_threshold", (float) attributes.real("nms_threshold", 0.5))
                .attr("force_suppress", attributes.flag("force_suppress", false))
                .attr("variances", floats(node, "variances", 0.1, 0.1, 0.2, 0.2))
                .attr("nms_topk", attributes.integer("nms_topk", -1)).one("Out");
    }

    private static boolean isCenter(NodeInputs node, String name, String byDefault) {
        return switch (node.attributes().text(name, byDefault)) {
            case "corner" -> false;
            case "center" -> true;
            default -> throw node.attributes().wrong(name, "corner or center");
        };
    }

    private static String suppression(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        return node.op(DetectionOperations.SUPPRESSION).in("X", node.in(0))
                .attr("overlap_thresh", (float) attributes.real("overlap_thresh", 0.5))
                .attr("valid_thresh", (float) attributes.real("valid_thresh", 0))
                .attr("topk", attributes.integer("topk", -1)).attr("coord_start", attributes.integer("coord_start", 2))
                .attr("score_index", attributes.integer("score_index", 1))
                .attr("id_index", attributes.integer("id_index", -1))
                .attr("background_id", attributes.integer("background_id", -1))
                .attr("force_suppress", attributes.flag("force_suppress", false))
                .attr("in_center", isCenter(node, "in_format", "corner"))
                .attr("out_center", isCenter(node, "out_format", "corner"))
                .one("Out");
    }

    private static String overlap(NodeInputs node) {
        return node.op(DetectionOperations.OVERLAP).in("X", node.in(0)).in("Y", node.in(1))
                .attr("center", isCenter(node, "format", "corner")).one("Out");
    }

    /** Boxes as corners, from their differences to anchors in units of these. */
    private static String decoded(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        String x = node.in(0);
        String anchors = node.in(1);
        String center = ops.slice(anchors, 2, 0, 2);
        String size = ops.slice(anchors, 2, 2, 4);
        if (!isCenter(node, "format", "center")) {
            size = ops.binary("elementwise_sub", size, center);
            center = ops.binary("elementwise_add", center, ops.scale(size, 0.5, 0));
        }
        String moved = ops.binary("elementwise_mul", scaled(node, ops.slice(x, 2, 0, 2), 0), size);
        String growth = scaled(node, ops.slice(x, 2, 2, 4), 2);
        double most = (float) attributes.real("clip", -1);
        if (most > 0) {
            growth = ops.binary("elementwise_min", growth, ops.constant(node.dtype(x), most, 1));
        }
        String grown = ops.binary("elementwise_mul", ops.unary("exp", growth), size);
        String half = ops.scale(grown, 0.5, 0);
        String middle = ops.binary("elementwise_add", moved, center);
        return ops.concat(2, List.of(ops.binary("elementwise_sub", middle, half),
                ops.binary("elementwise_add", middle, half)));
    }

    /** Differences of two axes times the standard deviations from a number on, which are float32 in MXNet. */
    private static String scaled(NodeInputs node, String x, int first) {
        float one = (float) node.attributes().real("std" + first, 1);
        float other = (float) node.attributes().real("std" + (first + 1), 1);
        if (Float.compare(one, other) == 0) {
            return one == 1 ? x : node.ops().scale(x, one, 0);
        }
        Tensor both = Tensor.of(node.dtype(x), new double[]{one, other}, 2);
        return node.ops().binary("elementwise_mul", x, node.constant("deviations", both));
    }
}
