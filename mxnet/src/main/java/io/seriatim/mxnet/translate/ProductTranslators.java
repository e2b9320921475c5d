package io.seriatim.mxnet.translate;

import java.util.List;

/** Products of matrices. */
final class ProductTranslators {
    private ProductTranslators() {
    }

    static void register(Translators table) {
        table.one(ProductTranslators::fullyConnected, "FullyConnected");
        table.one(ProductTranslators::dot, "dot");
        table.one(node -> node.ops().matmul(node.in(0), node.in(1), node.attributes().flag("transpose_a", false),
                node.attributes().flag("transpose_b", false)), "batch_dot");
        table.one(ProductTranslators::scaledProduct, "_linalg_gemm2", "linalg_gemm2");
        table.one(ProductTranslators::accumulated, "_linalg_gemm", "linalg_gemm");
        table.one(ProductTranslators::gram, "_linalg_syrk", "linalg_syrk");
    }

    private static String fullyConnected(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        boolean flattens = attributes.flag("flatten", true)
                && (node.isGuessing() || node.rank(node.in(0)) != 2);
        String x = flattens ? ops.reshape(node.in(0), 0, -1) : node.in(0);
        String y = ops.matmul(x, node.in(1), false, true);
        return attributes.flag("no_bias", false)
                ? y
                : ops.op("elementwise_add").in("X", y).in("Y", node.in(2)).attr("axis", -1).one("Out");
    }

    /** The product over the last axis of the one and the first of the other. */
    private static String dot(NodeInputs node) {
        Ops ops = node.ops();
        boolean left = node.attributes().flag("transpose_a", false);
        boolean right = node.attributes().flag("transpose_b", false);
        int a = node.rank(node.in(0));
        int b = node.rank(node.in(1));
        if (a == 1 && b == 1) {
            String product = ops.binary("elementwise_mul", node.in(0), node.in(1));
            return ops.reshape(ops.reduce("reduce_sum", product, true, 0), 1);
        }
        if (a <= 2 && b <= 2) {
            return ops.matmul(node.in(0), node.in(1), left && a == 2, right && b == 2);
        }
        // A transposed operand is multiplied over its other end.
        String x = left ? ops.transpose(node.in(0), Ops.moved(a, 0, a - 1)) : node.in(0);
        String y = right ? ops.transpose(node.in(1), Ops.moved(b, b - 1, 0)) : node.in(1);
        String rows = a == 1 ? ops.unsqueeze(x, 0) : a == 2 ? x : ops.flatten(x, 0, a - 2);
        String columns = b == 1 ? ops.unsqueeze(y, 1) : b == 2 ? y : ops.flatten(y, 1, b - 1);
        String head = ops.slice(ops.shape(x), 0, 0, a - 1L);
        String tail = ops.slice(ops.shape(y), 0, 1, b);
        String product = ops.matmul(rows, columns, false, false);
        return ops.reshape(product, a == 1 ? tail : b == 1 ? head : ops.concat(0, List.of(head, tail)));
    }

    private static String scaledProduct(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        if (attributes.integer("axis", -2) != -2) {
            throw attributes.wrong("axis", "-2: matrices are in the last two dimensions");
        }
        String product = node.ops().matmul(node.in(0), node.in(1), attributes.flag("transpose_a", false),
                attributes.flag("transpose_b", false));
        double alpha = attributes.real("alpha", 1);
        return alpha == 1 ? product : node.ops().scale(product, alpha, 0);
    }

    private static String accumulated(NodeInputs node) {
        String sum = node.ops().scale(node.in(2), node.attributes().real("beta", 1), 0);
        return node.ops().binary("elementwise_add", scaledProduct(node), sum);
    }

    private static String gram(NodeInputs node) {
        boolean transposed = node.attributes().flag("transpose", false);
        String product = node.ops().matmul(node.in(0), node.in(0), transposed, !transposed);
        return node.ops().scale(product, node.attributes().real("alpha", 1), 0);
    }

}
