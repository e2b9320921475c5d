package io.seriatim.mxnet.translate;

import io.seriatim.mxnet.operation.DetectionOperations;
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

    private static boolean isCenter(NodeInputs node, String name) {
        return switch (node.attributes().text(name, "corner")) {
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
                .attr("in_center", isCenter(node, "in_format")).attr("out_center", isCenter(node, "out_format"))
                .one("Out");
    }

    private static String overlap(NodeInputs node) {
        return node.op(DetectionOperations.OVERLAP).in("X", node.in(0)).in("Y", node.in(1))
                .attr("center", isCenter(node, "format")).one("Out");
    }
}
