package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.function.UnaryOperator;

/**
 * Pools regions of images to one size. A row of MXNet's regions begins with the number of its image, and
 * rows are in any order; PaddlePaddle's follow the order of the images, and the number of each image's regions is given.
 */
final class RegionTranslators {
    private RegionTranslators() {
    }

    static void register(Translators table) {
        table.one(RegionTranslators::aligned, "_contrib_ROIAlign");
        table.one(node -> overRegions(node, "roi_pool", op -> sized(node, op)), "ROIPooling");
        table.one(RegionTranslators::positionSensitive, "_contrib_PSROIPooling");
    }

    private static String aligned(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        if (attributes.flag("position_sensitive", false)) {
            throw attributes.wrong("position_sensitive", "False");
        }
        return overRegions(node, "roi_align", op -> sized(node, op)
                .attr("sampling_ratio", attributes.integer("sample_ratio", -1))
                .attr("aligned", attributes.flag("aligned", false)));
    }

    private static OpWriter sized(NodeInputs node, OpWriter op) {
        int[] size = node.attributes().integers("pooled_size");
        if (size.length != 2) {
            throw node.attributes().wrong("pooled_size", "two numbers");
        }
        return op.attr("pooled_height", size[0]).attr("pooled_width", size[1])
                .attr("spatial_scale", (float) node.attributes().real("spatial_scale"));
    }

    private static String positionSensitive(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        int size = attributes.integer("pooled_size");
        int groups = attributes.integer("group_size", 0);
        if (groups != 0 && groups != size) {
            throw attributes.wrong("group_size", "0 or the attribute 'pooled_size', " + size);
        }
        return overRegions(node, "psroi_pool", op -> op.attr("pooled_height", size).attr("pooled_width", size)
                .attr("output_channels", attributes.integer("output_dim"))
                .attr("spatial_scale", (float) attributes.real("spatial_scale")));
    }

    private static String overRegions(NodeInputs node, String type, UnaryOperator<OpWriter> settings) {
        Ops ops = node.ops();
        String x = node.in(0);
        DType dtype = node.dtype(x);
        String rows = ops.cast(node.in(1), dtype);
        String image = ops.slice(rows, 1, 0, 1);
        String zero = ops.constant(dtype, 0, 1);
        String counts = ops.cast(ops.binary("greater_equal", image, zero), dtype);
        String pooled = pooled(node, type, settings, ops.slice(rows, 1, 1, 5),
                ops.cast(ops.binary("elementwise_max", image, zero), DType.INT64));
        // Rows whose image is less than 0 are ignored: their results are 0.
        return ops.binary("elementwise_mul", pooled, ops.reshape(counts, -1, 1, 1, 1));
    }

    private static String pooled(NodeInputs node, String type, UnaryOperator<OpWriter> settings, String boxes,
            String image) {
        Ops ops = node.ops();
        String x = node.in(0);
        if (node.dims(x)[0] == 1) {
            String count = ops.slice(ops.shape(boxes), 0, 0, 1);
            return settings.apply(ops.op(type).in("X", x).in("ROIs", boxes).in("RoisNum", count)).one("Out");
        }
        String isOf = ops.binary("equal", image, ops.indexes(x, 0, DType.INT64));
        String counts = ops.reduce("reduce_sum", ops.cast(isOf, DType.INT32), false, 0);
        String order = places(ops, ops.reshape(image, -1));
        String sorted = settings.apply(ops.op(type).in("X", x).in("ROIs", gathered(ops, boxes, order))
                .in("RoisNum", counts)).one("Out");
        return gathered(ops, sorted, places(ops, order));
    }

    /** Where the elements of a vector are in their order. */
    private static String places(Ops ops, String x) {
        return ops.op("argsort").in("X", x).attr("axis", 0).attr("descending", false).each("Out", "Indices").getLast();
    }

    private static String gathered(Ops ops, String x, String rows) {
        return ops.op("gather").in("X", x).in("Index", rows).attr("axis", 0).one("Out");
    }
}
