package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.ops.common.ComputedOutputs;
import io.seriatim.graph.ops.common.Given;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Suppression that first merges boxes which follow one another and overlap, as those of a long text do: the corners
 * become averages that are weighted by the scores, and the score becomes their sum. The classes of an image share its
 * boxes, also those that were merged.
 */
final class LocalityAwareSuppression {
    private static final int FOUND_COLUMNS = 2;
    private final Given given;
    private final int classes;
    private final int count;
    private final int size;
    private final double[] boxes;
    private final double[] scores;
    private final Precision precision;
    private final BoxOverlap overlap;

    private record Detection(int label, int index) {
    }

    LocalityAwareSuppression(Given given) {
        this.given = given;
        classes = given.length("Scores", 1);
        count = given.length("Scores", 2);
        size = given.length("BBoxes", 2);
        // Changed below.
        boxes = given.numbers("BBoxes").clone();
        scores = given.numbers("Scores").clone();
        precision = Precision.of(given.dtype("Scores"));
        overlap = new BoxOverlap(boxes, size, given.attrs().getBool("normalized"), precision);
    }

    ComputedOutputs outputs() {
        int images = given.length("Scores", 0);
        int[] counts = new int[images];
        List<double[]> rows = new ArrayList<>();
        for (int image = 0; image < images; image++) {
            for (Detection each : best(image, detections(image))) {
                double[] row = new double[size + FOUND_COLUMNS];
                row[0] = each.label;
                row[1] = scores[score(image, each.label, each.index)];
                System.arraycopy(boxes, box(image, each.index), row, FOUND_COLUMNS, size);
                rows.add(row);
                counts[image]++;
            }
        }
        if (rows.isEmpty()) {
            return new ComputedOutputs().add("Out", given.dtype("Scores"), new double[]{-1}, 1, 1).divide("Out", 0, 1);
        }
        double[] all = rows.stream().flatMapToDouble(Arrays::stream).toArray();
        return new ComputedOutputs().add("Out", given.dtype("Scores"), all, rows.size(), (long) size + FOUND_COLUMNS)
                .divide("Out", 0, counts);
    }

    private int box(int image, int index) {
        return (image * count + index) * size;
    }

    private int score(int image, int label, int index) {
        return (image * classes + label) * count + index;
    }

    private List<Detection> detections(int image) {
        Attrs attrs = given.attrs();
        Suppression suppression = new Suppression(attrs.getFloat("nms_threshold"), attrs.getFloat("nms_eta"),
                precision);
        List<Detection> found = new ArrayList<>();
        for (int c = 0; c < classes; c++) {
            if (c != attrs.getInt("background_label")) {
                int label = c;
                boolean[] merged = merged(image, c, precision.round(suppression.threshold()));
                int[] best = Scores.above(count,
                        i -> merged[i] ? Double.NEGATIVE_INFINITY : scores[score(image, label, i)],
                        precision.round(attrs.getFloat("score_threshold")), attrs.getInt("nms_top_k"));
                for (int index : suppression.kept(best, attrs.getInt("keep_top_k"), overlap, i -> box(image, i))) {
                    found.add(new Detection(c, index));
                }
            }
        }
        return found;
    }

    /** Merges the boxes of an image; returns which of them were merged into one before. */
    private boolean[] merged(int image, int label, double threshold) {
        boolean[] merged = new boolean[count];
        int last = 0;
        for (int i = 1; i < count; i++) {
            if (overlap.of(box(image, i), box(image, last)) > threshold) {
                merge(box(image, i), box(image, last), score(image, label, i), score(image, label, last));
                merged[i] = true;
            } else {
                last = i;
            }
        }
        return merged;
    }

    private void merge(int from, int to, int fromScore, int toScore) {
        double sum = precision.round(scores[fromScore] + scores[toScore]);
        for (int i = 0; i < size; i++) {
            double weighted = precision.round(precision.round(boxes[from + i] * scores[fromScore])
                    + precision.round(boxes[to + i] * scores[toScore]));
            boxes[to + i] = precision.round(weighted / sum);
        }
        scores[toScore] = sum;
    }

    private List<Detection> best(int image, List<Detection> found) {
        int kept = given.attrs().getInt("keep_top_k");
        if (kept < 0 || found.size() <= kept) {
            return found;
        }
        double[] all = found.stream().mapToDouble(each -> scores[score(image, each.label, each.index)]).toArray();
        int[] order = Arrays.copyOf(Scores.decreasing(all, all.length), kept);
        // Class by class, and within a class by score.
        return Arrays.stream(order).mapToObj(found::get)
                .sorted((one, other) -> Integer.compare(one.label, other.label)).toList();
    }
}
