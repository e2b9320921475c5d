package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;

/** Reductions as {@code mx.np} has them: over all axes they give a tensor without dimensions. */
final class NumpyReductionTranslators {
    private NumpyReductionTranslators() {
    }

    static void register(Translators table) {
        plain(table, "reduce_sum", "_np_sum");
        plain(table, "reduce_prod", "_np_prod", "_np_product");
        extreme(table, "reduce_max", "reduce_any", "_np_max", "_np_amax");
        extreme(table, "reduce_min", "reduce_all", "_np_min", "_np_amin");
        table.one(node -> mean(node, floating(node)), "_npi_mean");
        table.one(NumpyReductionTranslators::variance, "_npi_var");
        table.one(node -> node.ops().unary("sqrt", variance(node)), "_npi_std");
        table.one(node -> truth(node, "reduce_any"), "_np_any", "_np_sometrue");
        table.one(node -> truth(node, "reduce_all"), "_np_all");
        table.one(node -> place(node, "arg_max"), "_npi_argmax");
        table.one(node -> place(node, "arg_min"), "_npi_argmin");
        table.one(NumpyReductionTranslators::norm, "_npi_norm");
        table.many(NumpyReductionTranslators::average, "_npi_average");
    }

    private static void plain(Translators table, String type, String... operators) {
        table.one(node -> {
            if (node.attributes().has("initial")) {
                throw node.attributes().wrong("initial", "None");
            }
            DType given = node.dtype(node.in(0));
            String typed = node.ops().cast(node.in(0),
                    node.attributes().dtype("dtype", given == DType.BOOL ? DType.INT64 : given));
            return over(node, typed, (ops, axes) -> ops.reduce(type, typed, true, axes));
        }, operators);
    }

    /** The largest or smallest elements; of bools, whether any or all are true. */
    private static void extreme(Translators table, String type, String ofTruth, String... operators) {
        table.one(node -> {
            if (node.attributes().has("initial")) {
                throw node.attributes().wrong("initial", "None");
            }
            String x = node.in(0);
            String used = node.dtype(x) == DType.BOOL ? ofTruth : type;
            return over(node, x, (ops, axes) -> ops.reduce(used, x, true, axes));
        }, operators);
    }

    private static int[] axes(NodeInputs node, String x) {
        int[] named = Arrays.stream(node.attributes().integers("axis")).map(axis -> node.axis(x, axis)).distinct()
                .sorted().toArray();
        // An empty tuple names no axis; None stands for all.
        return named.length == 0 && !node.attributes().has("axis") ? Ops.range(0, node.rank(x)) : named;
    }

    /** Applies a reduction that keeps the axes, and drops them afterwards. */
    private static String over(NodeInputs node, String x, BiFunction<Ops, int[], String> reduction) {
        int[] axes = axes(node, x);
        if (axes.length == 0) {
            return x;
        }
        String y = reduction.apply(node.ops(), axes);
        return node.attributes().flag("keepdims", false) ? y : node.ops().squeeze(y, axes);
    }

    private static void requireAxes(NodeInputs node, String x) {
        if (axes(node, x).length == 0) {
            throw node.unsupported("the elements of one axis or more are reduced, but there is none");
        }
    }

    private static String floating(NodeInputs node) {
        DType given = node.dtype(node.in(0));
        return node.ops().cast(node.in(0),
                node.attributes().dtype("dtype", given.isFloating() ? given : DType.FLOAT32));
    }

    private static String mean(NodeInputs node, String x) {
        return over(node, x, (ops, axes) -> ops.reduce("reduce_mean", x, true, axes));
    }

    private static String variance(NodeInputs node) {
        String x = floating(node);
        int freedom = node.attributes().integer("ddof", 0);
        requireAxes(node, x);
        return over(node, x, (ops, axes) -> {
            String mean = ops.reduce("reduce_mean", x, true, axes);
            String squares = ops.unary("square", ops.binary("elementwise_sub", x, mean));
            if (freedom == 0) {
                return ops.reduce("reduce_mean", squares, true, axes);
            }
            String count = ops.reduce("reduce_sum", ops.filledLike(x, 1), true, axes);
            return ops.binary("elementwise_div", ops.reduce("reduce_sum", squares, true, axes),
                    ops.scale(count, 1, -freedom));
        });
    }

    private static String truth(NodeInputs node, String type) {
        String x = BinaryTranslators.isTrue(node, node.in(0));
        return over(node, x, (ops, axes) -> ops.reduce(type, x, true, axes));
    }

    /** The place of an extreme, as int64. */
    private static String place(NodeInputs node, String type) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        boolean flat = !attributes.has("axis");
        String x = flat ? ops.reshape(node.in(0), -1) : node.in(0);
        int axis = flat ? 0 : node.axis(x, attributes.integer("axis", 0));
        String at = ops.op(type).in("X", x).attr("axis", (long) axis).attr("keepdims", true).one("Out");
        if (attributes.flag("keepdims", false)) {
            long[] ones = new long[node.rank(node.in(0))];
            Arrays.fill(ones, 1);
            return flat ? ops.reshape(at, ones) : at;
        }
        return ops.squeeze(at, axis);
    }

    private static String norm(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        String x = node.in(0);
        // Flags: -2 and 1 the root of the sum of squares, -1 a vector's norm, 0 an extreme singular value, 2 their
        // sum.
        int flag = attributes.integer("flag", 1);
        if (flag == 0 || flag == 2) {
            throw attributes.wrong("flag", "-2, -1 or 1: norms of singular values are not computed here");
        }
        requireAxes(node, x);
        String order = flag == -1 ? attributes.text("ord", "2") : "2";
        return over(node, x, (ops, axes) -> {
            String size = ops.unary("abs", x);
            return switch (order) {
                case "2", "2.0" -> ops.unary("sqrt", ops.reduce("reduce_sum", ops.unary("square", x), true, axes));
                case "1", "1.0" -> ops.reduce("reduce_sum", size, true, axes);
                case "inf" -> ops.reduce("reduce_max", size, true, axes);
                case "-inf" -> ops.reduce("reduce_min", size, true, axes);
                default -> throw attributes.wrong("ord", "1, 2, inf or -inf");
            };
        });
    }

    private static List<String> average(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        if (attributes.flag("weighted", node.count() > 1) || attributes.flag("returned", false)) {
            throw attributes.wrong("weighted", "False, as the attribute 'returned'");
        }
        return List.of(mean(node, floating(node)));
    }
}
