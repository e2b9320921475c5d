package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.ComputedOutputs;
import io.seriatim.graph.ops.common.Given;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Suppression of overlapping boxes for each class of objects and image, and then of all but the best boxes of the
 * image. The boxes of images are either [images, boxes, 4] with scores [images, classes, boxes], or [boxes of all
 * images, classes, 4] with scores [boxes of all images, classes] and the number of boxes of each image.
 */
final class MulticlassSuppression {
    private static final int FOUND_COLUMNS = 2;
    private final int classes;
    private final int size;
    private final boolean perClass;
    private final double[] boxes;
    private final double[] scores;
    private final int background;
    private final double scoreThreshold;
    private final int candidates;
    private final int kept;
    private final Suppression suppression;
    private final BoxOverlap overlap;

    /** A box that was kept: of a class, the box of an index within its image. */
    private record Detection(int label, int index, double score) {
    }

    private MulticlassSuppression(Given given) {
        perClass = given.in("Scores", 0).dims().length == 2;
        classes = given.length("Scores", 1);
        size = given.length("BBoxes", 2);
        boxes = given.numbers("BBoxes");
        scores = given.numbers("Scores");
        Attrs attrs = given.attrs();
        Precision precision = Precision.of(given.dtype("Scores"));
        background = attrs.getInt("background_label");
        scoreThreshold = attrs.getFloat("score_threshold");
        candidates = attrs.getInt("nms_top_k");
        kept = attrs.getInt("keep_top_k");
        suppression = new Suppression(attrs.getFloat("nms_threshold"), attrs.getFloat("nms_eta"), precision);
        overlap = new BoxOverlap(boxes, size, attrs.getBool("normalized"), precision);
    }

    /**
     * Suppresses.
     *
     * @param given
     *            the inputs and attributes
     * @param starts
     *            the first box of each image, and the number of boxes of all
     * @return Out, and Index and NmsRoisNum where they are wanted
     */
    static ComputedOutputs compute(Given given, int[] starts) {
        return new MulticlassSuppression(given).outputs(given, starts);
    }

    private ComputedOutputs outputs(Given given, int[] starts) {
        int images = starts.length - 1;
        List<List<Detection>> found = new ArrayList<>();
        int count = 0;
        for (int i = 0; i < images; i++) {
            List<Detection> ofImage = best(image(starts[i], starts[i + 1]));
            found.add(ofImage);
            count += ofImage.size();
        }
        ComputedOutputs outputs = new ComputedOutputs();
        DType dtype = given.dtype("Scores");
        int width = size + FOUND_COLUMNS;
        boolean indexed = given.wants("Index");
        int[] counts = found.stream().mapToInt(List::size).toArray();
        if (count == 0 && !indexed) {
            outputs.add("Out", dtype, new double[]{-1}, 1, 1).divide("Out", 0, 1);
        } else {
            double[] rows = new double[WorkingMemory.length(count, width)];
            int[] indexes = new int[count];
            int row = 0;
            for (int i = 0; i < images; i++) {
                for (Detection each : found.get(i)) {
                    int item = item(starts[i], each.label, each.index);
                    rows[row * width] = each.label;
                    rows[row * width + 1] = each.score;
                    System.arraycopy(boxes, item * size, rows, row * width + FOUND_COLUMNS, size);
                    indexes[row++] = item;
                }
            }
            outputs.add("Out", dtype, rows, count, width).addInts("Index", indexes, count, 1);
            outputs.divide("Out", 0, counts).divide("Index", 0, counts);
        }
        return outputs.addInts("NmsRoisNum", counts, images);
    }

    /** Which of all boxes belongs to a class and an index within an image. */
    private int item(int start, int label, int index) {
        return perClass ? (start + index) * classes + label : start + index;
    }

    /** Those that are kept of an image, class by class. */
    private List<Detection> image(int start, int end) {
        List<Detection> found = new ArrayList<>();
        int count = end - start;
        for (int c = 0; c < classes && count > 0; c++) {
            if (c == background) {
                continue;
            }
            int label = c;
            // The scores of a class follow one another, or are those of a column.
            int first = perClass ? start * classes + c : start * classes + c * count;
            int step = perClass ? classes : 1;
            int[] best = Scores.above(count, i -> scores[first + i * step], scoreThreshold, candidates);
            // Of one class, no more than are kept of all.
            int[] chosen = suppression.kept(best, kept, overlap, i -> item(start, label, i) * size);
            if (perClass) {
                Arrays.sort(chosen);
            }
            for (int index : chosen) {
                found.add(new Detection(c, index, scores[first + index * step]));
            }
        }
        return found;
    }

    /** Those of an image that are kept of all classes, class by class. */
    private List<Detection> best(List<Detection> found) {
        if (kept < 0 || found.size() <= kept) {
            return found;
        }
        int[] order = Scores.decreasing(found.stream().mapToDouble(Detection::score).toArray(), found.size());
        List<List<Detection>> ofClass = new ArrayList<>();
        for (int i = 0; i < classes; i++) {
            ofClass.add(new ArrayList<>());
        }
        for (int i = 0; i < kept; i++) {
            Detection each = found.get(order[i]);
            ofClass.get(each.label).add(each);
        }
        if (perClass) {
            ofClass.forEach(each -> each.sort((one, other) -> Integer.compare(one.index, other.index)));
        }
        return ofClass.stream().flatMap(List::stream).toList();
    }
}
