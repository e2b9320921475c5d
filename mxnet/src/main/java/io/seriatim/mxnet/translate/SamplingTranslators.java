package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.List;

/** Images that are sampled at places from −1, the center of the first pixel, to 1, that of the last. */
final class SamplingTranslators {
    private SamplingTranslators() {
    }

    static void register(Translators table) {
        table.one(node -> sampled(node, node.ops().transpose(node.in(1), 0, 2, 3, 1)), "BilinearSampler");
        table.one(SamplingTranslators::transformer, "SpatialTransformer");
        table.one(SamplingTranslators::grid, "GridGenerator");
    }

    private static String sampled(NodeInputs node, String grid) {
        return node.op("grid_sampler").in("X", node.in(0)).in("Grid", grid).attr("mode", "bilinear")
                .attr("padding_mode", "zeros").attr("align_corners", true).one("Output");
    }

    private static String transformer(NodeInputs node) {
        return sampled(node, affine(node, node.in(1)));
    }

    /** The places that a transformation of two rows and three columns gives, [n, height, width, 2]. */
    private static String affine(NodeInputs node, String transformation) {
        int[] size = node.attributes().integers("target_shape");
        if (size.length != 2 || size[0] < 1 || size[1] < 1) {
            throw node.attributes().wrong("target_shape", "two numbers from 1 on");
        }
        Ops ops = node.ops();
        String batch = ops.slice(ops.shape(transformation), 0, 0, 1);
        String shape = ops.concat(0,
                List.of(batch, ops.constant(DType.INT32, new long[]{1, size[0], size[1]}, 3)));
        return ops.op("affine_grid").in("Theta", ops.reshape(transformation, -1, 2, 3)).in("OutputShape", shape)
                .attr("align_corners", true).one("Output");
    }

    private static String grid(NodeInputs node) {
        Ops ops = node.ops();
        return switch (node.attributes().text("transform_type", "")) {
            case "affine" -> ops.transpose(affine(node, node.in(0)), 0, 3, 1, 2);
            case "warp" -> warp(node);
            default -> throw node.attributes().wrong("transform_type", "affine or warp");
        };
    }

    /** Moves each pixel by the flow, which counts in pixels. */
    private static String warp(NodeInputs node) {
        Ops ops = node.ops();
        String flow = node.in(0);
        DType dtype = node.dtype(flow);
        String x = ops.reshape(ops.cast(ops.indexes(flow, 3, DType.INT64), dtype), 1, 1, 1, -1);
        String y = ops.reshape(ops.cast(ops.indexes(flow, 2, DType.INT64), dtype), 1, 1, -1, 1);
        return ops.concat(1, List.of(normalised(node, x, 0, 3), normalised(node, y, 1, 2)));
    }

    private static String normalised(NodeInputs node, String places, int channel, int axis) {
        Ops ops = node.ops();
        String flow = node.in(0);
        String moved = ops.binary("elementwise_add", ops.slice(flow, 1, channel, channel + 1L), places);
        String half = ops.scale(ExpansionTranslators.length(node, flow, axis, node.dtype(flow)), 0.5, -0.5);
        return ops.scale(ops.binary("elementwise_div", moved, half), 1, -1);
    }
}
