package io.seriatim.onnx.write.operators;

import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.onnx.proto.ElementTypes;
import io.seriatim.tensor.DType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Operations that were read from ONNX because PaddlePaddle has none of their meaning. */
public final class OwnWriters {
    private OwnWriters() {
    }

    /** Adds the writers. */
    public static void register(OpWriters all) {
        all.add("onnx_where", op -> op.out("Out", op.node("Where", op.in("Condition"), op.in("X"), op.in("Y"))));
        all.add("onnx_round", op -> op.out("Out", op.node("Round", op.in("X"))));
        all.add("onnx_fmod", op -> op.out("Out", op.node("Mod", Map.of("fmod", 1), op.in("X"), op.in("Y"))));
        all.add("onnx_cumsum", op -> op.out("Out", op.node("CumSum",
                Map.of("exclusive", flag(op, "exclusive"), "reverse", flag(op, "reverse")), op.in("X"),
                op.in("Axis"))));
        all.add("onnx_range", op -> op.out("Out", op.node("Range", op.in("Start"), op.in("Limit"), op.in("Delta"))));
        all.add("onnx_eye_like", op -> op.out("Out", op.node("EyeLike", Map.of("k", op.attrs().getLong("k"), "dtype",
                ElementTypes.number(op.attrs().getDType("dtype"))), op.in("X"))));
        all.add("onnx_triangle", op -> op.out("Out",
                op.node("Trilu", Map.of("upper", flag(op, "upper")), op.in("X"), op.in("K"))));
        all.add("onnx_reshape", op -> op.out("Out",
                op.node("Reshape", Map.of("allowzero", flag(op, "allowzero")), op.in("X"), int64(op, "Shape"))));
        all.add("onnx_unsqueeze", op -> op.out("Out", op.node("Unsqueeze", op.in("X"), int64(op, "Axes"))));
        all.add("onnx_squeeze", op -> op.out("Out", op.node("Squeeze", op.in("X"), int64(op, "Axes"))));
        all.add("onnx_expand", op -> op.out("Out", op.node("Expand", op.in("X"), int64(op, "Shape"))));
        all.add("onnx_slice", op -> op.out("Out", op.nodes("Slice", 1, Map.of(), List.of(op.in("X"),
                int64(op, "Starts"), int64(op, "Ends"), axes(op), op.has("Steps") ? int64(op, "Steps") : ""))
                .getFirst()));
        all.add("onnx_scatter_nd", op -> op.out("Out", op.node("ScatterND", reduction(op), op.in("X"),
                int64(op, "Index"), op.in("Updates"))));
        all.add("onnx_one_hot", op -> op.out("Out", op.node("OneHot", Map.of("axis", op.attrs().getInt("axis")),
                op.cast(op.in("Indices"), DType.INT64), op.in("Depth"), op.in("Values"))));
        all.add("onnx_reverse_sequence", op -> op.out("Out", op.node("ReverseSequence",
                Map.of("time_axis", op.attrs().getInt("axis") == 0 ? 0 : 1, "batch_axis",
                        op.attrs().getInt("axis") == 0 ? 1 : 0),
                op.in("X"), int64(op, "Lengths"))));
        all.add("onnx_pad", OwnWriters::pad);
    }

    private static int flag(WrittenOp op, String attribute) {
        return op.attrs().getBool(attribute) ? 1 : 0;
    }

    private static String int64(WrittenOp op, String slot) {
        return op.dtype(slot) == DType.INT64 ? op.in(slot) : op.cast(op.in(slot), DType.INT64);
    }

    private static String axes(WrittenOp op) {
        if (op.has("Axes")) {
            return int64(op, "Axes");
        }
        long[] axes = op.attrs().getLongs("axes");
        return axes.length == 0 ? "" : op.ints(axes);
    }

    private static Map<String, Object> reduction(WrittenOp op) {
        String reduction = op.attrs().getText("reduction");
        if (op.opset() < 18 && (reduction.equals("max") || reduction.equals("min"))) {
            throw op.error("reduces by '%s', which ONNX has from version 18 on", reduction);
        }
        return Map.of("reduction", reduction);
    }

    private static void pad(WrittenOp op) {
        String mode = op.attrs().getText("mode");
        String axes = axes(op);
        if ((mode.equals("wrap") && op.opset() < 19) || (!axes.isEmpty() && op.opset() < 18)) {
            throw op.error("pads chosen axes or in mode wrap, which ONNX has from version 18 and 19 on");
        }
        Map<String, Object> attributes = new HashMap<>();
        attributes.put("mode", mode);
        op.out("Out", op.nodes("Pad", 1, attributes, List.of(op.in("X"), int64(op, "Pads"), op.in("Value"), axes))
                .getFirst());
    }
}
