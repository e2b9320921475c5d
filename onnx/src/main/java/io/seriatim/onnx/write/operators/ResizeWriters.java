package io.seriatim.onnx.write.operators;

import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;

/** Images of another size. */
public final class ResizeWriters {
    /** The elements that ONNX Runtime resizes. */
    private static final Set<DType> RESIZED = Set.of(DType.FLOAT32, DType.FLOAT16, DType.INT32, DType.INT8,
            DType.UINT8);

    private ResizeWriters() {
    }

    /** Adds the writers. */
    public static void register(OpWriters all) {
        for (String kind : List.of("nearest", "bilinear", "bicubic", "linear", "trilinear")) {
            all.add(kind + "_interp_v2", op -> resize(op, kind));
        }
    }

    private static void resize(WrittenOp op, String kind) {
        if (op.attrs().getText("data_layout").endsWith("C")) {
            throw op.error("has its channels last, which is not written");
        }
        if (!RESIZED.contains(op.dtype("X"))) {
            op.out("Out", picked(op, kind));
            return;
        }
        boolean corners = op.attrs().getBool("align_corners");
        Map<String, Object> attributes = new HashMap<>();
        switch (kind) {
            case "nearest" -> {
                attributes.put("mode", "nearest");
                attributes.put("nearest_mode", corners ? "round_prefer_ceil" : "floor");
                attributes.put("coordinate_transformation_mode", corners ? "align_corners" : "asymmetric");
            }
            case "bicubic" -> {
                attributes.put("mode", "cubic");
                attributes.put("cubic_coeff_a", -0.75f);
                attributes.put("coordinate_transformation_mode", corners ? "align_corners" : "half_pixel");
            }
            default -> {
                attributes.put("mode", "linear");
                attributes.put("coordinate_transformation_mode",
                        corners ? "align_corners" : op.attrs().getInt("align_mode") == 0 ? "half_pixel" : "asymmetric");
            }
        }
        int spatial = op.rank("X") - 2;
        String sizes = sizes(op, spatial);
        float[] scales = scales(op, spatial);
        if ((op.has("SizeTensor") || op.has("OutSize")) && scales.length > 0) {
            throw op.error("has computed sizes and scales, which ONNX does not have together");
        }
        if (sizes.isEmpty() && scales.length == 0) {
            throw op.error("has neither sizes nor known scales");
        }
        op.out("Out", sizes.isEmpty()
                ? op.node("Resize", attributes, op.in("X"), "", op.graph().constant(Tensor.of(scales, scales.length)))
                : op.node("Resize", attributes, op.in("X"), "", "",
                        op.node("Concat", Map.of("axis", 0),
                                op.node("Slice", op.node("Shape", op.in("X")), op.ints(0), op.ints(2)), sizes)));
    }

    /** The nearest elements, which are known where the lengths are. */
    private static String picked(WrittenOp op, String kind) {
        DType dtype = op.dtype("X");
        long[] from = op.dims("X");
        long[] to = op.outDims("Out");
        boolean open = LongStream.concat(LongStream.of(from), LongStream.of(to)).skip(2).anyMatch(each -> each < 0);
        if (!kind.equals("nearest") || open || op.has("SizeTensor") || op.has("OutSize")) {
            throw op.error("resizes elements of %s%s, which ONNX Runtime does not: cast them to float32 before it%s",
                    dtype, kind.equals("nearest") ? " whose number is open" : "",
                    kind.equals("nearest") ? ", or declare the sizes" : "");
        }
        boolean corners = op.attrs().getBool("align_corners");
        float[] scales = scales(op, from.length - 2);
        String x = op.in("X");
        for (int axis = 2; axis < from.length; axis++) {
            long length = from[axis];
            float step = to[axis] <= 1
                    ? 0
                    : corners
                            ? (float) (length - 1) / (to[axis] - 1)
                            : scales.length > 0 ? 1 / scales[axis] : (float) length / to[axis];
            long[] places = LongStream.range(0, to[axis])
                    .map(i -> Math.min((long) (step * i + (corners ? 0.5f : 0)), length - 1)).toArray();
            x = op.node("Gather", Map.of("axis", axis), x, op.ints(places));
        }
        return x;
    }

    private static String sizes(WrittenOp op, int spatial) {
        if (op.has("SizeTensor")) {
            return op.numbers("", "", "SizeTensor");
        }
        if (op.has("OutSize")) {
            return op.node("Reshape", op.cast(op.in("OutSize"), DType.INT64), op.ints(spatial));
        }
        if (op.has("Scale") || op.attrs().getDoubles("scale").length > 0) {
            return "";
        }
        long[] all = {op.attrs().getInt("out_d"), op.attrs().getInt("out_h"), op.attrs().getInt("out_w")};
        return op.ints(Arrays.copyOfRange(all, 3 - spatial, 3));
    }

    private static float[] scales(WrittenOp op, int spatial) {
        if (op.has("Scale")) {
            throw op.error("computes its scales, which is not written");
        }
        double[] given = op.attrs().getDoubles("scale");
        if (given.length == 0) {
            return new float[0];
        }
        float[] scales = new float[spatial + 2];
        Arrays.fill(scales, 1);
        for (int i = 0; i < spatial; i++) {
            scales[2 + i] = (float) given[given.length == 1 ? 0 : i];
        }
        return scales;
    }
}
