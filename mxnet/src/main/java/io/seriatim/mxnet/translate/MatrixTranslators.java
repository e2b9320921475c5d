package io.seriatim.mxnet.translate;

import java.util.List;

/** Factors, solutions and diagonals of matrices. */
final class MatrixTranslators {
    private MatrixTranslators() {
    }

    static void register(Translators table) {
        table.one(MatrixTranslators::diagonal, "diag");
        table.one(node -> diagonal(node, node.in(0), node.attributes().integer("offset", 0)), "_linalg_extractdiag");
        table.one(node -> node.op("diag_embed").in("Input", node.in(0))
                .attr("offset", node.attributes().integer("offset", 0)).one("Out"), "_linalg_makediag");
        table.one(node -> summed(node, node.ops().unary("log", diagonal(node, node.in(0), 0))), "_linalg_sumlogdiag");
        table.one(node -> cholesky(node, node.attributes().flag("lower", true)), "_linalg_potrf");
        table.one(node -> cholesky(node, node.attributes().flag("lower", true)), "_npi_cholesky");
        table.one(node -> node.op("inverse").in("Input", node.in(0)).one("Output"), "_linalg_inverse");
        table.one(node -> node.op("determinant").in("Input", node.in(0)).one("Out"), "_linalg_det");
        table.many(MatrixTranslators::logarithm, "_linalg_slogdet");
        table.one(MatrixTranslators::solved, "_linalg_trsm");
        table.one(MatrixTranslators::multiplied, "_linalg_trmm");
    }

    private static String diagonal(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        int offset = attributes.integer("k", 0);
        String x = node.in(0);
        return node.rank(x) == 1
                ? node.op("diag_v2").in("X", x).attr("offset", offset).one("Out")
                : node.op("diagonal").in("Input", x).attr("offset", offset)
                        .attr("axis1", node.axis(x, attributes.integer("axis1", 0)))
                        .attr("axis2", node.axis(x, attributes.integer("axis2", 1))).one("Out");
    }

    private static String diagonal(NodeInputs node, String x, int offset) {
        int rank = node.rank(x);
        return node.op("diagonal").in("Input", x).attr("offset", offset).attr("axis1", rank - 2)
                .attr("axis2", rank - 1).one("Out");
    }

    /** Sums of vectors; one vector gives a tensor of one dimension. */
    private static String summed(NodeInputs node, String x) {
        int last = node.rank(node.in(0)) - 2;
        return node.ops().reduce("reduce_sum", x, last == 0, last);
    }

    private static String cholesky(NodeInputs node, boolean lower) {
        return node.op("cholesky").in("X", node.in(0)).attr("upper", !lower).one("Out");
    }

    private static List<String> logarithm(NodeInputs node) {
        Ops ops = node.ops();
        String both = ops.op("slogdeterminant").in("Input", node.in(0)).one("Out");
        return List.of(ops.select(both, 0, 0), ops.select(both, 0, 1));
    }

    private static String transposed(NodeInputs node, String x) {
        int rank = node.rank(x);
        return node.ops().transpose(x, Ops.moved(rank, rank - 1, rank - 2));
    }

    /** A·X = αB, or X·A = αB, which is the same of transposed matrices. */
    private static String solved(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        boolean right = attributes.flag("rightside", false);
        boolean transposed = attributes.flag("transpose", false);
        String b = scaled(node, node.in(1));
        String x = node.op("triangular_solve").in("X", node.in(0)).in("Y", right ? transposed(node, b) : b)
                .attr("upper", !attributes.flag("lower", true)).attr("transpose", right != transposed).one("Out");
        return right ? transposed(node, x) : x;
    }

    private static String multiplied(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        boolean transposed = attributes.flag("transpose", false);
        String triangle = node.op("tril_triu").in("X", node.in(0)).attr("lower", attributes.flag("lower", true))
                .attr("diagonal", 0).one("Out");
        String b = scaled(node, node.in(1));
        return attributes.flag("rightside", false)
                ? node.ops().matmul(b, triangle, false, transposed)
                : node.ops().matmul(triangle, b, transposed, false);
    }

    private static String scaled(NodeInputs node, String x) {
        double alpha = node.attributes().real("alpha", 1);
        return alpha == 1 ? x : node.ops().scale(x, alpha, 0);
    }
}
