package io.seriatim.onnx.write.operators;

import io.seriatim.onnx.emit.OpWriters;
import io.seriatim.onnx.emit.WrittenOp;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/** Convolutions, pooling and normalisation of images. */
public final class NetworkWriters {
    private NetworkWriters() {
    }

    /** Adds the writers. */
    public static void register(OpWriters all) {
        for (String type : List.of("conv2d", "depthwise_conv2d", "conv3d")) {
            all.add(type, op -> op.out("Output", ShapeWriters.channelsFirst(op, op.in("Input"), x -> op.node("Conv",
                    window(op, spatial(op, "Input")), x, op.in("Filter")))));
        }
        for (String type : List.of("conv2d_transpose", "depthwise_conv2d_transpose", "conv3d_transpose")) {
            all.add(type, NetworkWriters::transposed);
        }
        all.add("pool2d", op -> pool(op, 2));
        all.add("pool3d", op -> pool(op, 3));
        all.add("max_pool2d_with_index", NetworkWriters::poolWithIndex);
        for (String type : List.of("batch_norm", "sync_batch_norm")) {
            all.add(type, NetworkWriters::batchNorm);
        }
        all.add("layer_norm", NetworkWriters::layerNorm);
        all.add("instance_norm", NetworkWriters::instanceNorm);
        all.add("group_norm", NetworkWriters::groupNorm);
        all.add("affine_channel", op -> {
            boolean first = op.attrs().getText("data_layout").equals("NCHW");
            String scale = first ? perChannel(op, op.in("Scale"), op.rank("X")) : op.in("Scale");
            String bias = first ? perChannel(op, op.in("Bias"), op.rank("X")) : op.in("Bias");
            op.out("Out", op.node("Add", op.node("Mul", op.in("X"), scale), bias));
        });
        all.add("lrn", op -> op.out("Out", op.node("LRN", Map.of("size", op.attrs().getInt("n"), "alpha",
                op.attrs().getFloat("alpha") * op.attrs().getInt("n"), "beta", op.attrs().getFloat("beta"), "bias",
                op.attrs().getFloat("k")), op.in("X"))));
        all.add("norm", NetworkWriters::lengthNorm);
    }

    private static int spatial(WrittenOp op, String slot) {
        return op.rank(slot) - 2;
    }

    private static Map<String, Object> window(WrittenOp op, int spatial) {
        Map<String, Object> attributes = new HashMap<>();
        attributes.put("strides", op.attrs().getLongs("strides"));
        if (op.attrs().has("dilations")) {
            attributes.put("dilations", op.attrs().getLongs("dilations"));
        }
        if (op.attrs().has("groups")) {
            attributes.put("group", op.attrs().getInt("groups"));
        }
        padding(op, spatial, attributes);
        return attributes;
    }

    private static void padding(WrittenOp op, int spatial, Map<String, Object> attributes) {
        switch (op.attrs().has("padding_algorithm") ? op.attrs().getText("padding_algorithm") : "EXPLICIT") {
            case "SAME" -> {
                // Paddle ignores dilations then.
                attributes.remove("dilations");
                attributes.put("auto_pad", "SAME_UPPER");
            }
            case "SAME_UPPER", "SAME_LOWER" -> attributes.put("auto_pad", op.attrs().getText("padding_algorithm"));
            case "VALID" -> attributes.put("auto_pad", "VALID");
            case "EXPLICIT" -> attributes.put("pads", pads(op, op.attrs().getLongs("paddings"), spatial));
            case String other -> throw op.error("has the padding algorithm '%s', which ONNX does not have", other);
        }
    }

    /** Paddle has one number for each axis, or pairs; with those of all axes, the ones of batch and channels are 0. */
    private static long[] pads(WrittenOp op, long[] given, int spatial) {
        long[] pads = new long[2 * spatial];
        int skip = given.length == 2 * (spatial + 2) ? op.attrs().getText("data_format").endsWith("C") ? 2 : 4 : 0;
        for (int i = 0; i < spatial; i++) {
            pads[i] = given.length == spatial ? given[i] : given[skip + 2 * i];
            pads[spatial + i] = given.length == spatial ? given[i] : given[skip + 2 * i + 1];
        }
        return pads;
    }

    private static void transposed(WrittenOp op) {
        int spatial = spatial(op, "Input");
        if (op.attrs().getText("padding_algorithm").startsWith("SAME")) {
            throw op.error("computes its padding (SAME), which is not written for transposed convolutions");
        }
        Map<String, Object> attributes = window(op, spatial);
        long[] size = op.attrs().getLongs("output_size");
        long[] more = op.attrs().getLongs("output_padding");
        if (size.length > 0) {
            long[] in = op.dims("Input");
            boolean last = op.attrs().getText("data_format").endsWith("C");
            long[] wanted = size.length == 1 ? LongStream.range(0, spatial).map(_ -> size[0]).toArray() : size;
            more = outputPadding(op, attributes, wanted, LongStream.range(0, spatial)
                    .map(i -> in[(int) i + (last ? 1 : 2)]).toArray());
        }
        if (LongStream.of(more).anyMatch(each -> each != 0)) {
            attributes.put("output_padding", more);
        }
        op.out("Output", ShapeWriters.channelsFirst(op, op.in("Input"), x -> op.has("Bias")
                ? op.node("ConvTranspose", attributes, x, op.in("Filter"), op.in("Bias"))
                : op.node("ConvTranspose", attributes, x, op.in("Filter"))));
    }

    /** What the wanted size is larger than the least one; ONNX's output_shape would move the image. */
    private static long[] outputPadding(WrittenOp op, Map<String, Object> attributes, long[] wanted, long[] in) {
        if (!(attributes.get("pads") instanceof long[] pads) || LongStream.of(in).anyMatch(each -> each < 0)) {
            throw op.error(
                    "has an output_size for an operand of unknown size or computed padding, which is not written");
        }
        long[] filter = op.dims("Filter");
        long[] strides = op.attrs().getLongs("strides");
        long[] dilations = op.attrs().getLongs("dilations");
        long[] more = new long[wanted.length];
        for (int i = 0; i < more.length; i++) {
            long least = (in[i] - 1) * strides[i] - pads[i] - pads[wanted.length + i]
                    + dilations[i] * (filter[i + 2] - 1) + 1;
            more[i] = wanted[i] - least;
        }
        return more;
    }

    private static void pool(WrittenOp op, int spatial) {
        boolean max = op.attrs().getText("pooling_type").equals("max");
        long[] size = op.attrs().getLongs("ksize");
        long[] in = op.dims("X");
        boolean last = op.attrs().getText("data_format").endsWith("C");
        boolean adaptive = op.attrs().getBool("adaptive");
        if (adaptive && op.attrs().getBool("global_pooling")) {
            // PaddlePaddle makes as many windows as there are elements.
            op.out("Out", op.node("Identity", op.in("X")));
            return;
        }
        if (op.attrs().getBool("global_pooling") || (adaptive && LongStream.of(size).allMatch(each -> each == 1))) {
            op.out("Out", ShapeWriters.channelsFirst(op, op.in("X"),
                    x -> op.node(max ? "GlobalMaxPool" : "GlobalAveragePool", x)));
            return;
        }
        Map<String, Object> attributes = new HashMap<>();
        if (adaptive) {
            long[] kernel = new long[spatial];
            for (int i = 0; i < spatial; i++) {
                long length = in[i + (last ? 1 : 2)];
                if (length < 0 || length % size[i] != 0) {
                    throw op.error("divides a length of %d into %d windows, which ONNX has only for equal windows of a "
                            + "known length", length, size[i]);
                }
                kernel[i] = length / size[i];
            }
            attributes.put("kernel_shape", kernel);
            attributes.put("strides", kernel);
        } else {
            attributes.put("kernel_shape", size);
            attributes.put("strides", op.attrs().getLongs("strides"));
            padding(op, spatial, attributes);
            attributes.put("ceil_mode", op.attrs().getBool("ceil_mode") ? 1 : 0);
        }
        boolean counts = !max && !adaptive && !op.attrs().getBool("exclusive");
        if (counts) {
            requireSameCount(op, attributes, spatial);
        }
        if (!max) {
            attributes.put("count_include_pad", counts ? 1 : 0);
        }
        op.out("Out", ShapeWriters.channelsFirst(op, op.in("X"),
                x -> op.node(max ? "MaxPool" : "AveragePool", attributes, x)));
    }

    /** PaddlePaddle counts as much padding behind the elements as there is before them, ONNX what there is. */
    private static void requireSameCount(WrittenOp op, Map<String, Object> attributes, int spatial) {
        long[] pads = attributes.get("pads") instanceof long[] given ? given : new long[2 * spatial];
        boolean ceil = op.attrs().getBool("ceil_mode");
        boolean same = !"SAME_UPPER".equals(attributes.get("auto_pad"))
                && !(ceil && "SAME_LOWER".equals(attributes.get("auto_pad")));
        for (int i = 0; i < spatial; i++) {
            same &= pads[i] == pads[spatial + i] || (pads[i] > pads[spatial + i] && !ceil);
        }
        if (!same) {
            throw op.error("counts padding that differs before and behind the elements as ONNX does not");
        }
    }

    private static void poolWithIndex(WrittenOp op) {
        boolean global = op.attrs().getBool("global_pooling");
        if (op.attrs().getBool("adaptive") || op.count("X") != 1) {
            throw op.error("is adaptive, which is not written");
        }
        long[] dims = op.dims("X");
        Map<String, Object> attributes = new HashMap<>();
        attributes.put("kernel_shape", global ? new long[]{dims[2], dims[3]} : op.attrs().getLongs("ksize"));
        attributes.put("strides", op.attrs().getLongs("strides"));
        attributes.put("pads", global ? new long[4] : pads(op, op.attrs().getLongs("paddings"), 2));
        if (dims[2] < 0 || dims[3] < 0) {
            throw op.error("has indices into images of unknown size, which is not written");
        }
        List<String> results = op.nodes("MaxPool", 2, attributes, List.of(op.in("X")));
        op.out("Out", results.get(0));
        // ONNX counts through the whole tensor, Paddle within a channel.
        op.out("Mask", op.cast(op.node("Mod", results.get(1), op.ints(dims[2] * dims[3])), op.outType("Mask")));
    }

    private static String perChannel(WrittenOp op, String value, int rank) {
        long[] shape = new long[rank - 1];
        Arrays.fill(shape, 1);
        shape[0] = -1;
        return op.node("Reshape", value, op.ints(shape));
    }

    private static String filled(WrittenOp op, long count, double value) {
        double[] values = new double[Math.toIntExact(count)];
        Arrays.fill(values, value);
        return op.graph().constant(Tensor.of(op.dtype("X"), values, count));
    }

    private static void batchNorm(WrittenOp op) {
        boolean uses = op.attrs().getBool("is_test") && !op.attrs().getBool("trainable_statistics");
        if (!uses && !op.attrs().getBool("use_global_stats")) {
            throw op.error("is in its form for training; write the program's form for inference");
        }
        boolean last = op.attrs().getText("data_layout").endsWith("C") && op.rank("X") > 2;
        long channels = op.dims("Mean")[0];
        String scale = op.has("Scale") ? op.in("Scale") : filled(op, channels, 1);
        String bias = op.has("Bias") ? op.in("Bias") : filled(op, channels, 0);
        String x = op.in("X");
        int rank = op.rank("X");
        if (last) {
            x = op.node("Transpose", Map.of("perm", LongStream.range(0, rank)
                    .map(i -> i == 0 ? 0 : i == 1 ? rank - 1L : i - 1).toArray()), x);
        }
        String y = op.node("BatchNormalization", Map.of("epsilon", op.attrs().getFloat("epsilon"), "momentum",
                op.attrs().getFloat("momentum")), x, scale, bias, op.in("Mean"), op.in("Variance"));
        if (last) {
            y = op.node("Transpose", Map.of("perm", LongStream.range(0, rank)
                    .map(i -> i == 0 ? 0 : i == rank - 1 ? 1 : i + 1).toArray()), y);
        }
        op.out("Y", y);
    }

    private static void layerNorm(WrittenOp op) {
        int axis = op.attrs().getInt("begin_norm_axis");
        long[] normed = Arrays.copyOfRange(op.dims("X"), axis, op.rank("X"));
        boolean open = LongStream.of(normed).anyMatch(each -> each < 0);
        String lengths = open
                ? op.node("Slice", op.node("Shape", op.in("X")), op.ints(axis), op.ints(op.rank("X")))
                : op.ints(normed);
        String shape = normed.length > 1 ? lengths : "";
        String scaled = !op.has("Scale")
                ? op.node("ConstantOfShape", Map.of("value", Tensor.of(op.dtype("X"), new double[]{1}, 1)), lengths)
                : shape.isEmpty() ? op.in("Scale") : op.node("Reshape", op.in("Scale"), shape);
        String bias = !op.has("Bias") ? "" : shape.isEmpty() ? op.in("Bias") : op.node("Reshape", op.in("Bias"), shape);
        List<String> results = op.nodes("LayerNormalization", 3,
                Map.of("axis", axis, "epsilon", op.attrs().getFloat("epsilon")), List.of(op.in("X"), scaled, bias));
        op.out("Y", results.getFirst());
    }

    private static void instanceNorm(WrittenOp op) {
        long channels = op.dims("X")[1];
        if (channels < 0 && !(op.has("Scale") && op.has("Bias"))) {
            throw op.error("has an unknown number of channels and no scale or bias, which is not written");
        }
        op.out("Y", op.node("InstanceNormalization", Map.of("epsilon", op.attrs().getFloat("epsilon")), op.in("X"),
                op.has("Scale") ? op.in("Scale") : filled(op, channels, 1),
                op.has("Bias") ? op.in("Bias") : filled(op, channels, 0)));
    }

    private static void groupNorm(WrittenOp op) {
        if (op.attrs().getText("data_layout").endsWith("C")) {
            throw op.error("has its channels last, which is not written");
        }
        int groups = op.attrs().getInt("groups");
        String flat = op.node("Reshape", op.in("X"), op.ints(0, groups, -1));
        String normed = op.node("InstanceNormalization", Map.of("epsilon", op.attrs().getFloat("epsilon")), flat,
                filled(op, groups, 1), filled(op, groups, 0));
        String y = op.node("Reshape", normed, op.node("Shape", op.in("X")));
        if (op.has("Scale")) {
            y = op.node("Mul", y, perChannel(op, op.in("Scale"), op.rank("X")));
        }
        if (op.has("Bias")) {
            y = op.node("Add", y, perChannel(op, op.in("Bias"), op.rank("X")));
        }
        op.out("Y", y);
    }

    private static void lengthNorm(WrittenOp op) {
        int axis = op.attrs().getInt("axis");
        String squares = op.node("ReduceSum", Map.of("keepdims", 1), op.node("Mul", op.in("X"), op.in("X")),
                op.ints(axis));
        String length = op.node("Sqrt",
                op.node("Add", squares, ElementwiseWriters.number(op, op.attrs().getFloat("epsilon"))));
        op.out("Norm", length);
        op.out("Out", op.node("Div", op.in("X"), length));
    }
}
