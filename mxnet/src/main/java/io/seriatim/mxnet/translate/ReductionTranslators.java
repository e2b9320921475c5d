package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;

/** Sums, extremes and norms along axes. */
final class ReductionTranslators {
    private ReductionTranslators() {
    }

    static void register(Translators table) {
        plain(table, "reduce_sum", "sum", "sum_axis");
        plain(table, "reduce_mean", "mean");
        plain(table, "reduce_max", "max", "max_axis");
        plain(table, "reduce_min", "min", "min_axis");
        plain(table, "reduce_prod", "prod");
        table.one(node -> reduced(node, "reduce_sum", withoutNan(node, 0)), "nansum");
        table.one(node -> reduced(node, "reduce_prod", withoutNan(node, 1)), "nanprod");
        table.one(ReductionTranslators::norm, "norm");
        table.many(ReductionTranslators::moments, "moments");
        table.one(ReductionTranslators::squaredSum, "_square_sum");
        table.one(node -> place(node, "arg_max"), "argmax");
        table.one(node -> place(node, "arg_min"), "argmin");
        table.one(node -> node.ops().cast(node.op("arg_max").in("X", node.in(0)).attr("axis", 1L)
                .attr("keepdims", false).one("Out"), node.dtype(node.in(0))), "argmax_channel");
    }

    private static void plain(Translators table, String type, String... operators) {
        table.one(node -> reduced(node, type, node.in(0)), operators);
    }

    private static String squaredSum(NodeInputs node) {
        return reduced(node, "reduce_sum", node.ops().unary("square", node.in(0)));
    }

    private static String withoutNan(NodeInputs node, double replacement) {
        Ops ops = node.ops();
        String x = node.in(0);
        String other = ops.op("fill_any_like").in("X", x).attr("value", (float) replacement).one("Out");
        return ops.where(ops.unary("isnan_v2", x), other, x);
    }

    /** The axes that a node names; all if it names none. */
    static int[] axes(NodeInputs node, String x) {
        AttributeMap attributes = node.attributes();
        int rank = node.rank(x);
        int[] named = Arrays.stream(attributes.integers("axis")).map(axis -> node.axis(x, axis)).distinct().sorted()
                .toArray();
        if (!attributes.flag("exclude", false)) {
            return named.length == 0 ? Ops.range(0, rank) : named;
        }
        return Arrays.stream(Ops.range(0, rank)).filter(axis -> Arrays.binarySearch(named, axis) < 0).toArray();
    }

    private static String reduced(NodeInputs node, String type, String x) {
        return over(node, x, (ops, axes) -> ops.reduce(type, x, true, axes));
    }

    /** Applies a reduction that keeps the axes; they are dropped afterwards, but the last one stays. */
    private static String over(NodeInputs node, String x, BiFunction<Ops, int[], String> reduction) {
        Ops ops = node.ops();
        int[] axes = axes(node, x);
        if (axes.length == 0) {
            return x;
        }
        String y = reduction.apply(ops, axes);
        if (node.attributes().flag("keepdims", false)) {
            return y;
        }
        return axes.length == node.rank(x) ? ops.reshape(y, 1) : ops.squeeze(y, axes);
    }

    private static String norm(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        String x = attributes.has("out_dtype")
                ? node.ops().cast(node.in(0), attributes.dtype("out_dtype", DType.FLOAT32))
                : node.in(0);
        int order = attributes.integer("ord", 2);
        if (order != 1 && order != 2) {
            throw attributes.wrong("ord", "1 or 2");
        }
        if (order == 1 && attributes.integers("axis").length == 2) {
            throw attributes.wrong("axis", "one number: a norm of order 1 is of vectors here, not of matrices");
        }
        return over(node, x, (ops, axes) -> order == 1
                ? ops.reduce("reduce_sum", ops.unary("abs", x), true, axes)
                : ops.unary("sqrt", ops.reduce("reduce_sum", ops.unary("square", x), true, axes)));
    }

    /** Mean and variance. */
    private static List<String> moments(NodeInputs node) {
        Ops ops = node.ops();
        String x = node.in(0);
        int[] named = Arrays.stream(node.attributes().integers("axes")).map(axis -> node.axis(x, axis)).distinct()
                .sorted().toArray();
        int[] axes = named.length == 0 ? Ops.range(0, node.rank(x)) : named;
        String mean = ops.reduce("reduce_mean", x, true, axes);
        String deviation = ops.unary("square", ops.binary("elementwise_sub", x, mean));
        String variance = ops.reduce("reduce_mean", deviation, true, axes);
        if (node.attributes().flag("keepdims", false)) {
            return List.of(mean, variance);
        }
        return axes.length == node.rank(x)
                ? List.of(ops.reshape(mean, 1), ops.reshape(variance, 1))
                : List.of(ops.squeeze(mean, axes), ops.squeeze(variance, axes));
    }

    /** The place of an extreme, as a number of the type of the elements. */
    private static String place(NodeInputs node, String type) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        boolean keep = attributes.flag("keepdims", false);
        if (!attributes.has("axis")) {
            String flat = ops.reshape(node.in(0), -1);
            String at = ops.op(type).in("X", flat).attr("axis", 0L).attr("keepdims", true).one("Out");
            long[] ones = new long[keep ? node.rank(node.in(0)) : 1];
            Arrays.fill(ones, 1);
            return ops.cast(ops.reshape(at, ones), node.dtype(node.in(0)));
        }
        long axis = node.axis(node.in(0), attributes.integer("axis", 0));
        boolean vector = node.rank(node.in(0)) == 1;
        String at = ops.op(type).in("X", node.in(0)).attr("axis", axis).attr("keepdims", keep || vector).one("Out");
        return ops.cast(at, node.dtype(node.in(0)));
    }
}
