package io.seriatim.onnx.schema;

import io.seriatim.device.Device;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Boxes that are left when those that overlap a better one are dropped. */
final class DetectionSchemas {
    private DetectionSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_non_max_suppression").in("Boxes", "Scores", "Most?", "Overlap?", "Least?").out("Out")
                .attr("center", false).values("Boxes", "Scores", "Most", "Overlap", "Least")
                .infer(DetectionSchemas::infer).lower(DetectionSchemas::lower).byElements(DetectionSchemas::left)
                .register(registry);
    }

    private static void infer(Inference inference) {
        long[] boxes = inference.dims("Boxes");
        long[] scores = inference.dims("Scores");
        inference.require(boxes.length == 3 && scores.length == 3 && (boxes[2] == 4 || boxes[2] < 0),
                "Boxes are [batch, boxes, 4] and Scores [batch, classes, boxes], but they are %s and %s",
                Numbers.text(boxes), Numbers.text(scores));
        inference.require((boxes[0] == scores[0] || boxes[0] < 0 || scores[0] < 0)
                && (boxes[1] == scores[2] || boxes[1] < 0 || scores[2] < 0),
                "Boxes and Scores have one batch and one number of boxes, but are %s and %s", Numbers.text(boxes),
                Numbers.text(scores));
        for (String slot : List.of("Most", "Overlap", "Least")) {
            long size = inference.has(slot) ? Inference.size(inference.dims(slot)) : 1;
            inference.require(size <= 1, "%s is one number, or none for its default, but has %d", slot, size);
        }
        double[] overlap = inference.numbers("Overlap");
        inference.require(overlap == null || overlap.length == 0 || (overlap[0] >= 0 && overlap[0] <= 1),
                "Overlap lies from 0 to 1, but is %s",
                overlap == null || overlap.length == 0 ? 0 : overlap[0]);
        double[] places = inference.numbers("Boxes");
        double[] numbers = inference.numbers("Scores");
        long[] most = inference.values("Most");
        double[] least = inference.numbers("Least");
        boolean isKnown = places != null && numbers != null && (most != null || !inference.has("Most"))
                && (overlap != null || !inference.has("Overlap")) && (least != null || !inference.has("Least"));
        inference.set("Out", DType.INT64, isKnown
                ? suppression(Objects.requireNonNull(places), Objects.requireNonNull(numbers), scores,
                        inference.attrs().getBool("center"), most, overlap, least).chosen().length / 3
                : -1, 3);
    }

    private static void lower(Lowering l) {
        long[] chosen = suppression(Objects.requireNonNull(l.numbers("Boxes")),
                Objects.requireNonNull(l.numbers("Scores")), l.in("Scores").shape().dims(),
                l.attrs().getBool("center"), l.values("Most"), l.numbers("Overlap"), l.numbers("Least")).chosen();
        l.out("Out", l.constant(Tensor.of(chosen, chosen.length / 3, 3)));
    }

    private static BoxSuppression suppression(double[] boxes, double[] scores, long[] dims, boolean center,
            long @Nullable [] most, double @Nullable [] overlap, double @Nullable [] least) {
        return new BoxSuppression(floats(boxes), floats(scores), dims, center,
                most == null || most.length == 0 ? 0 : most[0],
                overlap == null || overlap.length == 0 ? 0 : (float) overlap[0],
                least == null || least.length == 0 ? Float.NEGATIVE_INFINITY : (float) least[0]);
    }

    private static float[] floats(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    /** Returns the boxes that are left; null for operands that inference refuses, or of other types. */
    private static @Nullable Tensor left(Attrs attrs, List<@Nullable Tensor> operands, Device host) {
        Tensor boxes = operands.get(0);
        Tensor scores = operands.get(1);
        Tensor most = operands.get(2);
        if (boxes == null || scores == null || boxes.dtype() != DType.FLOAT32 || scores.dtype() != DType.FLOAT32
                || boxes.shape().rank() != 3 || scores.shape().rank() != 3 || boxes.shape().dim(2) != 4
                || boxes.shape().dim(0) != scores.shape().dim(0) || boxes.shape().dim(1) != scores.shape().dim(2)
                || operands.subList(2, 5).stream().anyMatch(each -> each != null && each.shape().size() != 1)) {
            return null;
        }
        float overlap = number(operands.get(3), 0);
        if (!(overlap >= 0 && overlap <= 1)) {
            return null;
        }
        long[] chosen = new BoxSuppression(boxes.toFloatArray(), scores.toFloatArray(), scores.shape().dims(),
                attrs.getBool("center"), most == null ? 0 : most.toLongArray()[0], overlap,
                number(operands.get(4), Float.NEGATIVE_INFINITY)).chosen();
        Tensor result = Tensor.allocate(host, TensorSpec.of(DType.INT64, chosen.length / 3, 3));
        MemorySegment.copy(chosen, 0, result.elements(), ValueLayout.JAVA_LONG, 0, chosen.length);
        return result;
    }

    private static float number(@Nullable Tensor tensor, float byDefault) {
        return tensor == null ? byDefault : (float) tensor.toDoubleArray()[0];
    }
}
