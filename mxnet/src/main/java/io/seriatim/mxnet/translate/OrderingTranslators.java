package io.seriatim.mxnet.translate;

import io.seriatim.tensor.DType;
import java.util.List;

/** Sorted elements, and the largest or smallest ones. */
final class OrderingTranslators {
    private OrderingTranslators() {
    }

    static void register(Translators table) {
        table.one(node -> sorted(node, true).getFirst(), "sort");
        table.one(node -> node.ops().cast(sorted(node, true).getLast(),
                node.attributes().dtype("dtype", DType.FLOAT32)), "argsort");
        table.many(OrderingTranslators::top, "topk");
        table.one(OrderingTranslators::cumulated, "_np_cumsum", "cumsum");
    }

    private static List<String> sorted(NodeInputs node, boolean ascends) {
        AttributeMap attributes = node.attributes();
        boolean flat = attributes.text("axis", "").isEmpty() && node.node().attributes().containsKey("axis");
        String x = flat ? node.ops().reshape(node.in(0), -1) : node.in(0);
        return node.op("argsort").in("X", x).attr("axis", flat ? 0 : attributes.integer("axis", -1))
                .attr("descending", !attributes.flag("is_ascend", ascends)).each("Out", "Indices");
    }

    private static List<String> top(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        Ops ops = node.ops();
        boolean flat = attributes.text("axis", "").isEmpty() && node.node().attributes().containsKey("axis");
        String x = flat ? ops.reshape(node.in(0), -1) : node.in(0);
        int axis = flat ? 0 : node.axis(x, attributes.integer("axis", -1));
        int k = attributes.integer("k", 1);
        // The sort is stable as MXNet's; without a number, all are wanted.
        List<String> all = ops.op("argsort").in("X", x).attr("axis", axis)
                .attr("descending", !attributes.flag("is_ascend", false)).each("Out", "Indices");
        String values = k < 1 ? all.getFirst() : ops.slice(all.getFirst(), axis, 0, k);
        String places = k < 1 ? all.getLast() : ops.slice(all.getLast(), axis, 0, k);
        String numbers = ops.cast(places, attributes.dtype("dtype", DType.FLOAT32));
        return switch (attributes.text("ret_typ", "indices")) {
            case "indices" -> List.of(numbers);
            case "value" -> List.of(values);
            case "both" -> List.of(values, numbers);
            case "mask" -> List.of(mask(node, x, places, axis));
            default -> throw attributes.wrong("ret_typ", "indices, value, both or mask");
        };
    }

    private static String mask(NodeInputs node, String x, String places, int axis) {
        Ops ops = node.ops();
        String zeros = ops.op("fill_any_like").in("X", x).attr("value", 0f).one("Out");
        String ones = ops.op("fill_any_like").in("X", ops.cast(places, node.dtype(x))).attr("value", 1f).one("Out");
        String mask = ops.op("put_along_axis").in("Input", zeros).in("Index", places).in("Value", ones)
                .attr("Axis", axis).attr("Reduce", "assign").one("Result");
        return node.rank(node.in(0)) == node.rank(x) ? mask : ops.reshape(mask, ops.shape(node.in(0)));
    }

    private static String cumulated(NodeInputs node) {
        AttributeMap attributes = node.attributes();
        boolean flat = !attributes.has("axis");
        String x = node.ops().cast(node.in(0), attributes.dtype("dtype", node.dtype(node.in(0))));
        return node.op("cumsum").in("X", flat ? node.ops().reshape(x, -1) : x)
                .attr("axis", flat ? 0 : attributes.integer("axis", 0)).one("Out");
    }
}
