package io.seriatim.mxnet.translate;

import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/** Normalisation over batches, layers, instances, groups, channels and whole examples. */
final class NormalizationTranslators {
    private NormalizationTranslators() {
    }

    static void register(Translators table) {
        table.one(NormalizationTranslators::batch, "BatchNorm", "BatchNorm_v1", "CuDNNBatchNorm",
                "_contrib_SyncBatchNorm");
        table.one(NormalizationTranslators::batchWithRelu, "_contrib_BatchNormWithReLU");
        table.one(NormalizationTranslators::layer, "LayerNorm");
        table.one(NormalizationTranslators::instance, "InstanceNorm");
        table.one(NormalizationTranslators::group, "GroupNorm");
        table.one(NormalizationTranslators::length, "L2Normalization");
        table.one(NormalizationTranslators::localResponse, "LRN");
    }

    private static String batchWithRelu(NodeInputs node) {
        return node.ops().unary("relu", batch(node));
    }

    private static String batch(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        if (attributes.flag("output_mean_var", false)) {
            throw attributes.wrong("output_mean_var", "False: the statistics are no outputs here");
        }
        Ops ops = node.ops();
        String x = node.in(0);
        int axis = node.axis(x, attributes.integer("axis", 1));
        boolean last = axis > 1 && axis == node.rank(x) - 1;
        boolean moves = axis != 1 && !last;
        String from = moves ? ops.transpose(x, Ops.moved(node.rank(x), axis, 1)) : x;
        String scale = attributes.flag("fix_gamma", true) ? ones(node, 1) : node.in(1);
        double epsilon = attributes.real("eps", 1e-3);
        if (!Ops.isExact(node.dtype(x), epsilon)) {
            String y = normalised(node, from, scale, epsilon, last);
            return moves ? ops.transpose(y, Ops.moved(node.rank(x), 1, axis)) : y;
        }
        String y = ops.op("batch_norm").in("X", from).in("Scale", scale).in("Bias", node.in(2)).in("Mean", node.in(3))
                .in("Variance", node.in(4)).attr("epsilon", (float) epsilon)
                .attr("momentum", (float) attributes.real("momentum", 0.9)).attr("is_test", true)
                .attr("use_global_stats", attributes.flag("use_global_stats", false))
                .attr("data_layout", last ? "NHWC" : "NCHW").to("MeanOut", node.in(3)).to("VarianceOut", node.in(4))
                .one("Y");
        return moves ? ops.transpose(y, Ops.moved(node.rank(x), 1, axis)) : y;
    }

    /** A batch norm whose epsilon is a double, as MXNet's is, but not Paddle's. */
    private static String normalised(NodeInputs node, String x, String scale, double epsilon, boolean last) {
        Ops ops = node.ops();
        UnaryOperator<String> channels =
                last ? UnaryOperator.identity() : y -> ActivationTranslators.perChannel(node, y);
        String centered = ops.binary("elementwise_sub", x, channels.apply(node.in(3)));
        String deviation = ops.unary("sqrt", ops.scale(node.in(4), 1, epsilon));
        String factor = ops.binary("elementwise_div", scale, deviation);
        String scaled = ops.binary("elementwise_mul", centered, channels.apply(factor));
        return ops.binary("elementwise_add", scaled, channels.apply(node.in(2)));
    }

    /** MXNet takes a fixed gamma for 1, whatever the file holds. */
    private static String ones(NodeInputs node, int input) {
        Tensor gamma = node.parameter(input);
        if (gamma == null) {
            return node.ops().filledLike(node.in(input), 1);
        }
        double[] ones = new double[Math.toIntExact(gamma.shape().size())];
        Arrays.fill(ones, 1);
        Tensor value = Tensor.of(gamma.dtype(), ones, gamma.shape().dims());
        return node.constant(node.in(input), value);
    }

    private static String layer(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        int rank = node.rank(node.in(0));
        int axis = node.axis(node.in(0), attributes.integer("axis", -1));
        String x = ops.transpose(node.in(0), Ops.moved(rank, axis, rank - 1));
        String y = ops.op("layer_norm").in("X", x).in("Scale", node.in(1)).in("Bias", node.in(2))
                .attr("epsilon", (float) attributes.real("eps", 1e-5)).attr("begin_norm_axis", rank - 1).one("Y");
        return ops.transpose(y, Ops.moved(rank, rank - 1, axis));
    }

    private static String instance(NodeInputs node) {
        return node.op("instance_norm").in("X", node.in(0)).in("Scale", node.in(1)).in("Bias", node.in(2))
                .attr("epsilon", (float) node.attributes().real("eps", 1e-3)).one("Y");
    }

    /** MXNet scales groups, where Paddle scales channels. */
    private static String group(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        int groups = attributes.integer("num_groups", 1);
        String y = ops.op("group_norm").in("X", node.in(0)).attr("groups", groups)
                .attr("epsilon", (float) attributes.real("eps", 1e-5)).one("Y");
        String grouped = ops.reshape(y, 0, groups, -1);
        String scaled = ops.binary("elementwise_mul", grouped, ops.reshape(node.in(1), 1, groups, 1));
        String moved = ops.binary("elementwise_add", scaled, ops.reshape(node.in(2), 1, groups, 1));
        return ops.reshape(moved, ops.shape(node.in(0)));
    }

    /** x / √(Σx² + ε). */
    private static String length(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        String mode = attributes.text("mode", "instance");
        if (mode.equals("channel")) {
            return divided(node, node.in(0), 1);
        }
        boolean spatial = mode.equals("spatial");
        if (!spatial && !mode.equals("instance")) {
            throw attributes.wrong("mode", "instance, channel or spatial");
        }
        String x = spatial ? ops.reshape(node.in(0), 0, 0, -1) : ops.reshape(node.in(0), 0, -1);
        return ops.reshape(divided(node, x, spatial ? 2 : 1), ops.shape(node.in(0)));
    }

    private static String divided(NodeInputs node, String x, int axis) {
        Ops ops = node.ops();
        String sum = ops.reduce("reduce_sum", ops.unary("square", x), true, axis);
        String length = ops.unary("sqrt", ops.scale(sum, 1, (float) node.attributes().real("eps", 1e-10)));
        return ops.binary("elementwise_div", x, length);
    }

    /** MXNet divides alpha by the number of channels in the sum. */
    private static String localResponse(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        int size = attributes.integer("nsize");
        return node.op("lrn").in("X", node.in(0)).attr("n", size)
                .attr("alpha", (float) (attributes.real("alpha", 1e-4) / size))
                .attr("beta", (float) attributes.real("beta", 0.75)).attr("k", (float) attributes.real("knorm", 2))
                .one("Out");
    }

}
