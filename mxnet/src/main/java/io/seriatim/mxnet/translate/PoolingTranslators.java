package io.seriatim.mxnet.translate;

import io.seriatim.mxnet.translate.ConvolutionTranslators.Window;
import java.util.Arrays;

/** Pooling, and images of other sizes. */
final class PoolingTranslators {
    private PoolingTranslators() {
    }

    static void register(Translators table) {
        table.one(PoolingTranslators::pooling, "Pooling", "Pooling_v1");
        table.one(PoolingTranslators::adaptive, "_contrib_AdaptiveAvgPooling2D");
        table.one(PoolingTranslators::upSampling, "UpSampling");
        table.one(PoolingTranslators::resize, "_contrib_BilinearResize2D");
    }

    private static String pooling(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        String type = attributes.text("pool_type", "max");
        int rank = node.rank(node.in(0)) - 2;
        if (rank < 1 || rank > 3) {
            throw node.unsupported("images have one to three dimensions besides examples and channels, but these have "
                    + rank);
        }
        ConvolutionTranslators.requireChannelsFirst(node, rank);
        boolean whole = attributes.flag("global_pool", false);
        if (whole) {
            return ofAll(node, type, rank);
        }
        Window window = Window.of(node);
        if (window.rank() != rank) {
            throw attributes.wrong("kernel", rank + " numbers, one for each dimension of the images");
        }
        return switch (type) {
            case "max", "avg" -> windows(node, node.in(0), type, window);
            case "sum" -> sum(node, node.in(0), window);
            case "lp" -> norm(node, x -> sum(node, x, window));
            default -> throw attributes.wrong("pool_type", "max, avg, sum or lp");
        };
    }

    private interface Sum {
        String of(String x);
    }

    /** The root of the sum of powers; like MXNet's, of odd powers with their signs. */
    private static String norm(NodeInputs node, Sum sum) {
        Ops ops = node.ops();
        String x = node.in(0);
        return switch (node.attributes().integer("p_value", 2)) {
            case 1 -> sum.of(x);
            case 2 -> ops.unary("sqrt", sum.of(ops.unary("square", x)));
            case 3 -> UnaryTranslators.signedPower(node,
                    sum.of(ops.binary("elementwise_mul", ops.unary("square", x), x)), 1 / 3d);
            default -> throw node.attributes().wrong("p_value", "1, 2 or 3");
        };
    }

    private static String ofAll(NodeInputs node, String type, int rank) {
        int[] axes = Ops.range(2, 2 + rank);
        Ops ops = node.ops();
        if (rank == 2 && (type.equals("max") || type.equals("avg"))) {
            return ops.op("pool2d").in("X", node.in(0)).attr("pooling_type", type).attr("ksize", new int[]{1, 1})
                    .attr("global_pooling", true).one("Out");
        }
        return switch (type) {
            case "max" -> ops.reduce("reduce_max", node.in(0), true, axes);
            case "avg" -> ops.reduce("reduce_mean", node.in(0), true, axes);
            case "sum" -> ops.reduce("reduce_sum", node.in(0), true, axes);
            case "lp" -> norm(node, x -> ops.reduce("reduce_sum", x, true, axes));
            default -> throw node.attributes().wrong("pool_type", "max, avg, sum or lp");
        };
    }

    private static String windows(NodeInputs node, String x, String type, Window window) {
        boolean exclusive = !node.attributes().flag("count_include_pad", true);
        Ops ops = node.ops();
        boolean flat = window.rank() == 1;
        Window wide = window.widened();
        OpWriter op = ops.op(window.rank() == 3 ? "pool3d" : "pool2d").in("X", flat ? ops.unsqueeze(x, 2) : x)
                .attr("pooling_type", type).attr("ksize", wide.kernel()).attr("strides", wide.strides())
                .attr("exclusive", exclusive);
        String convention = node.attributes().text("pooling_convention", "valid");
        switch (convention) {
            case "valid" -> op.attr("paddings", wide.paddings());
            case "full" -> op.attr("paddings", wide.paddings()).attr("ceil_mode", true);
            default -> throw node.attributes().wrong("pooling_convention", "valid or full");
        }
        String y = op.one("Out");
        return flat ? ops.squeeze(y, 2) : y;
    }

    /** The sum is the average over windows of always the same size, times that size. */
    private static String sum(NodeInputs node, String x, Window window) {
        if (!node.attributes().text("pooling_convention", "valid").equals("valid")) {
            throw node.attributes().wrong("pooling_convention", "valid for sums");
        }
        Ops ops = node.ops();
        boolean flat = window.rank() == 1;
        Window wide = window.widened();
        String y = ops.op(window.rank() == 3 ? "pool3d" : "pool2d").in("X", flat ? ops.unsqueeze(x, 2) : x)
                .attr("pooling_type", "avg").attr("ksize", wide.kernel()).attr("strides", wide.strides())
                .attr("paddings", wide.paddings()).attr("exclusive", false).one("Out");
        int size = Arrays.stream(window.kernel()).reduce(1, Math::multiplyExact);
        return ops.scale(flat ? ops.squeeze(y, 2) : y, size, 0);
    }

    private static String adaptive(NodeInputs node) {
        int[] size = node.attributes().integers("output_size", 1);
        int[] pair = size.length == 0 ? new int[]{1, 1} : size.length == 1 ? new int[]{size[0], size[0]} : size;
        return node.op("pool2d").in("X", node.in(0)).attr("pooling_type", "avg").attr("ksize", pair)
                .attr("adaptive", true).one("Out");
    }

    private static String upSampling(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        int scale = attributes.integer("scale");
        if (scale < 1) {
            throw attributes.wrong("scale", "from 1 on");
        }
        return switch (attributes.text("sample_type", "")) {
            case "nearest" -> nearest(node, scale);
            case "bilinear" -> bilinear(node, scale);
            default -> throw attributes.wrong("sample_type", "nearest or bilinear");
        };
    }

    private static String nearest(NodeInputs node, int scale) {
        if (node.count() > 1) {
            throw node.unsupported("it enlarges one input, but has " + node.count());
        }
        return node.op("nearest_interp_v2").in("X", node.in(0)).attr("interp_method", "nearest")
                .attr("align_corners", false).attr("scale", new float[]{scale, scale}).attr("out_h", -1)
                .attr("out_w", -1).one("Out");
    }

    /** MXNet enlarges by a transposed convolution with weights of a parameter. */
    private static String bilinear(NodeInputs node, int scale) {
        int kernel = 2 * scale - scale % 2;
        int padding = (int) Math.ceil((scale - 1) / 2.0);
        long[] weights = node.dims(node.in(1));
        int groups = node.attributes().integer("num_filter", 0);
        return node.op("conv2d_transpose").in("Input", node.in(0)).in("Filter", node.in(1))
                .attr("strides", new int[]{scale, scale}).attr("paddings", new int[]{padding, padding})
                .attr("groups", groups > 0 || weights.length == 0 ? groups : Math.toIntExact(weights[0]))
                .attr("output_size", new int[0]).attr("dilations", new int[]{1, 1})
                .attr("output_padding", new int[]{2 * padding + scale - kernel, 2 * padding + scale - kernel})
                .one("Output");
    }

    private static String resize(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        OpWriter op = node.op("bilinear_interp_v2").in("X", node.in(0)).attr("interp_method", "bilinear")
                .attr("align_corners", attributes.flag("align_corners", true)).attr("align_mode", 0);
        String mode = attributes.text("mode", "size");
        if (mode.equals("like")) {
            String size = node.ops().slice(node.ops().shape(node.in(1)), 0, 2, 4);
            return op.in("OutSize", size).attr("out_h", -1).attr("out_w", -1).one("Out");
        }
        if (!mode.equals("size")) {
            throw attributes.wrong("mode", "size or like");
        }
        if (attributes.has("scale_height") || attributes.has("scale_width")) {
            return op.attr("scale", new float[]{(float) attributes.real("scale_height"),
                    (float) attributes.real("scale_width")}).attr("out_h", -1).attr("out_w", -1).one("Out");
        }
        return op.attr("out_h", attributes.integer("height", 1)).attr("out_w", attributes.integer("width", 1))
                .one("Out");
    }
}
