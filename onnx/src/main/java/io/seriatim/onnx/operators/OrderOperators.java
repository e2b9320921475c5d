package io.seriatim.onnx.operators;

import io.seriatim.graph.translate.OpAppender;
import io.seriatim.graph.translate.Ref;
import io.seriatim.onnx.node.Node;
import io.seriatim.onnx.node.Registry;
import java.util.List;

/** The largest elements, the different ones, those that are not 0, and those of a triangle. */
public final class OrderOperators {
    private OrderOperators() {
    }

    /** Adds the operators. */
    public static void register(Registry operators) {
        operators.all("TopK", OrderOperators::top);
        operators.all("Unique", OrderOperators::unique);
        operators.one("NonZero", OrderOperators::nonZero);
        operators.one("Trilu", OrderOperators::triangle);
    }

    private static List<Ref> top(Node node) {
        Ref x = node.input(0);
        OpAppender top = node.op("top_k_v2").in("X", x).attr("axis", node.int32("axis", -1))
                .attr("largest", node.flag("largest", true)).attr("sorted", true);
        long[] k = node.version() < 10 ? new long[]{node.integer("k", 1)} : node.integers(1);
        if (k != null && k.length != 1) {
            throw node.error("k is one number, but there are %d", k.length);
        }
        return (k == null ? top.in("K", node.input(1)) : top.attr("k", k[0])).outs("Out", "Indices");
    }

    private static List<Ref> unique(Node node) {
        OpAppender unique = node.op("onnx_unique").in("X", node.input(0)).attr("sorted", node.flag("sorted", true));
        if (node.hasAttribute("axis")) {
            unique.attr("axis", new int[]{node.int32("axis", 0)});
        }
        return unique.outs("Out", "Indices", "Inverse", "Counts");
    }

    private static Ref nonZero(Node node) {
        Ref x = node.input(0);
        Ref from = x.rank() == 0 ? node.block().reshape(x, 1) : x;
        return node.block().transpose(node.op("where_index").in("Condition", from).out("Out"), 1, 0);
    }

    private static Ref triangle(Node node) {
        Ref x = node.input(0);
        boolean upper = node.flag("upper", true);
        long[] k = node.has(1) ? node.integers(1) : new long[]{0};
        if (k != null && k.length == 1 && k[0] == (int) k[0]) {
            return node.op("tril_triu").in("X", x).attr("lower", !upper).attr("diagonal", k[0]).out("Out");
        }
        return node.op("onnx_triangle").in("X", x).in("K", node.input(1)).attr("upper", upper).out("Out");
    }
}
