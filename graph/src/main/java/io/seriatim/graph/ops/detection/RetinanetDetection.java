package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.ops.common.ComputedOutputs;
import io.seriatim.graph.ops.common.Given;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The objects that the levels of a feature pyramid predict: the best predictions of each level are decoded from their
 * anchors, and those that overlap better ones of their class are suppressed.
 */
final class RetinanetDetection {
    private static final int COLUMNS = 6;
    private static final int IMAGE_COLUMNS = 3;
    private static final BoxCode.At ONES = new BoxCode.At(new double[]{1, 1, 1, 1}, 0);
    private final Given given;
    private final int levels;
    private final int classes;
    private final List<double[]> boxes = new ArrayList<>();
    private final List<double[]> scores = new ArrayList<>();
    private final List<double[]> anchors = new ArrayList<>();
    private final double[] images;
    private final Precision precision;
    private final BoxCode code;

    /** A prediction of a class, with the corners of its box. */
    private static final class Detection {
        private final int label;
        private final double score;
        private final double[] box;

        Detection(int label, double score, double[] box) {
            this.label = label;
            this.score = score;
            this.box = box;
        }
    }

    RetinanetDetection(Given given) {
        this.given = given;
        levels = given.count("BBoxes");
        classes = given.length("Scores", 2);
        for (int i = 0; i < levels; i++) {
            boxes.add(given.numbers("BBoxes", i));
            scores.add(given.numbers("Scores", i));
            anchors.add(given.numbers("Anchors", i));
        }
        images = given.numbers("ImInfo");
        precision = Precision.of(given.dtype("Scores"));
        code = BoxCode.of(false, precision);
    }

    ComputedOutputs outputs() {
        List<Detection> found = new ArrayList<>();
        int[] counts = new int[given.length("Scores", 0)];
        for (int image = 0; image < counts.length; image++) {
            List<Detection> best = best(image);
            found.addAll(best);
            counts[image] = best.size();
        }
        double[] rows = new double[found.size() * COLUMNS];
        for (int i = 0; i < found.size(); i++) {
            Detection each = found.get(i);
            // Class 0 is the background, which is not predicted.
            rows[i * COLUMNS] = each.label + 1;
            rows[i * COLUMNS + 1] = each.score;
            System.arraycopy(each.box, 0, rows, i * COLUMNS + 2, BoxCode.SIZE);
        }
        DType dtype = given.dtype("Scores");
        return new ComputedOutputs().add("Out", dtype, rows, found.size(), COLUMNS).divide("Out", 0, counts);
    }

    private List<Detection> best(int image) {
        Attrs attrs = given.attrs();
        List<Detection> predicted = new ArrayList<>();
        for (int level = 0; level < levels; level++) {
            // All positive scores of the last level are candidates.
            double threshold = level < levels - 1 ? precision.round(attrs.getFloat("score_threshold")) : 0;
            predict(image, level, threshold, predicted);
        }
        Suppression suppression = new Suppression(attrs.getFloat("nms_threshold"), attrs.getFloat("nms_eta"),
                precision);
        int limit = attrs.getInt("keep_top_k");
        List<Detection> kept = new ArrayList<>();
        for (int c = 0; c < classes; c++) {
            int label = c;
            List<Detection> ofClass = predicted.stream().filter(each -> each.label == label).toList();
            double[] numbers = ofClass.stream().flatMapToDouble(each -> Arrays.stream(each.box)).toArray();
            int[] best = Scores.decreasing(ofClass.stream().mapToDouble(each -> each.score).toArray(), ofClass.size());
            BoxOverlap overlap = new BoxOverlap(numbers, BoxCode.SIZE, false, precision);
            for (int index : suppression.kept(best, limit, overlap, i -> i * BoxCode.SIZE)) {
                kept.add(ofClass.get(index));
            }
        }
        int[] order = Scores.decreasing(kept.stream().mapToDouble(each -> each.score).toArray(), kept.size());
        return Arrays.stream(order).limit(limit < 0 ? order.length : limit).mapToObj(kept::get).toList();
    }

    private void predict(int image, int level, double threshold, List<Detection> to) {
        double[] ofLevel = scores.get(level);
        int count = Math.toIntExact(given.in("Scores", level).dims()[1]);
        int first = image * count * classes;
        int[] order = Scores.above(count * classes, i -> ofLevel[first + i], threshold,
                given.attrs().getInt("nms_top_k"));
        for (int index : order) {
            to.add(decoded(image, level, count, index / classes, index % classes, ofLevel[first + index]));
        }
    }

    private Detection decoded(int image, int level, int count, int index, int label, double score) {
        double[] anchor = anchors.get(level);
        double[] deltas = boxes.get(level);
        double[] corners = new double[BoxCode.SIZE];
        code.decode(new BoxCode.At(anchor, index * BoxCode.SIZE),
                new BoxCode.At(deltas, (image * count + index) * BoxCode.SIZE), ONES, new BoxCode.At(corners, 0));
        double scale = images[image * IMAGE_COLUMNS + 2];
        for (int i = 0; i < corners.length; i++) {
            // The height of the image comes before its width.
            double length = images[image * IMAGE_COLUMNS + 1 - i % 2];
            double most = precision.round(Precision.nearest(precision.round(length / scale)) - 1);
            corners[i] = Math.max(Math.min(precision.round(corners[i] / scale), most), 0);
        }
        return new Detection(label, score, corners);
    }
}
