package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Products and solutions of matrices as {@code mx.np} has them. */
final class NumpyProductTranslators {
    private NumpyProductTranslators() {
    }

    static void register(Translators table) {
        table.one(node -> node.ops().matmul(node.in(0), node.in(1), false, false), "_npi_matmul");
        table.one(NumpyProductTranslators::dot, "_np_dot");
        table.one(NumpyProductTranslators::summedOver, "_npi_tensordot");
        table.one(NumpyProductTranslators::summedOverLast, "_npi_tensordot_int_axes");
        table.one(node -> node.op("einsum").in("Operands", node.all())
                .attr("equation", node.attributes().text("subscripts", "").replace(" ", "")).one("Out"),
                "_npi_einsum");
    }

    /** The product over the last axis of the one and the last but one of the other. */
    private static String dot(NodeInputs node) {
        int left = node.rank(node.in(0));
        int right = node.rank(node.in(1));
        if (left == 0 || right == 0) {
            return node.ops().binary("elementwise_mul", node.in(0), node.in(1));
        }
        return left <= 2 && right <= 2
                ? node.ops().matmul(node.in(0), node.in(1), false, false)
                : product(node, new int[]{left - 1}, new int[]{Math.max(0, right - 2)});
    }

    private static String summedOver(NodeInputs node) {
        int[] left = Arrays.stream(node.attributes().integers("a_axes_summed"))
                .map(axis -> node.axis(node.in(0), axis)).toArray();
        int[] right = Arrays.stream(node.attributes().integers("b_axes_summed"))
                .map(axis -> node.axis(node.in(1), axis)).toArray();
        return product(node, left, right);
    }

    private static String summedOverLast(NodeInputs node) {
        int count = node.attributes().integer("axes", 2);
        int rank = node.rank(node.in(0));
        if (count < 0 || count > rank || count > node.rank(node.in(1))) {
            throw node.attributes().wrong("axes", "from 0 to the dimensions of both operands");
        }
        return product(node, Ops.range(rank - count, rank), Ops.range(0, count));
    }

    /** The operands as matrices, of which one has the summed axes as columns and the other as rows. */
    private static String product(NodeInputs node, int[] left, int[] right) {
        if (left.length != right.length) {
            throw node.attributes().wrong("b_axes_summed", left.length + " numbers");
        }
        Ops ops = node.ops();
        int[] freeLeft = others(node.rank(node.in(0)), left);
        int[] freeRight = others(node.rank(node.in(1)), right);
        String x = ops.transpose(node.in(0), joined(freeLeft, left));
        String y = ops.transpose(node.in(1), joined(right, freeRight));
        List<String> dims = new ArrayList<>();
        String rows = part(ops, x, 0, freeLeft.length, dims);
        String columns = part(ops, y, right.length, node.rank(node.in(1)), dims);
        String inner = size(ops, x, freeLeft.length, node.rank(node.in(0)));
        String a = ops.reshape(x, ops.concat(0, List.of(rows, inner)));
        String b = ops.reshape(y, ops.concat(0, List.of(inner, columns)));
        String product = ops.matmul(a, b, false, false);
        return dims.isEmpty()
                ? ops.squeeze(product, 0, 1)
                : ops.reshape(product, ops.concat(0, dims));
    }

    /** Adds dimensions of the result, and returns how many elements they have. */
    private static String part(Ops ops, String x, int from, int to, List<String> dims) {
        if (to > from) {
            dims.add(ops.slice(ops.shape(x), 0, from, to));
        }
        return size(ops, x, from, to);
    }

    private static String size(Ops ops, String x, int from, int to) {
        return to > from
                ? ops.reduce("reduce_prod", ops.slice(ops.shape(x), 0, from, to), true, 0)
                : ops.constant(DType.INT32, 1, 1);
    }

    private static int[] others(int rank, int... axes) {
        return IntStream.range(0, rank).filter(axis -> Arrays.stream(axes).noneMatch(each -> each == axis)).toArray();
    }

    private static int[] joined(int[] one, int... other) {
        return IntStream.concat(Arrays.stream(one), Arrays.stream(other)).toArray();
    }
}
