package io.seriatim.onnx.write.operators;

import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.onnx.proto.ElementTypes;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/** Shapes, copies, and values that are made from nothing. */
public final class ShapeWriters {
    private ShapeWriters() {
    }

    /** Adds the writers. */
    public static void register(OpWriters all) {
        for (String type : List.of("reshape", "reshape2")) {
            all.add(type, op -> op.out("Out",
                    op.node("Reshape", op.in("X"), op.numbers("shape", "Shape", "ShapeTensor"))));
        }
        for (String type : List.of("transpose", "transpose2")) {
            all.add(type, op -> op.out("Out",
                    op.node("Transpose", Map.of("perm", LongStream.of(op.attrs().getLongs("axis"))
                            .map(axis -> op.axis(axis, op.rank("X"))).toArray()), op.in("X"))));
        }
        all.add("flatten_contiguous_range", ShapeWriters::flatten);
        all.add("flatten2", op -> op.out("Out",
                op.node("Flatten", Map.of("axis", op.attrs().getInt("axis")), op.in("X"))));
        for (String type : List.of("squeeze", "squeeze2")) {
            all.add(type, ShapeWriters::squeeze);
        }
        for (String type : List.of("unsqueeze", "unsqueeze2")) {
            all.add(type, op -> op.out("Out",
                    op.node("Unsqueeze", op.in("X"), op.numbers("axes", "AxesTensor", "AxesTensorList"))));
        }
        all.add("concat", ShapeWriters::concat);
        all.add("split", ShapeWriters::split);
        all.add("stack", ShapeWriters::stack);
        all.add("unstack", ShapeWriters::unstack);
        all.add("unbind", ShapeWriters::unbind);
        all.add("slice", ShapeWriters::slice);
        all.add("strided_slice", ShapeWriters::stridedSlice);
        all.add("expand_v2", ShapeWriters::expand);
        all.add("expand_as_v2", op -> op.out("Out", op.node("Expand", op.in("X"), op.has("Y")
                ? op.node("Shape", op.in("Y"))
                : op.ints(op.attrs().getLongs("target_shape")))));
        all.add("tile", ShapeWriters::tile);
        all.add("pad", op -> pad(op, op.attrs().getLongs("paddings"), op.attrs().getFloat("pad_value")));
        all.add("pad3d", op -> imagePad(op, 3));
        all.add("pad2d", op -> imagePad(op, 2));
        for (String type : List.of("flip", "reverse")) {
            all.add(type, ShapeWriters::flip);
        }
        all.add("roll", ShapeWriters::roll);
        all.add("shape", op -> op.out("Out", op.cast(op.node("Shape", op.in("Input")), op.outType("Out"))));
        all.add("size", op -> op.out("Out", op.node("Size", op.in("Input"))));
        all.add("fill_constant", ShapeWriters::fill);
        all.add("fill_any_like", ShapeWriters::fillLike);
        all.add("fill_zeros_like", op -> op.out("Out", filled(op, op.node("Shape", op.in("X")), op.outType("Out"), 0)));
        all.add("fill_constant_batch_size_like", ShapeWriters::fillBatch);
        all.add("assign_value", ShapeWriters::assignValue);
        all.add("range",
                op -> op.out("Out", op.node("Range", number(op, "Start"), number(op, "End"), number(op, "Step"))));
        all.add("eye", ShapeWriters::eye);
        all.add("tril_triu", op -> op.out("Out", op.node("Trilu", Map.of("upper", op.attrs().getBool("lower") ? 0 : 1),
                op.in("X"), op.scalar(DType.INT64, op.attrs().getInt("diagonal")))));
        all.add("meshgrid", ShapeWriters::meshgrid);
        all.add("pixel_shuffle", op -> op.out("Out", channelsFirst(op, op.in("X"), x -> op.node("DepthToSpace",
                Map.of("mode", "CRD", "blocksize", op.attrs().getInt("upscale_factor")), x))));
    }

    /** A function of an image whose channels come first. */
    interface OfImage {
        /** The result. */
        String apply(String image);
    }

    /** Applies a function to an image of 4 axes whose channels may come last. */
    static String channelsFirst(WrittenOp op, String x, OfImage function) {
        String attribute = op.attrs().has("data_format") ? "data_format" : "data_layout";
        boolean last = op.attrs().has(attribute) && op.attrs().getText(attribute).endsWith("C");
        if (!last) {
            return function.apply(x);
        }
        int rank = op.rank(op.has("X") ? "X" : "Input");
        long[] forth = LongStream.range(0, rank).map(i -> i == 0 ? 0 : i == 1 ? rank - 1L : i - 1).toArray();
        long[] back = LongStream.range(0, rank).map(i -> i == 0 ? 0 : i == rank - 1 ? 1 : i + 1).toArray();
        return op.node("Transpose", Map.of("perm", back),
                function.apply(op.node("Transpose", Map.of("perm", forth), x)));
    }

    private static String number(WrittenOp op, String slot) {
        return op.node("Reshape", op.cast(op.in(slot), op.outType("Out")), op.ints());
    }

    private static void flatten(WrittenOp op) {
        int rank = op.rank("X");
        if (rank == 0) {
            op.out("Out", op.node("Reshape", op.in("X"), op.ints(1)));
            return;
        }
        int start = op.axis(op.attrs().getInt("start_axis"), rank);
        int stop = op.axis(op.attrs().getInt("stop_axis"), rank);
        if (start == 1 && stop == rank - 1) {
            op.out("Out", op.node("Flatten", Map.of("axis", 1), op.in("X")));
            return;
        }
        List<String> parts = new ArrayList<>();
        String shape = op.node("Shape", op.in("X"));
        if (start > 0) {
            parts.add(op.node("Slice", shape, op.ints(0), op.ints(start)));
        }
        parts.add(op.ints(-1));
        if (stop < rank - 1) {
            parts.add(op.node("Slice", shape, op.ints(stop + 1L), op.ints(rank)));
        }
        op.out("Out", op.node("Reshape", op.in("X"),
                op.node("Concat", Map.of("axis", 0), parts.toArray(String[]::new))));
    }

    /** Paddle leaves axes that are longer than 1 as they are. */
    private static void squeeze(WrittenOp op) {
        long[] dims = op.dims("X");
        long[] axes = op.attrs().getLongs("axes");
        if (axes.length == 0 && LongStream.of(dims).anyMatch(each -> each < 0)) {
            // Only a run knows which axes have one element.
            String shape = op.node("Shape", op.in("X"));
            String kept = op.node("Not", op.node("Equal", shape, op.ints(1)));
            op.out("Out", op.node("Reshape", op.in("X"), op.node("Compress", Map.of("axis", 0), shape, kept)));
            return;
        }
        long[] removed = (axes.length == 0 ? LongStream.range(0, dims.length) : LongStream.of(axes))
                .map(each -> op.axis(each, dims.length))
                .filter(each -> dims[(int) each] == 1 || (axes.length > 0 && dims[(int) each] < 0)).toArray();
        op.out("Out", removed.length == 0
                ? op.node("Identity", op.in("X"))
                : op.node("Squeeze", op.in("X"), op.ints(removed)));
    }

    private static void concat(WrittenOp op) {
        if (op.has("AxisTensor")) {
            throw op.error("computes its axis, which ONNX does not have");
        }
        op.out("Out", op.nodes("Concat", 1, Map.of("axis", op.attrs().getInt("axis")), op.ins("X")).getFirst());
    }

    private static void split(WrittenOp op) {
        if (op.has("AxisTensor") || op.has("SectionsTensorList")) {
            throw op.error("computes its axis or sections, which is not written");
        }
        int axis = op.axis(op.attrs().getInt("axis"), op.rank("X"));
        int count = op.desc().output("Out").size();
        long[] sections = op.attrs().getLongs("sections");
        long whole = op.dims("X")[axis];
        if (sections.length == 0 && whole >= 0) {
            sections = new long[count];
            Arrays.fill(sections, whole / count);
        }
        long known = LongStream.of(sections).filter(each -> each >= 0).sum();
        if (LongStream.of(sections).anyMatch(each -> each < 0)) {
            if (whole < 0) {
                throw op.error("has a section of unknown length");
            }
            sections = LongStream.of(sections).map(each -> each < 0 ? whole - known : each).toArray();
        }
        Map<String, Object> attributes = op.opset() >= 18 && sections.length == 0
                ? Map.of("axis", axis, "num_outputs", count)
                : Map.of("axis", axis);
        results(op, "Out", op.nodes("Split", count, attributes, sections.length == 0
                ? List.of(op.in("X"))
                : List.of(op.in("X"), op.ints(sections))));
    }

    private static void results(WrittenOp op, String slot, List<String> values) {
        for (int i = 0; i < values.size(); i++) {
            op.out(slot, i, values.get(i));
        }
    }

    private static void stack(WrittenOp op) {
        int axis = op.axis(op.attrs().getInt("axis"), op.rank("X") + 1);
        List<String> parts = op.ins("X").stream().map(x -> op.node("Unsqueeze", x, op.ints(axis))).toList();
        op.out("Y", op.nodes("Concat", 1, Map.of("axis", axis), parts).getFirst());
    }

    private static void unstack(WrittenOp op) {
        parts(op, "Y");
    }

    private static void unbind(WrittenOp op) {
        parts(op, "Out");
    }

    private static void parts(WrittenOp op, String slot) {
        int axis = op.axis(op.attrs().getInt("axis"), op.rank("X"));
        int count = op.desc().output(slot).size();
        long[] ones = new long[count];
        Arrays.fill(ones, 1);
        List<String> parts = op.nodes("Split", count, Map.of("axis", axis), List.of(op.in("X"), op.ints(ones)));
        results(op, slot, parts.stream().map(part -> op.node("Squeeze", part, op.ints(axis))).toList());
    }

    private static void slice(WrittenOp op) {
        String starts = op.numbers("starts", "StartsTensor", "StartsTensorList");
        String ends = op.numbers("ends", "EndsTensor", "EndsTensorList");
        sliced(op, op.nodes("Slice", 1, Map.of(),
                List.of(op.in("Input"), starts, ends, op.ints(op.attrs().getLongs("axes")))).getFirst());
    }

    private static void stridedSlice(WrittenOp op) {
        String starts = op.numbers("starts", "StartsTensor", "StartsTensorList");
        long[] steps = op.attrs().getLongs("strides");
        String ends = op.has("EndsTensor") || op.has("EndsTensorList")
                ? op.numbers("ends", "EndsTensor", "EndsTensorList")
                : stops(op, steps);
        String strides = op.numbers("strides", "StridesTensor", "StridesTensorList");
        sliced(op, op.node("Slice", op.in("Input"), starts, ends, op.ints(op.attrs().getLongs("axes")), strides));
    }

    /** Backwards, −1 is the place before the first element, and an end further off the first, which is left out. */
    private static String stops(WrittenOp op, long... steps) {
        long[] stops = op.attrs().getLongs("ends").clone();
        int[] axes = op.attrs().getInts("axes");
        long[] dims = op.dims("Input");
        List<String> parts = new ArrayList<>();
        boolean computed = false;
        for (int i = 0; i < stops.length; i++) {
            boolean back = i < steps.length && steps[i] < 0;
            int axis = op.axis(axes[i], dims.length);
            if (back && stops[i] < -1 && dims[axis] < 0) {
                String length = op.node("Gather", op.node("Shape", op.in("Input")), op.ints(axis));
                parts.add(op.node("Max", op.node("Add", length, op.ints(stops[i])), op.ints(0)));
                computed = true;
                continue;
            }
            if (back && stops[i] < 0) {
                stops[i] = stops[i] == -1 ? Long.MIN_VALUE + 1 : Math.max(0, stops[i] + dims[axis]);
            }
            parts.add(op.ints(stops[i]));
        }
        return computed
                ? op.node("Concat", Map.of("axis", 0), parts.toArray(String[]::new))
                : op.ints(stops);
    }

    private static void sliced(WrittenOp op, String slice) {
        long[] dropped = op.attrs().getLongs("decrease_axis");
        op.out("Out", dropped.length == 0 ? slice : op.node("Squeeze", slice, op.ints(dropped)));
    }

    /** −1 keeps a dimension, as 1 does in ONNX. */
    private static void expand(WrittenOp op) {
        String shape;
        if (op.has("Shape") || op.has("expand_shapes_tensor")) {
            String given = op.numbers("shape", "Shape", "expand_shapes_tensor");
            shape = op.node("Max", given, op.ints(1));
        } else {
            shape = op.ints(LongStream.of(op.attrs().getLongs("shape")).map(each -> each < 0 ? 1 : each).toArray());
        }
        op.out("Out", op.node("Expand", op.in("X"), shape));
    }

    private static void tile(WrittenOp op) {
        int rank = op.rank("X");
        if (op.has("RepeatTimes") || op.has("repeat_times_tensor")) {
            long count = op.has("RepeatTimes") ? op.dims("RepeatTimes")[0] : op.count("repeat_times_tensor");
            if (count != rank) {
                throw op.error("computes %d repetitions of an operand of rank %d, but ONNX needs as many", count, rank);
            }
            op.out("Out",
                    op.node("Tile", op.in("X"), op.numbers("repeat_times", "RepeatTimes", "repeat_times_tensor")));
            return;
        }
        long[] times = op.attrs().getLongs("repeat_times");
        String x = op.in("X");
        if (times.length > rank) {
            x = op.node("Unsqueeze", x, op.ints(LongStream.range(0, times.length - rank).toArray()));
        } else if (times.length < rank) {
            long[] all = new long[rank];
            Arrays.fill(all, 1);
            System.arraycopy(times, 0, all, rank - times.length, times.length);
            times = all;
        }
        op.out("Out", op.node("Tile", x, op.ints(times)));
    }

    /** Paddle has pairs for each axis; ONNX has all beginnings, then all ends. */
    private static void pad(WrittenOp op, long[] pairs, float value) {
        long[] pads = new long[pairs.length];
        for (int i = 0; i < pairs.length / 2; i++) {
            pads[i] = pairs[2 * i];
            pads[pairs.length / 2 + i] = pairs[2 * i + 1];
        }
        op.out("Out", op.node("Pad", op.in("X"), op.ints(pads), op.scalar(op.dtype("X"), value)));
    }

    /** Paddle names the pads of the last axis first in pad3d, and top, bottom, left, right in pad2d. */
    private static void imagePad(WrittenOp op, int spatial) {
        if (op.has("Paddings")) {
            throw op.error("computes its paddings, which is not written");
        }
        long[] given = op.attrs().getLongs("paddings");
        int rank = op.rank("X");
        boolean last = op.attrs().getText("data_format").endsWith("C");
        long[] pads = new long[2 * rank];
        for (int i = 0; i < spatial; i++) {
            int axis = last ? 1 + i : rank - spatial + i;
            int pair = spatial == 3 ? spatial - 1 - i : i;
            pads[axis] = given[2 * pair];
            pads[rank + axis] = given[2 * pair + 1];
        }
        String mode = switch (op.attrs().getText("mode")) {
            case "constant" -> "constant";
            case "reflect" -> "reflect";
            case "replicate", "edge" -> "edge";
            case "circular" -> {
                if (op.opset() < 19) {
                    throw op.error("pads in mode circular, which ONNX has from version 19 on");
                }
                yield "wrap";
            }
            default -> throw op.error("pads in mode %s", op.attrs().getText("mode"));
        };
        float value = op.attrs().getFloat(spatial == 3 ? "value" : "pad_value");
        String pairs = op.ints(LongStream.of(pads).map(each -> Math.max(0, each)).toArray());
        String padded = mode.equals("constant")
                ? op.node("Pad", Map.of("mode", mode), op.in("X"), pairs, op.scalar(op.dtype("X"), value))
                : op.node("Pad", Map.of("mode", mode), op.in("X"), pairs);
        op.out("Out", LongStream.of(pads).allMatch(each -> each >= 0) ? padded : cut(op, padded, pads));
    }

    /** Negative numbers cut elements off, which ONNX does before it pads: it would repeat others. */
    private static String cut(WrittenOp op, String x, long[] pads) {
        int rank = pads.length / 2;
        long[] starts = new long[rank];
        long[] ends = new long[rank];
        for (int i = 0; i < rank; i++) {
            starts[i] = Math.max(0, -pads[i]);
            ends[i] = pads[rank + i] < 0 ? pads[rank + i] : Long.MAX_VALUE;
        }
        return op.node("Slice", x, op.ints(starts), op.ints(ends));
    }

    private static void flip(WrittenOp op) {
        long[] axes = op.attrs().getLongs("axis");
        long[] starts = new long[axes.length];
        Arrays.fill(starts, -1);
        long[] ends = new long[axes.length];
        Arrays.fill(ends, Long.MIN_VALUE + 1);
        op.out("Out", op.node("Slice", op.in("X"), op.ints(starts), op.ints(ends), op.ints(axes), op.ints(starts)));
    }

    private static void roll(WrittenOp op) {
        if (op.has("ShiftsTensor")) {
            throw op.error("computes its shifts, which is not written");
        }
        long[] shifts = op.attrs().getLongs("shifts");
        long[] axes = op.attrs().getLongs("axis");
        String value = axes.length == 0 ? op.node("Reshape", op.in("X"), op.ints(-1)) : op.in("X");
        long[] dims = op.dims("X");
        for (int i = 0; i < shifts.length; i++) {
            long axis = axes.length == 0 ? 0 : op.axis(axes[i], dims.length);
            long length = axes.length == 0 ? product(op, dims) : dims[(int) axis];
            if (length < 0) {
                throw op.error("moves elements along an axis of unknown length, which is not written");
            }
            long cut = length == 0 ? 0 : Math.floorMod(-shifts[i], length);
            String front = op.node("Slice", value, op.ints(cut), op.ints(length), op.ints(axis));
            String back = op.node("Slice", value, op.ints(0), op.ints(cut), op.ints(axis));
            value = op.node("Concat", Map.of("axis", axis), front, back);
        }
        op.out("Out", axes.length == 0 ? op.node("Reshape", value, op.node("Shape", op.in("X"))) : value);
    }

    private static long product(WrittenOp op, long[] dims) {
        if (LongStream.of(dims).anyMatch(each -> each < 0)) {
            throw op.error("moves all elements of an operand of unknown size, which is not written");
        }
        return LongStream.of(dims).reduce(1, Math::multiplyExact);
    }

    /** A tensor of equal elements. */
    static String filled(WrittenOp op, String shape, DType dtype, double value) {
        return op.node("ConstantOfShape", Map.of("value", Tensor.of(dtype, new double[]{value}, 1)), shape);
    }

    private static double value(WrittenOp op) {
        String text = op.attrs().has("str_value") ? op.attrs().getText("str_value") : "";
        try {
            return switch (text) {
                case "" -> op.attrs().getFloat("value");
                case "inf" -> Double.POSITIVE_INFINITY;
                case "-inf" -> Double.NEGATIVE_INFINITY;
                case "nan" -> Double.NaN;
                default -> Double.parseDouble(text);
            };
        } catch (NumberFormatException e) {
            throw op.error("has a str_value that is no number: '%s'", text);
        }
    }

    private static void fill(WrittenOp op) {
        DType dtype = op.attrs().getDType("dtype");
        String text = op.attrs().getText("str_value").strip();
        if ((dtype == DType.INT64 || dtype == DType.UINT64) && !op.has("ValueTensor")
                && text.matches("[+-]?[0-9]{1,20}")) {
            // A double between the text and the elements would round it.
            long whole = new BigInteger(text).longValue();
            op.out("Out", op.node("ConstantOfShape", Map.of("value", Tensor.of(dtype, new long[]{whole}, 1)),
                    op.numbers("shape", "ShapeTensor", "ShapeTensorList")));
            return;
        }
        if (op.has("ValueTensor")) {
            op.out("Out", op.node("Expand", op.cast(op.in("ValueTensor"), dtype),
                    op.numbers("shape", "ShapeTensor", "ShapeTensorList")));
            return;
        }
        op.out("Out", filled(op, op.numbers("shape", "ShapeTensor", "ShapeTensorList"), dtype, value(op)));
    }

    private static void fillLike(WrittenOp op) {
        op.out("Out", filled(op, op.node("Shape", op.in("X")), op.outType("Out"), op.attrs().getFloat("value")));
    }

    private static void fillBatch(WrittenOp op) {
        long[] shape = op.attrs().getLongs("shape");
        int from = op.attrs().getInt("input_dim_idx");
        int to = op.attrs().getInt("output_dim_idx");
        String length = op.node("Slice", op.node("Shape", op.in("Input")), op.ints(from), op.ints(from + 1L));
        List<String> parts = new ArrayList<>();
        if (to > 0) {
            parts.add(op.ints(Arrays.copyOf(shape, to)));
        }
        parts.add(length);
        if (to + 1 < shape.length) {
            parts.add(op.ints(Arrays.copyOfRange(shape, to + 1, shape.length)));
        }
        op.out("Out", filled(op, op.node("Concat", Map.of("axis", 0), parts.toArray(String[]::new)),
                op.attrs().getDType("dtype"), value(op)));
    }

    private static void assignValue(WrittenOp op) {
        DType dtype = op.attrs().getDType("dtype");
        long[] shape = op.attrs().getLongs("shape");
        String attribute = switch (dtype) {
            case FLOAT32 -> "fp32_values";
            case FLOAT64 -> "fp64_values";
            case INT32 -> "int32_values";
            case INT64 -> "int64_values";
            case BOOL -> "bool_values";
            default -> throw op.error("has values of type %s", dtype);
        };
        Tensor value = dtype.isFloating()
                ? Tensor.of(dtype, op.attrs().getDoubles(attribute), shape)
                : Tensor.of(dtype, op.attrs().getLongs(attribute), shape);
        op.out("Out", op.graph().constant(value));
    }

    private static void eye(WrittenOp op) {
        long rows = op.attrs().getLong("num_rows");
        long columns = op.attrs().getLong("num_columns");
        DType dtype = op.attrs().getDType("dtype");
        op.out("Out", op.node("EyeLike", Map.of("dtype", ElementTypes.number(dtype)),
                filled(op, op.ints(rows, columns < 0 ? rows : columns), DType.FLOAT32, 0)));
    }

    private static void meshgrid(WrittenOp op) {
        int count = op.count("X");
        List<String> lengths = op.ins("X").stream().map(x -> op.node("Size", x)).toList();
        List<String> all = lengths.stream().map(length -> op.node("Reshape", length, op.ints(1))).toList();
        String shape = op.nodes("Concat", 1, Map.of("axis", 0), all).getFirst();
        for (int i = 0; i < count; i++) {
            long[] own = new long[count];
            Arrays.fill(own, 1);
            own[i] = -1;
            op.out("Out", i, op.node("Expand", op.node("Reshape", op.in("X", i), op.ints(own)), shape));
        }
    }
}
