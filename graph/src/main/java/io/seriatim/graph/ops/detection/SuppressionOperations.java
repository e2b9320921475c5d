package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ComputedOutputs;
import io.seriatim.graph.ops.common.Given;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.Set;

/** Suppression of boxes that overlap better ones. */
public final class SuppressionOperations {
    private static final Set<Long> BOX_SIZES = Set.of(4L, 8L, 16L, 24L, 32L);

    private SuppressionOperations() {
    }

    public static void register(Operations registry) {
        Operation.Builder first = multiclass("multiclass_nms").in("BBoxes", "Scores").out("Out")
                .readsLod("BBoxes").makesLod("Out");
        Given.rules(first, SuppressionOperations::inferMulticlass,
                given -> MulticlassSuppression.compute(given, images(given)), "BBoxes", "Scores", LodSlot.of("BBoxes"))
                .register(registry);
        Operation.Builder second = multiclass("multiclass_nms2").in("BBoxes", "Scores").out("Out", "Index~")
                .readsLod("BBoxes").makesLod("Out", "Index");
        Given.rules(second, SuppressionOperations::inferMulticlass,
                given -> MulticlassSuppression.compute(given, images(given)), "BBoxes", "Scores", LodSlot.of("BBoxes"))
                .register(registry);
        Operation.Builder third = multiclass("multiclass_nms3").in("BBoxes", "Scores", "RoisNum?")
                .out("Out", "Index", "NmsRoisNum?").readsLod("BBoxes").sharesNoLod();
        Given.rules(third, SuppressionOperations::inferMulticlass,
                given -> MulticlassSuppression.compute(given, images(given)), "BBoxes", "Scores", "RoisNum",
                LodSlot.of("BBoxes"))
                .register(registry);
        localityAware(registry);
        matrix(registry);
        plain(registry);
        retinanet(registry);
    }

    private static Operation.Builder multiclass(String type) {
        return thresholds(Operation.define(type)).attr("background_label", 0).attr("nms_threshold", 0.3f)
                .attr("nms_eta", 1f).attr("normalized", true);
    }

    private static Operation.Builder thresholds(Operation.Builder builder) {
        return builder.required("score_threshold", Attribute.Real.class).required("nms_top_k", Attribute.Int.class)
                .required("keep_top_k", Attribute.Int.class);
    }

    private static void inferMulticlass(Inference inference) {
        Shapes.requireFloats(inference, "Scores", "BBoxes");
        long[] scores = inference.dims("Scores");
        inference.require(scores.length == 2 || scores.length == 3,
                "Scores must have two or three dimensions, but is %s", Numbers.text(scores));
        long[] boxes = scores.length == 3
                ? Shapes.require(inference, "BBoxes", scores[0], scores[2], -1)
                : Shapes.require(inference, "BBoxes", scores[0], scores[1], 4);
        requireBoxes(inference, boxes[2]);
        if (inference.has("RoisNum")) {
            Shapes.require(inference, "RoisNum", -1);
            Shapes.requireInts(inference, "RoisNum");
        }
        long width = boxes[2] < 0 ? -1 : boxes[2] + 2;
        inference.set("Out", inference.dtype("Scores"), -1, width);
        inference.set("Index", DType.INT32, -1, 1);
        inference.set("NmsRoisNum", DType.INT32, -1);
    }

    private static void requireBoxes(Inference inference, long size) {
        inference.require(size < 0 || BOX_SIZES.contains(size),
                "the last dimension of BBoxes must be one of %s, but is %d", BOX_SIZES.stream().sorted().toList(),
                size);
    }

    private static int[] images(Given given) {
        if (given.in("Scores", 0).dims().length == 2) {
            return ImageRows.starts(given, "RoisNum", "BBoxes");
        }
        int images = given.length("Scores", 0);
        int boxes = given.length("Scores", 2);
        int[] starts = new int[images + 1];
        Arrays.setAll(starts, i -> i * boxes);
        return starts;
    }

    private static long[] inferImages(Inference inference) {
        Shapes.requireFloats(inference, "Scores", "BBoxes");
        long[] scores = Shapes.require(inference, "Scores", -1, -1, -1);
        long[] boxes = Shapes.require(inference, "BBoxes", scores[0], scores[2], -1);
        requireBoxes(inference, boxes[2]);
        boxes[2] += boxes[2] < 0 ? 0 : 2;
        return boxes;
    }

    private static void localityAware(Operations registry) {
        Operation.Builder builder = thresholds(Operation.define("locality_aware_nms")).in("BBoxes", "Scores")
                .out("Out").makesLod("Out").attr("background_label", -1).attr("nms_threshold", 0.3f).attr("nms_eta", 1f)
                .attr("normalized", true);
        Given.rules(builder, inference -> {
            long[] boxes = inferImages(inference);
            inference.set("Out", inference.dtype("Scores"), boxes[1], boxes[2]);
        }, given -> new LocalityAwareSuppression(given).outputs(), "BBoxes", "Scores").register(registry);
    }

    private static void matrix(Operations registry) {
        Operation.Builder builder = thresholds(Operation.define("matrix_nms")).in("BBoxes", "Scores")
                .out("Out", "Index", "RoisNum?").sharesNoLod().attr("post_threshold", 0f).attr("use_gaussian", false)
                .attr("gaussian_sigma", 2f).attr("background_label", 0).attr("normalized", true);
        Given.rules(builder, inference -> {
            long[] boxes = inferImages(inference);
            inference.set("Out", inference.dtype("Scores"), boxes[1], boxes[2]);
            inference.set("Index", DType.INT32, boxes[1], 1);
            inference.set("RoisNum", DType.INT32, -1);
        }, given -> new MatrixSuppression(given).outputs(), "BBoxes", "Scores").register(registry);
    }

    private static void plain(Operations registry) {
        Operation.Builder builder =
                Operation.define("nms").in("Boxes").out("KeepBoxesIdxs").sharesNoLod().attr("iou_threshold", 1f);
        Given.rules(builder, inference -> {
            Shapes.requireFloats(inference, "Boxes");
            Shapes.require(inference, "Boxes", -1, 4);
            inference.set("KeepBoxesIdxs", DType.INT64, -1);
        }, SuppressionOperations::kept, "Boxes").register(registry);
    }

    /** The boxes, in their order, that do not overlap one which is kept before. */
    private static ComputedOutputs kept(Given given) {
        double[] b = given.numbers("Boxes");
        Precision p = Precision.of(given.dtype("Boxes"));
        double threshold = given.attrs().getFloat("iou_threshold");
        int count = given.length("Boxes", 0);
        int[] kept = new int[count];
        int found = 0;
        for (int i = 0; i < count; i++) {
            boolean apart = true;
            for (int k = 0; k < found && apart; k++) {
                apart = !(overlap(b, kept[k] * 4, i * 4, p) > threshold);
            }
            if (apart) {
                kept[found++] = i;
            }
        }
        double[] indexes = Arrays.stream(kept, 0, found).asDoubleStream().toArray();
        return new ComputedOutputs().add("KeepBoxesIdxs", DType.INT64, indexes, found);
    }

    /** Unlike {@link BoxOverlap}, it takes areas of boxes with exchanged corners as they come. */
    private static double overlap(double[] b, int one, int other, Precision p) {
        double width = p.round(Math.min(b[one + 2], b[other + 2]) - Math.max(b[one], b[other]));
        double height = p.round(Math.min(b[one + 3], b[other + 3]) - Math.max(b[one + 1], b[other + 1]));
        double both = p.round((width > 0 ? width : 0) * (height > 0 ? height : 0));
        double areas = p.round(area(b, one, p) + area(b, other, p));
        return p.round(both / p.round(areas - both));
    }

    private static double area(double[] b, int box, Precision p) {
        return p.round(p.round(b[box + 2] - b[box]) * p.round(b[box + 3] - b[box + 1]));
    }

    private static void retinanet(Operations registry) {
        Operation.Builder builder = thresholds(Operation.define("retinanet_detection_output"))
                .in("BBoxes*", "Scores*", "Anchors*", "ImInfo").out("Out").makesLod("Out")
                .required("nms_threshold", Attribute.Real.class).required("nms_eta", Attribute.Real.class);
        Given.rules(builder, SuppressionOperations::inferRetinanet,
                given -> new RetinanetDetection(given).outputs(), "ImInfo", "BBoxes", "Scores", "Anchors")
                .register(registry);
    }

    private static void inferRetinanet(Inference inference) {
        Shapes.requireFloats(inference, "Scores", "BBoxes", "Anchors", "ImInfo");
        int levels = inference.count("BBoxes");
        inference.require(levels > 0 && levels == inference.count("Scores") && levels == inference.count("Anchors"),
                "BBoxes, Scores and Anchors must hold one tensor of each level, but hold %d, %d and %d", levels,
                inference.count("Scores"), inference.count("Anchors"));
        long[] first = Shapes.require(inference, "Scores", -1, -1, -1);
        Shapes.require(inference, "Scores", first[0], -1, first[2]);
        Shapes.require(inference, "BBoxes", first[0], -1, 4);
        Shapes.require(inference, "Anchors", -1, 4);
        Shapes.require(inference, "ImInfo", first[0], 3);
        for (int i = 0; i < levels; i++) {
            long scores = inference.in("Scores", i).dims()[1];
            long boxes = inference.in("BBoxes", i).dims()[1];
            long anchors = inference.in("Anchors", i).dims()[0];
            inference.require((scores < 0 || boxes < 0 || scores == boxes)
                    && (boxes < 0 || anchors < 0 || boxes == anchors),
                    "level %d must have as many scores and boxes as anchors, but has %d, %d and %d", i, scores, boxes,
                    anchors);
        }
        inference.set("Out", inference.dtype("Scores"), inference.in("BBoxes").dims()[1], 6);
    }
}
