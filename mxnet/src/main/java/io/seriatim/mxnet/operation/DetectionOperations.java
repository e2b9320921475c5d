package io.seriatim.mxnet.operation;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;

/** Operations of detectors in the manner of SSD, which differ from PaddlePaddle's in their formulas and layouts. */
public final class DetectionOperations implements Operations.Provider {
    /** Makes boxes around the places of a feature map. */
    public static final String PRIOR = "mxnet_multibox_prior";
    /** Decodes predicted boxes, and suppresses those that overlap better ones. */
    public static final String DETECTION = "mxnet_multibox_detection";
    /** Suppresses boxes that overlap better ones, and moves the others to the front. */
    public static final String SUPPRESSION = "mxnet_box_nms";
    /** The overlap of each box with each other one. */
    public static final String OVERLAP = "mxnet_box_iou";

    private static final int COORDINATES = 4;

    /** Creates the provider, for {@link java.util.ServiceLoader}. */
    public DetectionOperations() {
    }

    @Override
    public void register(Operations registry) {
        Operation.define(PRIOR).in("X").out("Out").attr("sizes", new float[]{1}).attr("ratios", new float[]{1})
                .attr("clip", false).attr("steps", new float[]{-1, -1}).attr("offsets", new float[]{0.5f, 0.5f})
                .infer(DetectionOperations::inferPrior).lower(DetectionOperations::prior).register(registry);
        Operation.define(DETECTION).in("Scores", "Locations", "Anchors").out("Out").attr("clip", true)
                .attr("threshold", 0.01f).attr("nms_threshold", 0.5f).attr("force_suppress", false)
                .attr("variances", new float[]{0.1f, 0.1f, 0.2f, 0.2f}).attr("nms_topk", -1)
                .infer(DetectionOperations::inferDetection)
                .lower(l -> call(l, DETECTION, "Scores", "Locations", "Anchors")).register(registry);
        Operation.define(SUPPRESSION).in("X").out("Out").attr("overlap_thresh", 0.5f).attr("valid_thresh", 0f)
                .attr("topk", -1).attr("coord_start", 2).attr("score_index", 1).attr("id_index", -1)
                .attr("background_id", -1).attr("force_suppress", false).attr("in_center", false)
                .attr("out_center", false).infer(DetectionOperations::inferSuppression)
                .lower(l -> call(l, SUPPRESSION, "X")).register(registry);
        Operation.define(OVERLAP).in("X", "Y").out("Out").attr("center", false)
                .infer(DetectionOperations::inferOverlap).lower(l -> call(l, OVERLAP, "X", "Y")).register(registry);
    }

    private static void inferPrior(Inference inference) {
        long[] x = inference.dims("X");
        inference.require(x.length == 4, "X must be images of four dimensions, but is %s", Numbers.text(x));
        long each = (long) inference.attrs().getDoubles("sizes").length + inference.attrs().getDoubles("ratios").length
                - 1;
        inference.require(inference.attrs().getDoubles("sizes").length > 0, "there must be at least one size");
        inference.require(inference.attrs().getDoubles("steps").length == 2
                && inference.attrs().getDoubles("offsets").length == 2, "there must be two steps and two offsets");
        inference.set("Out", inference.dtype("X"), 1, x[2] < 0 || x[3] < 0 ? -1 : x[2] * x[3] * each, COORDINATES);
    }

    private static void prior(Lowering l) {
        long[] dims = l.in("X").shape().dims();
        BoxGrid grid = new BoxGrid(l.attrs(), Math.toIntExact(dims[2]), Math.toIntExact(dims[3]));
        l.call(PRIOR, (_, out) -> write(out.getFirst(), grid.boxes()), List.of(), List.of(l.output("Out")));
    }

    private static void inferDetection(Inference inference) {
        long[] scores = inference.dims("Scores");
        long[] locations = inference.dims("Locations");
        long[] anchors = inference.dims("Anchors");
        inference.require(scores.length == 3 && locations.length == 2 && anchors.length == 3,
                "Scores, Locations and Anchors must have 3, 2 and 3 dimensions, but have %d, %d and %d", scores.length,
                locations.length, anchors.length);
        inference.require(unless(scores[2], locations[1] / COORDINATES) && unless(scores[2], anchors[1])
                && unless(scores[0], locations[0]) && unless(anchors[2], COORDINATES) && unless(anchors[0], 1),
                "Scores [n, classes, boxes], Locations [n, 4·boxes] and Anchors [1, boxes, 4] must be of the same "
                        + "boxes, but are %s, %s and %s",
                Numbers.text(scores), Numbers.text(locations), Numbers.text(anchors));
        inference.require(inference.attrs().getDoubles("variances").length == COORDINATES,
                "there must be four variances");
        inference.set("Out", inference.dtype("Scores"), scores[0], scores[2], 6);
    }

    private static boolean unless(long a, long b) {
        return a < 0 || b < 0 || a == b;
    }

    private static void inferSuppression(Inference inference) {
        long[] x = inference.dims("X");
        Attrs attrs = inference.attrs();
        inference.require(x.length >= 2, "X must have at least two dimensions, but is %s", Numbers.text(x));
        long width = x[x.length - 1];
        int start = attrs.getInt("coord_start");
        inference.require(start >= 0 && (width < 0 || start + COORDINATES <= width)
                && attrs.getInt("score_index") >= 0 && (width < 0 || attrs.getInt("score_index") < width)
                && (width < 0 || attrs.getInt("id_index") < width),
                "the attributes 'coord_start', 'score_index' and 'id_index' must lie in the %d columns of X", width);
        inference.same("X", "Out");
    }

    private static void inferOverlap(Inference inference) {
        long[] x = inference.dims("X");
        long[] y = inference.dims("Y");
        inference.require(x.length >= 1 && y.length >= 1 && unless(x[x.length - 1], COORDINATES)
                && unless(y[y.length - 1], COORDINATES), "X and Y must have four columns, but are %s and %s",
                Numbers.text(x), Numbers.text(y));
        long[] out = Arrays.copyOf(x, x.length + y.length - 2);
        System.arraycopy(y, 0, out, x.length - 1, y.length - 1);
        inference.set("Out", inference.dtype("X"), out);
    }

    private static void call(Lowering l, String type, String... slots) {
        Attrs attrs = l.attrs();
        l.call(type, (in, out) -> {
            Tensor result = out.getFirst();
            write(result, switch (type) {
                case DETECTION -> new BoxDetection(attrs, in.get(0), in.get(1), in.get(2)).compute();
                case SUPPRESSION -> new BoxSuppression(attrs, in.getFirst()).compute();
                default -> BoxOverlaps.of(attrs.getBool("center"), in.get(0), in.get(1));
            });
        }, Arrays.stream(slots).map(l::in).toList(), List.of(l.output("Out")));
    }

    private static void write(Tensor to, double[] values) {
        Results.write(to, values);
    }
}
