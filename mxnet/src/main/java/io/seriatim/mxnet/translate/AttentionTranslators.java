package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.List;

/** Products of attention over queries, keys and values that lie side by side. */
final class AttentionTranslators {
    private AttentionTranslators() {
    }

    static void register(Translators table) {
        table.one(AttentionTranslators::selfScores, "_contrib_interleaved_matmul_selfatt_qk");
        table.one(AttentionTranslators::selfValues, "_contrib_interleaved_matmul_selfatt_valatt");
        table.one(AttentionTranslators::crossScores, "_contrib_interleaved_matmul_encdec_qk");
        table.one(AttentionTranslators::crossValues, "_contrib_interleaved_matmul_encdec_valatt");
    }

    /**
     * One of the parts that lie side by side for each head: [length, batch, heads · parts · width] as [batch · heads,
     * length, width].
     */
    private static String part(NodeInputs node, String x, int parts, int which) {
        Ops ops = node.ops();
        int heads = node.attributes().integer("heads");
        if (heads < 1) {
            throw node.attributes().wrong("heads", "from 1 on");
        }
        long[] dims = node.dims(x);
        if (dims.length != 3 || dims[2] < 0) {
            throw node.unsupported("the last of three dimensions must be known before the run");
        }
        long width = dims[2] / heads / parts;
        String split = ops.reshape(x, 0, 0, heads, parts, width);
        String part = ops.select(split, 3, which);
        return ops.flatten(ops.transpose(part, 1, 2, 0, 3), 0, 1);
    }

    private static String scores(NodeInputs node, String queries, String keys) {
        long[] dims = node.dims(queries);
        String scaled = node.ops().scale(queries, 1 / Math.sqrt((double) dims[dims.length - 1]), 0);
        return node.ops().matmul(scaled, keys, false, true);
    }

    private static String selfScores(NodeInputs node) {
        return scores(node, part(node, node.in(0), 3, 0), part(node, node.in(0), 3, 1));
    }

    private static String crossScores(NodeInputs node) {
        return scores(node, part(node, node.in(0), 1, 0), part(node, node.in(1), 2, 0));
    }

    private static String selfValues(NodeInputs node) {
        return joined(node, part(node, node.in(0), 3, 2));
    }

    private static String crossValues(NodeInputs node) {
        return joined(node, part(node, node.in(0), 2, 1));
    }

    /** The weighted values, with heads side by side again. */
    private static String joined(NodeInputs node, String values) {
        Ops ops = node.ops();
        int heads = node.attributes().integer("heads");
        long[] dims = node.dims(values);
        String products = ops.matmul(node.in(1), values, false, false);
        String batch = ops.slice(ops.shape(node.in(0)), 0, 1, 2);
        String shape = ops.concat(0, List.of(batch,
                ops.constant(DType.INT32, new long[]{heads, -1, dims[2]}, 3)));
        return ops.flatten(ops.transpose(ops.reshape(products, shape), 2, 0, 1, 3), 2, 3);
    }
}
