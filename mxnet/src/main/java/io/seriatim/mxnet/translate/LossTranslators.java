package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;

/** Losses that MXNet puts behind networks: without training they are the network's predictions. */
final class LossTranslators {
    private LossTranslators() {
    }

    static void register(Translators table) {
        table.one(LossTranslators::softmax, "SoftmaxOutput", "Softmax");
        table.one(node -> node.in(0), "LinearRegressionOutput", "MAERegressionOutput", "SVMOutput", "MakeLoss");
        table.one(node -> node.ops().unary("sigmoid", node.in(0)), "LogisticRegressionOutput");
        table.one(LossTranslators::crossEntropy, "softmax_cross_entropy");
    }

    /**
     * Over all elements of an example, unless attributes say otherwise; but over the last axis of four, as version 1.9
     * computes it on the CPU.
     */
    private static String softmax(NodeInputs node) {
        Ops ops = node.ops();
        String x = node.in(0);
        boolean preserves = node.attributes().flag("preserve_shape", false);
        boolean several = node.attributes().flag("multi_output", false);
        int rank = preserves || several ? 0 : node.rank(x);
        if (rank == 3 || rank > 4) {
            String flat = ops.op("softmax").in("X", ops.reshape(x, 0, -1)).attr("axis", -1).one("Out");
            return ops.reshape(flat, ops.shape(x));
        }
        return ops.op("softmax").in("X", x).attr("axis", several && !preserves ? 1 : -1).one("Out");
    }

    private static String crossEntropy(NodeInputs node) {
        Ops ops = node.ops();
        String logs = ops.op("log_softmax").in("X", node.in(0)).attr("axis", -1).one("Out");
        String index = ops.reshape(ops.cast(node.in(1), DType.INT64), -1, 1);
        String picked = ops.op("take_along_axis").in("Input", logs).in("Index", index).attr("Axis", 1).one("Result");
        return ops.reshape(ops.scale(ops.reduce("reduce_sum", picked, true), -1, 0), 1);
    }
}
