package io.seriatim.onnx.write.operators;

import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.onnx.proto.ElementTypes;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/** Operations of older programs, of sampling and of regions, and random numbers. */
public final class OtherWriters {
    private OtherWriters() {
    }

    /** Adds the writers. */
    public static void register(OpWriters all) {
        for (String type : List.of("memcpy", "memcpy_d2h", "memcpy_h2d", "transfer_dtype")) {
            all.add(type, op -> op.out("Out", op.outType("Out") == op.dtype("X")
                    ? op.node("Identity", op.in("X"))
                    : op.cast(op.in("X"), op.outType("Out"))));
        }
        all.add("minus", op -> op.out("Out", op.node("Sub", op.in("X"), op.in("Y"))));
        all.add("trunc", op -> op.out("Out", op.dtype("X").isFloating()
                ? op.node("Mul", op.node("Sign", op.in("X")), op.node("Floor", op.node("Abs", op.in("X"))))
                : op.node("Identity", op.in("X"))));
        all.add("bitwise_not", OtherWriters::bitwiseNot);
        all.add("lerp", op -> op.out("Out", op.node("Add", op.in("X"),
                op.node("Mul", op.in("Weight"), op.node("Sub", op.in("Y"), op.in("X"))))));
        all.add("squared_l2_norm", op -> op.out("Out",
                op.node("Reshape", op.node("ReduceSumSquare", Map.of("keepdims", 0), op.in("X")), op.ints(1))));
        all.add("fc", OtherWriters::fullyConnected);
        all.add("grid_sampler", OtherWriters::gridSample);
        all.add("pixel_unshuffle", OtherWriters::pixelUnshuffle);
        all.add("channel_shuffle", op -> shuffle(op, "groups"));
        all.add("shuffle_channel", op -> shuffle(op, "group"));
        all.add("put_along_axis", OtherWriters::putAlongAxis);
        all.add("einsum", op -> op.out("Out",
                op.nodes("Einsum", 1, Map.of("equation", op.attrs().getText("equation")), op.ins("Operands"))
                        .getFirst()));
        all.add("determinant", op -> op.out("Out", op.node("Det", op.in("Input"))));
        all.add("roi_align", OtherWriters::roiAlign);
        all.add("maxout", OtherWriters::maxout);
        all.add("expand", op -> op.out("Out", op.node("Tile", op.in("X"),
                op.numbers("expand_times", "ExpandTimes", "expand_times_tensor"))));
        all.add("uniform_random", op -> random(op, "RandomUniform",
                Map.of("low", op.attrs().getFloat("min"), "high", op.attrs().getFloat("max"))));
        all.add("gaussian_random", op -> random(op, "RandomNormal",
                Map.of("mean", op.attrs().getFloat("mean"), "scale", op.attrs().getFloat("std"))));
        all.add("bernoulli", op -> op.out("Out", op.node("Bernoulli", op.in("X"))));
    }

    private static void bitwiseNot(WrittenOp op) {
        if (op.dtype("X") == DType.BOOL) {
            op.out("Out", op.node("Not", op.in("X")));
        } else {
            // The complement of a number in two's complement.
            op.out("Out", op.node("Sub", ElementwiseWriters.number(op, -1), op.in("X")));
        }
    }

    private static void fullyConnected(WrittenOp op) {
        if (op.attrs().getBool("padding_weights")) {
            throw op.error("has padded weights, which are not written");
        }
        int kept = op.attrs().getInt("in_num_col_dims");
        int rank = op.rank("Input");
        String x = rank == kept + 1 ? op.in("Input") : op.node("Flatten", Map.of("axis", kept), op.in("Input"));
        if (rank != kept + 1 && kept != 1) {
            throw op.error("keeps %d axes and joins %d, which is not written", kept, rank - kept);
        }
        String product = op.node("MatMul", x, op.in("W"));
        String sum = op.has("Bias") ? op.node("Add", product, op.in("Bias")) : product;
        op.out("Out", op.attrs().getText("activation_type").equals("relu") ? op.node("Relu", sum) : sum);
    }

    private static void gridSample(WrittenOp op) {
        if (op.rank("X") != 4) {
            throw op.error("samples volumes, which ONNX has from version 20 on");
        }
        boolean moved = op.attrs().getText("mode").equals("nearest") && !op.attrs().getBool("half_to_even");
        op.out("Output", op.node("GridSample", Map.of("mode", op.attrs().getText("mode"), "padding_mode",
                op.attrs().getText("padding_mode"), "align_corners", op.attrs().getBool("align_corners") ? 1 : 0),
                op.in("X"), moved ? toNearest(op) : op.in("Grid")));
    }

    /**
     * Moves places to the middle of the nearest element: in the middle between two, ONNX takes that with an even
     * number, PaddlePaddle 2 the outer one.
     */
    private static String toNearest(WrittenOp op) {
        long[] dims = op.dims("X");
        if (dims[2] < 0 || dims[3] < 0 || op.attrs().getText("padding_mode").equals("reflection")) {
            throw op.error("takes the outer of two elements that are equally near, which ONNX does for images of known "
                    + "sizes without reflection only");
        }
        boolean corners = op.attrs().getBool("align_corners");
        String first = ElementwiseWriters.number(op, corners ? 0 : -0.5);
        String one = ElementwiseWriters.number(op, 1);
        String[] halves = new String[2];
        for (int i = 0; i < 2; i++) {
            long span = dims[3 - i] - (corners ? 1 : 0);
            halves[i] = op.node("Reshape", ElementwiseWriters.number(op, span == 0 ? 1 : span / 2.0), op.ints(1));
        }
        String half = op.node("Concat", Map.of("axis", 0), halves);
        String place = op.node("Add", op.node("Mul", op.node("Add", op.in("Grid"), one), half), first);
        String whole = ElementwiseWriters.awayFromZero(op, place);
        return op.node("Sub", op.node("Div", op.node("Sub", whole, first), half), one);
    }

    private static void pixelUnshuffle(WrittenOp op) {
        long factor = op.attrs().getInt("downscale_factor");
        long[] dims = op.dims("X");
        if (op.attrs().getText("data_format").endsWith("C") || Arrays.stream(dims).skip(1).anyMatch(d -> d < 0)) {
            throw op.error("has its channels last or an unknown size, which is not written");
        }
        String parts = op.node("Reshape", op.in("X"),
                op.ints(0, dims[1], dims[2] / factor, factor, dims[3] / factor, factor));
        String moved = op.node("Transpose", Map.of("perm", new long[]{0, 1, 3, 5, 2, 4}), parts);
        op.out("Out", op.node("Reshape", moved,
                op.ints(0, dims[1] * factor * factor, dims[2] / factor, dims[3] / factor)));
    }

    private static void shuffle(WrittenOp op, String attribute) {
        op.out("Out", ShapeWriters.channelsFirst(op, op.in("X"), x -> {
            boolean last = op.attrs().has("data_format") && op.attrs().getText("data_format").endsWith("C");
            long channels = op.dims("X")[last ? op.rank("X") - 1 : 1];
            long groups = op.attrs().getInt(attribute);
            // With an open number of channels, the lengths of the image are those of a run.
            int rank = op.rank("X");
            String parts = op.node("Reshape", x, channels < 0
                    ? op.node("Concat", Map.of("axis", 0), op.ints(0, groups, -1),
                            op.node("Slice", op.node("Shape", x), op.ints(2), op.ints(rank)))
                    : op.ints(0, groups, channels / groups, -1));
            long[] order = LongStream.range(0, channels < 0 ? rank + 1 : 4).toArray();
            order[1] = 2;
            order[2] = 1;
            String moved = op.node("Transpose", Map.of("perm", order), parts);
            return op.node("Reshape", moved, op.node("Shape", x));
        }));
    }

    private static void putAlongAxis(WrittenOp op) {
        String reduction = switch (op.attrs().getText("Reduce")) {
            case "assign" -> "none";
            case "add" -> "add";
            case "mul", "multiply" -> "mul";
            default -> throw op.error("reduces by '%s', which version 17 of ONNX does not have",
                    op.attrs().getText("Reduce"));
        };
        if (!op.attrs().getBool("Include_self")) {
            throw op.error("leaves out the elements that it replaces, which ONNX does not do");
        }
        op.out("Result", op.node("ScatterElements", Map.of("axis", op.attrs().getInt("Axis"), "reduction", reduction),
                op.in("Input"), op.in("Index"), op.node("Expand", op.in("Value"), op.node("Shape", op.in("Index")))));
    }

    /** ONNX has the number of the image of each region; Paddle the number of regions of each image. */
    private static void roiAlign(WrittenOp op) {
        if (!op.has("RoisNum")) {
            throw op.error("has regions that offsets divide among images, which ONNX does not have");
        }
        long images = op.dims("RoisNum")[0];
        if (images < 0) {
            throw op.error("has an unknown number of images, which is not written");
        }
        String rows = op.node("Slice", op.node("Shape", op.in("ROIs")), op.ints(0), op.ints(1));
        String at = op.node("Range", op.scalar(DType.INT64, 0), op.node("Reshape", rows, op.ints()),
                op.scalar(DType.INT64, 1));
        String ends = op.node("CumSum", op.cast(op.in("RoisNum"), DType.INT64), op.scalar(DType.INT64, 0));
        // The image of a region is the number of images that end at it or before it.
        String before = op.node("GreaterOrEqual", op.node("Unsqueeze", at, op.ints(1)),
                op.node("Unsqueeze", ends, op.ints(0)));
        String image = op.node("ReduceSum", Map.of("keepdims", 0), op.cast(before, DType.INT64), op.ints(1));
        boolean aligned = op.attrs().getBool("aligned");
        int samples = Math.max(0, op.attrs().getInt("sampling_ratio"));
        String out = op.node("RoiAlign", Map.of("output_height", op.attrs().getInt("pooled_height"), "output_width",
                op.attrs().getInt("pooled_width"), "sampling_ratio", samples, "spatial_scale",
                op.attrs().getFloat("spatial_scale"), "coordinate_transformation_mode",
                aligned ? "half_pixel" : "output_half_pixel"), op.in("X"), op.in("ROIs"), image);
        op.out("Out", aligned && samples == 0
                ? op.node("Where", sampled(op), out, ElementwiseWriters.number(op, Double.NaN))
                : out);
    }

    /**
     * Whether a region has samples, by regions [n, 1, 1, 1]. The mean of none is not a number here, but 0 in ONNX
     * Runtime. Each step is rounded as in the operation itself.
     */
    private static String sampled(WrittenOp op) {
        String scaled = op.node("Mul", op.in("ROIs"),
                ElementwiseWriters.number(op, op.attrs().getFloat("spatial_scale")));
        String moved = op.node("Sub", scaled, ElementwiseWriters.number(op, 0.5));
        String extent = op.node("Sub", op.node("Slice", moved, op.ints(2), op.ints(4), op.ints(1)),
                op.node("Slice", moved, op.ints(0), op.ints(2), op.ints(1)));
        String positive = op.cast(op.node("Greater", extent, ElementwiseWriters.number(op, 0)), DType.INT32);
        return op.node("Unsqueeze", op.cast(ReductionWriters.reduce(op, "ReduceMin", positive, new long[]{1}, false),
                DType.BOOL), op.ints(1, 2, 3));
    }

    private static void maxout(WrittenOp op) {
        long[] dims = op.dims("X");
        int axis = op.axis(op.attrs().getInt("axis"), dims.length);
        long groups = op.attrs().getInt("groups");
        if (dims[axis] < 0 || Arrays.stream(dims).filter(each -> each < 0).count() > 1) {
            throw op.error("has more than one dimension of unknown length, which is not written");
        }
        List<Long> shape = new ArrayList<>();
        for (int i = 0; i < dims.length; i++) {
            shape.add(i == axis ? dims[i] / groups : dims[i]);
            if (i == axis) {
                shape.add(groups);
            }
        }
        String parts = op.node("Reshape", op.in("X"), op.ints(shape.stream().mapToLong(Long::longValue).toArray()));
        op.out("Out", ReductionWriters.reduce(op, "ReduceMax", parts, new long[]{axis + 1L}, false));
    }

    private static void random(WrittenOp op, String node, Map<String, Object> attributes) {
        if (op.has("ShapeTensor") || op.has("ShapeTensorList")) {
            throw op.error("computes its shape, which is not written");
        }
        if (attributes.get("scale") instanceof Float deviation && deviation <= 0) {
            throw op.error("has a standard deviation of %s, which ONNX Runtime does not take", deviation);
        }
        if (attributes.get("low") instanceof Float low && low >= op.attrs().getFloat("max")) {
            throw op.error("draws from %s to %s, but ONNX Runtime needs the lower bound first", low,
                    op.attrs().getFloat("max"));
        }
        Map<String, Object> all = new HashMap<>(attributes);
        all.put("shape", op.attrs().getLongs("shape"));
        all.put("dtype", ElementTypes.number(op.attrs().getDType("dtype")));
        op.out("Out", op.node(node, all));
    }
}
