package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.ops.common.ComputedOutputs;
import io.seriatim.graph.ops.common.Given;
import io.seriatim.graph.ops.common.StandardOrder;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Suppression that lowers the score of a box by its overlaps with better boxes of its class, and less where those
 * overlap with better ones themselves.
 */
final class MatrixSuppression {
    private static final int FOUND_COLUMNS = 2;
    private final Given given;
    private final int classes;
    private final int count;
    private final int size;
    private final double[] boxes;
    private final double[] scores;
    private final Precision precision;
    private final BoxOverlap overlap;
    private final boolean gaussian;
    private final double sigma;

    private record Detection(int label, int index, double score) {
    }

    MatrixSuppression(Given given) {
        this.given = given;
        classes = given.length("Scores", 1);
        count = given.length("Scores", 2);
        size = given.length("BBoxes", 2);
        boxes = given.numbers("BBoxes");
        scores = given.numbers("Scores");
        precision = Precision.of(given.dtype("Scores"));
        // Boxes of more than four numbers are compared by the first four.
        overlap = new BoxOverlap(boxes, BoxOverlap.RECTANGLE, given.attrs().getBool("normalized"), precision);
        gaussian = given.attrs().getBool("use_gaussian");
        sigma = given.attrs().getFloat("gaussian_sigma");
    }

    ComputedOutputs outputs() {
        int images = given.length("Scores", 0);
        int[] counts = new int[images];
        List<double[]> rows = new ArrayList<>();
        List<Integer> indexes = new ArrayList<>();
        for (int image = 0; image < images; image++) {
            for (Detection each : best(detections(image))) {
                double[] row = new double[size + FOUND_COLUMNS];
                row[0] = each.label;
                row[1] = each.score;
                System.arraycopy(boxes, each.index * size, row, FOUND_COLUMNS, size);
                rows.add(row);
                indexes.add(each.index);
                counts[image]++;
            }
        }
        DType dtype = given.dtype("Scores");
        double[] all = rows.stream().flatMapToDouble(Arrays::stream).toArray();
        int[] found = indexes.stream().mapToInt(Integer::intValue).toArray();
        return new ComputedOutputs().add("Out", dtype, all, rows.size(), (long) size + FOUND_COLUMNS)
                .addInts("Index", found, found.length, 1).addInts("RoisNum", counts, images);
    }

    private List<Detection> detections(int image) {
        int background = given.attrs().getInt("background_label");
        List<Detection> found = new ArrayList<>();
        for (int c = 0; c < classes; c++) {
            if (c != background) {
                ofClass(image, c, found);
            }
        }
        return found;
    }

    private void ofClass(int image, int label, List<Detection> to) {
        Attrs attrs = given.attrs();
        int[] order = candidates((image * classes + label) * count, attrs);
        double least = precision.round(attrs.getFloat("post_threshold"));
        double[] largest = new double[order.length];
        int[] near = new int[order.length];
        double[] overlaps = new double[order.length];
        BoxBounds bounds = overlap.bounds(order.length);
        // Usually, boxes that are far apart do not lower a score.
        boolean skip = !gaussian || sigma >= 0;
        for (int i = 0; i < order.length; i++) {
            int box = (image * count + order[i]) * size;
            bounds.look(box);
            int found = 0;
            for (int j = skip ? bounds.next(0) : 0; j < i; j = skip ? bounds.next(j + 1) : j + 1) {
                overlaps[found] = overlap.of(box, (image * count + order[j]) * size);
                largest[i] = larger(largest[i], overlaps[found]);
                near[found++] = j;
            }
            bounds.add();
            double decay = 1;
            for (int j = 0; j < found; j++) {
                decay = smaller(decay, decay(overlaps[j], largest[near[j]]));
            }
            skip &= largest[i] <= 1;
            double score = precision.round(decay * scores[(image * classes + label) * count + order[i]]);
            if (i == 0 ? score > least : !(score <= least)) {
                to.add(new Detection(label, image * count + order[i], score));
            }
        }
    }

    /** The boxes of a class above the threshold, the best first. */
    private int[] candidates(int start, Attrs attrs) {
        double threshold = precision.round(attrs.getFloat("score_threshold"));
        int[] above = new int[count];
        int found = 0;
        for (int i = 0; i < count; i++) {
            if (scores[start + i] > threshold) {
                above[found++] = i;
            }
        }
        int limit = attrs.getInt("nms_top_k");
        int kept = limit < 0 ? found : Math.min(found, limit);
        int[] items = Arrays.copyOf(above, found);
        new StandardOrder(items, Arrays.copyOfRange(scores, start, start + count)).sortFirst(kept);
        return Arrays.copyOf(items, kept);
    }

    private double decay(double iou, double largest) {
        if (gaussian) {
            double difference = precision.round(precision.round(largest * largest) - precision.round(iou * iou));
            return precision.exp(precision.round(difference * sigma));
        }
        return precision.round((1 - iou) / (1 - largest));
    }

    /** The first, unless the other is larger: also if one is not a number. */
    private static double larger(double first, double other) {
        return first < other ? other : first;
    }

    private static double smaller(double first, double other) {
        return other < first ? other : first;
    }

    private List<Detection> best(List<Detection> found) {
        int limit = given.attrs().getInt("keep_top_k");
        int kept = limit < 0 ? found.size() : Math.min(found.size(), limit);
        int[] items = StandardOrder.indexes(found.size());
        new StandardOrder(items, found.stream().mapToDouble(Detection::score).toArray()).sortFirst(kept);
        return Arrays.stream(items, 0, kept).mapToObj(found::get).toList();
    }
}
