package io.seriatim.mxnet.translate;

import io.seriatim.mxnet.translate.ConvolutionTranslators.Window;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.List;

/** Deformable convolutions: offsets move the places that the elements of a kernel read. */
final class DeformableTranslators {
    private DeformableTranslators() {
    }

    static void register(Translators table) {
        table.one(node -> convolution(node, false), "_contrib_DeformableConvolution");
        table.one(node -> convolution(node, true), "_contrib_ModulatedDeformableConvolution");
    }

    private static String convolution(NodeInputs node, boolean masked) {
        Window window = Window.of(node);
        if (window.rank() != 2) {
            throw node.attributes().wrong("kernel", "two numbers");
        }
        ConvolutionTranslators.requireChannelsFirst(node, 2);
        int weight = masked ? 3 : 2;
        AttributeMap attributes = node.attributes();
        int groups = attributes.integer("num_deformable_group", 1);
        Moves moves = masked ? new Moves(node.in(1), node.in(2)) : Moves.inside(node, window, groups);
        String y = node.op("deformable_conv").in("Input", node.in(0)).in("Offset", moves.offsets)
                .in("Filter", node.in(weight)).in("Mask", moves.mask).attr("strides", window.strides())
                .attr("paddings", window.paddings()).attr("dilations", window.dilations())
                .attr("groups", attributes.integer("num_group", 1)).attr("deformable_groups", groups).one("Output");
        return ConvolutionTranslators.withBias(node, y, weight + 1, false);
    }

    /** How far the elements of kernels move, and their factors. */
    private record Moves(String offsets, String mask) {
        /**
         * MXNet's first version takes 0 for a place outside of the image, and the last element for a place behind it.
         * PaddlePaddle's interpolates between the elements at the edges and 0.
         */
        static Moves inside(NodeInputs node, Window window, int groups) {
            Ops ops = node.ops();
            String x = node.in(0);
            String offsets = node.in(1);
            DType dtype = node.dtype(x);
            int elements = window.kernel()[0] * window.kernel()[1];
            String shape = ops.shape(offsets);
            String all = ops.constant(DType.INT32, new long[]{-1, elements, 2}, 3);
            String moved = ops.reshape(offsets, ops.concat(0, List.of(all, ops.slice(shape, 0, 2, 4))));
            String still = places(node, window, offsets, dtype);
            String place = ops.binary("elementwise_add", moved, still);
            String size = ops.reshape(ops.cast(ops.slice(ops.shape(x), 0, 2, 4), dtype), 2, 1, 1);
            String before = ops.binary("greater_equal", place, ops.constant(dtype, 0, 1));
            String within = ops.binary("logical_and", before, ops.binary("less_than", place, size));
            String mask = ops.reduce("reduce_prod", ops.cast(within, dtype), false, 2);
            String nearest = ops.binary("elementwise_min", place, ops.scale(size, 1, -1));
            String kept = ops.binary("elementwise_sub", nearest, still);
            String channels = ops.constant(DType.INT32, new long[]{-1, (long) groups * elements}, 2);
            return new Moves(ops.reshape(kept, shape),
                    ops.reshape(mask, ops.concat(0, List.of(channels, ops.slice(shape, 0, 2, 4)))));
        }

        /** The rows and columns of a kernel's elements without offsets, [elements, 2, rows, columns]. */
        private static String places(NodeInputs node, Window window, String offsets, DType dtype) {
            Ops ops = node.ops();
            String none = ops.filledLike(ops.slice(ops.slice(offsets, 0, 0, 1), 1, 0, 2), 0);
            String rows = ops.reshape(ops.scale(ops.indexes(offsets, 2, dtype), window.strides()[0], 0), -1, 1);
            String columns = ops.scale(ops.indexes(offsets, 3, dtype), window.strides()[1], 0);
            String plane = ops.select(ops.slice(none, 1, 0, 1), 0, 0);
            String grid = ops.concat(0, List.of(ops.binary("elementwise_add", plane, rows),
                    ops.binary("elementwise_add", plane, columns)));
            int width = window.kernel()[1];
            double[] inner = new double[2 * window.kernel()[0] * width];
            for (int i = 0; i < inner.length; i++) {
                int axis = i % 2;
                int element = axis == 0 ? i / 2 / width : i / 2 % width;
                inner[i] = (double) element * window.dilations()[axis] - window.paddings()[axis];
            }
            String begin = node.constant("places", Tensor.of(dtype, inner, inner.length / 2, 2, 1, 1));
            return ops.binary("elementwise_add", grid, begin);
        }
    }
}
