package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/** Activation functions and softmax. */
final class ActivationTranslators {
    private ActivationTranslators() {
    }

    static void register(Translators table) {
        table.one(node -> activation(node, node.attributes().text("act_type", "")), "Activation");
        table.one(node -> rectified(node, node.attributes().text("act_type", "leaky")), "LeakyReLU");
        table.one(node -> node.op("hard_sigmoid").in("X", node.in(0))
                .attr("slope", (float) node.attributes().real("alpha", 0.2))
                .attr("offset", (float) node.attributes().real("beta", 0.5)).one("Out"), "hard_sigmoid");
        table.one(node -> softmax(node, "softmax"), "softmax");
        table.one(node -> softmax(node, "log_softmax"), "log_softmax");
        table.one(node -> softmax(node, "softmin"), "softmin");
        table.one(ActivationTranslators::softmaxActivation, "SoftmaxActivation");
    }

    static String activation(NodeInputs node, String type) {
        String x = node.in(0);
        return switch (type) {
            case "relu", "sigmoid", "tanh", "softsign", "mish" -> node.ops().unary(type, x);
            case "softrelu" -> node.ops().unary("softplus", x);
            case "log_sigmoid" -> node.ops().unary("logsigmoid", x);
            default -> throw node.attributes().wrong("act_type",
                    "relu, sigmoid, tanh, softrelu, softsign, log_sigmoid or mish");
        };
    }

    private static String rectified(NodeInputs node, String type) {
        AttributeMap attributes = node.attributes();
        return switch (type) {
            case "leaky" -> leaky(node, attributes.real("slope", 0.25));
            // Without training, the slope is the middle of its range.
            case "rrelu" -> leaky(node,
                    (attributes.real("lower_bound", 0.125) + attributes.real("upper_bound", 0.334)) / 2);
            case "elu" -> node.op("elu").in("X", node.in(0)).attr("alpha", (float) attributes.real("slope", 0.25))
                    .one("Out");
            case "selu", "gelu" -> node.ops().unary(type, node.in(0));
            case "prelu" -> prelu(node);
            default -> throw attributes.wrong("act_type", "leaky, prelu, elu, selu, gelu or rrelu");
        };
    }

    private static String leaky(NodeInputs node, double slope) {
        return negative(node, x -> node.op("leaky_relu").in("X", x).attr("alpha", (float) slope).one("Out"));
    }

    /** A function that leaves positive elements as they are, and that MXNet computes in float32 for the others. */
    private static String negative(NodeInputs node, UnaryOperator<String> function) {
        Ops ops = node.ops();
        String x = node.in(0);
        if (node.dtype(x) != DType.FLOAT64) {
            return function.apply(x);
        }
        String y = ops.cast(function.apply(ops.cast(x, DType.FLOAT32)), DType.FLOAT64);
        return ops.where(ops.binary("greater_than", x, ops.constant(DType.FLOAT64, 0, 1)), x, y);
    }

    private static String prelu(NodeInputs node) {
        return negative(node, x -> prelu(node, x, node.ops().cast(node.in(1), node.dtype(x))));
    }

    private static String prelu(NodeInputs node, String x, String slopes) {
        Tensor value = node.parameter(1);
        long[] dims = node.dims(node.in(1));
        if (dims.length == 1 && value != null && node.rank(node.in(0)) > 1) {
            return node.op("prelu").in("X", x).in("Alpha", slopes)
                    .attr("mode", dims[0] == 1 ? "all" : "channel").one("Out");
        }
        Ops ops = node.ops();
        String slope = dims.length == 1 && node.rank(node.in(0)) > 1 ? perChannel(node, slopes) : slopes;
        String zero = ops.constant(node.dtype(x), 0, 1);
        String positive = ops.binary("elementwise_max", x, zero);
        String negative = ops.binary("elementwise_min", x, zero);
        return ops.binary("elementwise_add", positive, ops.binary("elementwise_mul", negative, slope));
    }

    /** A tensor of one element a channel, with dimensions that broadcast against the first input. */
    static String perChannel(NodeInputs node, String values) {
        long[] dims = new long[Math.max(1, node.rank(node.in(0)) - 1)];
        Arrays.fill(dims, 1);
        dims[0] = -1;
        return node.ops().reshape(values, dims);
    }

    private static String softmax(NodeInputs node, String type) {
        Ops ops = node.ops();
        AttributeMap attributes = node.attributes();
        String x = type.equals("softmin") ? ops.scale(node.in(0), -1, 0) : node.in(0);
        if (attributes.has("temperature") && attributes.real("temperature", 1) != 1) {
            x = ops.binary("elementwise_div", x, ops.constant(node.dtype(x), attributes.real("temperature", 1), 1));
        }
        int axis = attributes.integer("axis", -1);
        DType dtype = attributes.dtype("dtype", node.dtype(x));
        boolean masked = attributes.flag("use_length", false) && node.count() > 1;
        String mask = masked ? SequenceTranslators.below(node, x, node.axis(x, axis), node.in(1)) : "";
        if (masked) {
            x = ops.where(mask, x, ops.op("fill_any_like").in("X", x).attr("value", -1e30f).one("Out"));
        }
        String result = ops.op(type.equals("softmin") ? "softmax" : type).in("X", x).attr("axis", axis).one("Out");
        if (masked) {
            result = ops.where(mask, result, ops.op("fill_any_like").in("X", result).attr("value", 0f).one("Out"));
        }
        return ops.cast(result, dtype);
    }

    /** The mode instance is over the last axis, in all versions. */
    private static String softmaxActivation(NodeInputs node) {
        int axis = switch (node.attributes().text("mode", "instance")) {
            case "channel" -> 1;
            case "instance" -> -1;
            default -> throw node.attributes().wrong("mode", "channel or instance");
        };
        return node.op("softmax").in("X", node.in(0)).attr("axis", axis).one("Out");
    }
}
