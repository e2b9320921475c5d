package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Rectangles compared with, and coded as differences from, other rectangles, and clipped to images. */
public final class BoxOperations {
    private static final int SIZE = BoxCode.SIZE;
    private static final String ENCODE = "encode_center_size";
    private static final String DECODE = "decode_center_size";
    /** Keeps the overlap of two empty boxes from being 0 / 0. */
    private static final double LEAST_UNION = 1e-10;

    private BoxOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("box_coder").in("PriorBox", "PriorBoxVar?", "TargetBox").out("OutputBox")
                .sharesLod("TargetBox", "OutputBox")
                .attr("code_type", ENCODE).attr("box_normalized", true).attr("axis", 0)
                .attr("variance", new float[0]).infer(BoxOperations::inferCoder).lower(BoxOperations::code)
                .register(registry);
        Operation.define("box_clip").in("Input", "ImInfo").out("Output").readsLod("Input")
                .infer(BoxOperations::inferClip)
                .lower(BoxOperations::clip).register(registry);
        Operation.define("iou_similarity").in("X", "Y").out("Out").attr("box_normalized", true).infer(inference -> {
            Shapes.requireFloats(inference, "X", "Y");
            long[] x = Shapes.require(inference, "X", -1, SIZE);
            long[] y = Shapes.require(inference, "Y", -1, SIZE);
            inference.set("Out", inference.dtype("X"), x[0], y[0]);
        }).lower(BoxOperations::similarity).register(registry);
        Operation.define("box_decoder_and_assign").in("PriorBox", "PriorBoxVar", "TargetBox", "BoxScore")
                .out("DecodeBox", "OutputAssignBox").sharesLod("TargetBox", "DecodeBox")
                .sharesLod("PriorBox", "OutputAssignBox").attr("box_clip", 4.135f).infer(BoxOperations::inferAssign)
                .lower(BoxOperations::assign).register(registry);
        Operation.define("polygon_box_transform").in("Input").out("Output").infer(inference -> {
            Shapes.requireFloats(inference, "Input");
            long[] dims = Shapes.require(inference, "Input", -1, -1, -1, -1);
            inference.require(dims[1] < 0 || dims[1] % 2 == 0, "Input must have an even number of channels, but has %d",
                    dims[1]);
            inference.same("Input", "Output");
        }).lower(BoxOperations::corners).register(registry);
    }

    private static double[] array(List<? extends @Nullable Tensor> tensors, int index) {
        return Objects.requireNonNull(tensors.get(index)).toDoubleArray();
    }

    private static void inferCoder(Inference inference) {
        Shapes.requireFloats(inference, "PriorBox", "PriorBoxVar", "TargetBox");
        long[] prior = Shapes.require(inference, "PriorBox", -1, SIZE);
        double[] variance = Shapes.requireAllFinite(inference, "variance");
        boolean given = inference.has("PriorBoxVar");
        if (given) {
            Shapes.require(inference, "PriorBoxVar", prior);
        }
        inference.require(variance.length == 0 || (variance.length == SIZE && !given),
                "variance must hold four numbers, and none if PriorBoxVar is given, but is %s",
                Numbers.text(variance));
        String type = inference.attrs().getText("code_type");
        int axis = inference.attrs().getInt("axis");
        inference.require(axis == 0 || axis == 1, "axis must be 0 or 1, but is %d", axis);
        switch (type) {
            case ENCODE -> {
                long[] target = Shapes.require(inference, "TargetBox", -1, SIZE);
                inference.set("OutputBox", inference.dtype("TargetBox"), target[0], prior[0], SIZE);
            }
            case DECODE -> {
                long rows = axis == 0 ? -1 : prior[0];
                long columns = axis == 0 ? prior[0] : -1;
                Shapes.require(inference, "TargetBox", rows, columns, SIZE);
                inference.same("TargetBox", "OutputBox");
            }
            default -> throw inference.error("code_type must be " + ENCODE + " or " + DECODE + ", but is " + type);
        }
    }

    private static void code(Lowering l) {
        boolean encode = l.attrs().getText("code_type").equals(ENCODE);
        int axis = encode ? 0 : l.attrs().getInt("axis");
        double[] attribute = l.attrs().getDoubles("variance");
        double[] constant = attribute.length == 0 ? new double[]{1, 1, 1, 1} : attribute;
        Operand target = l.in("TargetBox");
        BoxCode code = BoxCode.of(l.attrs().getBool("box_normalized"), Precision.of(target.dtype()));
        int rows = Math.toIntExact(target.dim(0));
        int columns = Math.toIntExact(l.outType("OutputBox", 0).dims()[1]);
        l.call("box_coder", (in, out) -> {
            double[] priors = array(in, 0);
            double[] targets = array(in, 1);
            double[] variances = in.get(2) == null ? constant : array(in, 2);
            int step = in.get(2) == null ? 0 : SIZE;
            double[] coded = new double[WorkingMemory.length((long) rows * columns, SIZE)];
            for (int i = 0; i < rows * columns; i++) {
                int prior = axis == 0 ? i % columns : i / columns;
                BoxCode.At from = new BoxCode.At(priors, prior * SIZE);
                BoxCode.At variance = new BoxCode.At(variances, prior * step);
                BoxCode.At to = new BoxCode.At(coded, i * SIZE);
                if (encode) {
                    code.encode(from, new BoxCode.At(targets, i / columns * SIZE), variance, to);
                } else {
                    code.decode(from, new BoxCode.At(targets, i * SIZE), variance, to);
                }
            }
            Elements.write(coded, Objects.requireNonNull(out.getFirst()));
        }, Arrays.asList(l.in("PriorBox"), target, l.optional("PriorBoxVar")), List.of(l.output("OutputBox")));
    }

    private static void inferClip(Inference inference) {
        Shapes.requireFloats(inference, "Input", "ImInfo");
        long[] dims = inference.dims("Input");
        inference.require(dims.length > 1 && (dims[dims.length - 1] < 0 || dims[dims.length - 1] % SIZE == 0),
                "Input must hold boxes of four numbers in its last dimension, but is %s", Numbers.text(dims));
        long images = Shapes.require(inference, "ImInfo", -1, 3)[0];
        long divided = inference.hasLod("Input") ? inference.sequences("Input") : inference.isForRun() ? 1 : -1;
        inference.require(images < 0 || divided < 0 || images == divided,
                "ImInfo must describe the %d images of the boxes in Input, but describes %d: the LoD of Input says which "
                        + "boxes belong to which",
                divided, images);
        inference.same("Input", "Output");
    }

    private static void clip(Lowering l) {
        Operand input = l.in("Input");
        int rowSize = Math.toIntExact(input.shape().size() / Math.max(input.dim(0), 1));
        Precision precision = Precision.of(input.dtype());
        l.call("box_clip", (in, out) -> {
            double[] boxes = array(in, 0);
            double[] image = array(in, 1);
            Tensor lod = in.get(2);
            long[] starts = lod == null || lod.shape().size() == 0
                    ? new long[]{0, input.dim(0)}
                    : SequenceOffsets.of("box_clip", "Input", lod, input.dim(0));
            for (int i = 0; i + 1 < starts.length; i++) {
                clip(boxes, Math.toIntExact(starts[i] * rowSize), Math.toIntExact(starts[i + 1] * rowSize), image,
                        3 * i, precision);
            }
            Elements.write(boxes, Objects.requireNonNull(out.getFirst()));
        }, List.of(input, l.in("ImInfo"), l.lod("Input")), List.of(l.output("Output")));
    }

    /** Clips boxes to an image of a height and width, given after it was scaled, and the scale. */
    private static void clip(double[] boxes, int from, int to, double[] image, int at, Precision precision) {
        double[] most = new double[2];
        for (int axis = 0; axis < 2; axis++) {
            double length = Precision.nearest(precision.round(image[at + 1 - axis] / image[at + 2]));
            most[axis] = precision.round(length - 1);
        }
        for (int i = from; i < to; i++) {
            boxes[i] = Math.max(Math.min(boxes[i], most[i % 2]), 0);
        }
    }

    private static void similarity(Lowering l) {
        double pixel = l.attrs().getBool("box_normalized") ? 0 : 1;
        Precision precision = Precision.of(l.in("X").dtype());
        l.call("iou_similarity", (in, out) -> {
            double[] x = array(in, 0);
            double[] y = array(in, 1);
            double[] areas = new double[y.length / SIZE];
            Arrays.setAll(areas, i -> area(y, i * SIZE, pixel, precision));
            double[] overlaps = new double[WorkingMemory.length(x.length / SIZE, areas.length)];
            int place = 0;
            for (int i = 0; i < x.length; i += SIZE) {
                double area = area(x, i, pixel, precision);
                for (int j = 0; j < y.length; j += SIZE) {
                    double width = both(x, i, y, j, pixel, precision);
                    double height = both(x, i + 1, y, j + 1, pixel, precision);
                    double both = precision.round(width * height);
                    double union = precision.round(precision.round(area + areas[j / SIZE]) - both);
                    overlaps[place++] = precision.round(both / precision.round(union + precision.round(LEAST_UNION)));
                }
            }
            Elements.write(overlaps, Objects.requireNonNull(out.getFirst()));
        }, List.of(l.in("X"), l.in("Y")), List.of(l.output("Out")));
    }

    private static double area(double[] boxes, int at, double pixel, Precision precision) {
        double width = precision.round(precision.round(boxes[at + 2] - boxes[at]) + pixel);
        double height = precision.round(precision.round(boxes[at + 3] - boxes[at + 1]) + pixel);
        return precision.round(height * width);
    }

    /** The length that two boxes have in common along the axis of their numbers at two places. */
    private static double both(double[] x, int i, double[] y, int j, double pixel, Precision precision) {
        double most = x[i + 2] > y[j + 2] ? y[j + 2] : x[i + 2];
        double least = x[i] > y[j] ? x[i] : y[j];
        double length = precision.round(precision.round(most - least) + pixel);
        return length > 0 ? length : 0;
    }

    private static void inferAssign(Inference inference) {
        Shapes.requireFloats(inference, "TargetBox", "PriorBox", "PriorBoxVar", "BoxScore");
        long[] prior = Shapes.require(inference, "PriorBox", -1, SIZE);
        Shapes.require(inference, "PriorBoxVar", SIZE);
        long[] scores = Shapes.require(inference, "BoxScore", prior[0], -1);
        long[] target = Shapes.require(inference, "TargetBox", prior[0], scores[1] < 0 ? -1 : scores[1] * SIZE);
        inference.set("DecodeBox", inference.dtype("TargetBox"), target);
        inference.set("OutputAssignBox", inference.dtype("TargetBox"), prior);
    }

    private static void assign(Lowering l) {
        Operand scores = l.in("BoxScore");
        int boxes = Math.toIntExact(scores.dim(0));
        int classes = Math.toIntExact(scores.dim(1));
        Precision precision = Precision.of(l.in("TargetBox").dtype());
        BoxCode code = new BoxCode(1, l.attrs().getFloat("box_clip"), precision);
        Operand decoded = l.temporary(l.outType("DecodeBox", 0).spec());
        Operand assigned = l.temporary(l.outType("OutputAssignBox", 0).spec());
        l.call("box_decoder_and_assign", (in, out) -> {
            double[] priors = array(in, 0);
            BoxCode.At variances = new BoxCode.At(array(in, 1), 0);
            double[] targets = array(in, 2);
            double[] score = array(in, 3);
            double[] all = new double[targets.length];
            double[] best = priors.clone();
            for (int i = 0; i < boxes; i++) {
                double most = -1;
                for (int c = 0; c < classes; c++) {
                    int at = (i * classes + c) * SIZE;
                    code.decode(new BoxCode.At(priors, i * SIZE), new BoxCode.At(targets, at), variances,
                            new BoxCode.At(all, at));
                    // Class 0 is the background: where nothing else is likely, the prior remains.
                    if (c > 0 && score[i * classes + c] > most) {
                        most = score[i * classes + c];
                        System.arraycopy(all, at, best, i * SIZE, SIZE);
                    }
                }
            }
            Elements.write(all, Objects.requireNonNull(out.get(0)));
            Elements.write(best, Objects.requireNonNull(out.get(1)));
        }, List.of(l.in("PriorBox"), l.in("PriorBoxVar"), l.in("TargetBox"), scores), List.of(decoded, assigned));
        l.out("DecodeBox", decoded);
        l.out("OutputAssignBox", assigned);
    }

    /** Corners that are given relative to their point of a feature map with a step of four pixels. */
    private static void corners(Lowering l) {
        Operand input = l.in("Input");
        int height = Math.toIntExact(input.dim(2));
        int width = Math.toIntExact(input.dim(3));
        Operand grid = l.constant(Tensor.of(input.dtype(), grid(height, width), 2, height, width));
        Operand pairs = input.reshape(input.dim(0), input.dim(1) / 2, 2, height, width);
        l.out("Output", l.reshape(l.binary(Binary.Function.SUBTRACT, grid, pairs), input.shape().dims()));
    }

    /** The x of each point, then the y of each point. */
    private static double[] grid(int height, int width) {
        double[] grid = new double[WorkingMemory.length(2L * height, width)];
        for (int i = 0; i < height * width; i++) {
            int row = i / width;
            int column = i % width;
            grid[i] = 4.0 * column;
            grid[height * width + i] = 4.0 * row;
        }
        return grid;
    }
}
