package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Boxes that are left when those that overlap a better one are dropped. */
final class DetectionSchemas {
    private DetectionSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_non_max_suppression").in("Boxes", "Scores", "Most?", "Overlap?", "Least?").out("Out")
                .attr("center", false).values("Boxes", "Scores", "Most", "Overlap", "Least")
                .infer(DetectionSchemas::infer).lower(DetectionSchemas::lower).register(registry);
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
                ? new Suppression(Objects.requireNonNull(places), Objects.requireNonNull(numbers), scores,
                        inference.attrs().getBool("center"), most, overlap, least).chosen().length / 3
                : -1, 3);
    }

    private static void lower(Lowering l) {
        long[] chosen = new Suppression(Objects.requireNonNull(l.numbers("Boxes")),
                Objects.requireNonNull(l.numbers("Scores")), l.in("Scores").shape().dims(),
                l.attrs().getBool("center"), l.values("Most"), l.numbers("Overlap"), l.numbers("Least")).chosen();
        l.out("Out", l.constant(Tensor.of(chosen, chosen.length / 3, 3)));
    }

    /** The boxes of all images, and their scores in all classes. Areas are rounded to float32, as elsewhere. */
    private static final class Suppression {
        private final float[] boxes;
        private final double[] scores;
        private final int images;
        private final int classes;
        private final int count;
        private final long most;
        private final float overlap;
        private final double least;

        Suppression(double[] boxes, double[] scores, long[] dims, boolean center, long @Nullable [] most,
                double @Nullable [] overlap, double @Nullable [] least) {
            this.scores = scores;
            images = Math.toIntExact(dims[0]);
            classes = Math.toIntExact(dims[1]);
            count = Math.toIntExact(dims[2]);
            this.most = most == null || most.length == 0 ? 0 : most[0];
            this.overlap = overlap == null || overlap.length == 0 ? 0 : (float) overlap[0];
            this.least = least == null || least.length == 0 ? Double.NEGATIVE_INFINITY : least[0];
            this.boxes = new float[boxes.length];
            for (int i = 0; i < boxes.length; i += 4) {
                for (int axis = 0; axis < 2; axis++) {
                    float first = (float) boxes[i + axis];
                    float second = (float) boxes[i + 2 + axis];
                    float half = second / 2;
                    this.boxes[i + axis] = center ? first - half : Math.min(first, second);
                    this.boxes[i + 2 + axis] = center ? first + half : Math.max(first, second);
                }
            }
        }

        /** The image, the class and the number of each box that is left. */
        long[] chosen() {
            List<long[]> rows = new ArrayList<>();
            for (int image = 0; image < images && most > 0; image++) {
                for (int label = 0; label < classes; label++) {
                    for (int box : left(image, label)) {
                        rows.add(new long[]{image, label, box});
                    }
                }
            }
            return rows.stream().flatMapToLong(Arrays::stream).toArray();
        }

        private List<Integer> left(int image, int label) {
            int row = (image * classes + label) * count;
            List<Integer> byScore = IntStream.range(0, count).filter(box -> scores[row + box] > least).boxed()
                    .sorted(Comparator.comparingDouble(box -> -scores[row + box])).toList();
            List<Integer> left = new ArrayList<>();
            for (int box : byScore) {
                if (left.size() >= most) {
                    break;
                }
                if (left.stream().noneMatch(better -> overlaps(image, box, better))) {
                    left.add(box);
                }
            }
            return left;
        }

        private boolean overlaps(int image, int first, int second) {
            int a = (image * count + first) * 4;
            int b = (image * count + second) * 4;
            float height = Math.min(boxes[a + 2], boxes[b + 2]) - Math.max(boxes[a], boxes[b]);
            float width = Math.min(boxes[a + 3], boxes[b + 3]) - Math.max(boxes[a + 1], boxes[b + 1]);
            float areaA = area(a);
            float areaB = area(b);
            if (!(height > 0 && width > 0 && areaA > 0 && areaB > 0)) {
                return false;
            }
            float common = height * width;
            return common / (areaA + areaB - common) > overlap;
        }

        private float area(int box) {
            return (boxes[box + 2] - boxes[box]) * (boxes[box + 3] - boxes[box + 1]);
        }
    }
}
