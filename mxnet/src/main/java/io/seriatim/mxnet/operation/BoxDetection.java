package io.seriatim.mxnet.operation;

import io.seriatim.graph.op.Attrs;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.Comparator;

/**
 * The detections of images: of each anchor its best class, score and decoded box, without those that overlap a better
 * one of the same class. A row is class, score and four coordinates; the class −1 marks rows that do not count.
 */
final class BoxDetection {
    private static final int ROW = 6;

    private final Attrs attrs;
    private final double[] scores;
    private final double[] locations;
    private final double[] anchors;
    private final float[] variances;
    private final int images;
    private final int classes;
    private final int boxes;

    BoxDetection(Attrs attrs, Tensor scores, Tensor locations, Tensor anchors) {
        this.attrs = attrs;
        this.scores = scores.toDoubleArray();
        this.locations = locations.toDoubleArray();
        this.anchors = anchors.toDoubleArray();
        variances = Results.floats(attrs, "variances");
        long[] dims = scores.shape().dims();
        images = Math.toIntExact(dims[0]);
        classes = Math.toIntExact(dims[1]);
        boxes = Math.toIntExact(dims[2]);
    }

    double[] compute() {
        double[] out = new double[Math.multiplyExact(Math.multiplyExact(images, boxes), ROW)];
        Arrays.fill(out, -1);
        for (int image = 0; image < images; image++) {
            double[] rows = rows(image);
            int count = rows.length / ROW;
            float overlap = attrs.getFloat("nms_threshold");
            if (count > 0 && overlap > 0 && overlap <= 1) {
                suppress(rows, count, overlap);
            }
            System.arraycopy(rows, 0, out, image * boxes * ROW, rows.length);
        }
        return out;
    }

    /** The anchors with a class. */
    private double[] rows(int image) {
        double[] rows = new double[boxes * ROW];
        int count = 0;
        for (int box = 0; box < boxes; box++) {
            double best = -1;
            int id = 0;
            for (int each = 1; each < classes; each++) {
                double score = scores[(image * classes + each) * boxes + box];
                if (score > best) {
                    best = score;
                    id = each;
                }
            }
            if (id > 0 && best >= attrs.getFloat("threshold")) {
                rows[count * ROW] = id - 1;
                rows[count * ROW + 1] = best;
                decode(rows, count * ROW + 2, 4 * box, 4 * (image * boxes + box));
                count++;
            }
        }
        return Arrays.copyOf(rows, count * ROW);
    }

    private void decode(double[] to, int at, int anchor, int location) {
        for (int axis = 0; axis < 2; axis++) {
            float low = (float) anchors[anchor + axis];
            float high = (float) anchors[anchor + axis + 2];
            float size = high - low;
            float center = (float) locations[location + axis] * variances[axis] * size + (low + high) / 2;
            float half = (float) Math.exp((float) locations[location + axis + 2] * variances[axis + 2]) * size / 2;
            to[at + axis] = clipped(center - half);
            to[at + axis + 2] = clipped(center + half);
        }
    }

    private float clipped(float value) {
        return attrs.getBool("clip") ? Math.clamp(value, 0f, 1f) : value;
    }

    /** Sorts the best rows to the front, and marks those that overlap better ones, and the rest. */
    private void suppress(double[] rows, int count, float overlap) {
        Integer[] order = new Integer[count];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, Comparator.comparingDouble(row -> -rows[row * ROW + 1]));
        int topk = attrs.getInt("nms_topk");
        int kept = topk > 0 ? Math.min(topk, count) : count;
        double[] from = rows.clone();
        for (int i = kept; i < count; i++) {
            rows[i * ROW] = -1;
        }
        for (int i = 0; i < kept; i++) {
            System.arraycopy(from, order[i] * ROW, rows, i * ROW, ROW);
        }
        for (int i = 0; i < kept; i++) {
            for (int j = i + 1; j < kept && rows[i * ROW] >= 0; j++) {
                boolean same = attrs.getBool("force_suppress") || rows[i * ROW] == rows[j * ROW];
                if (rows[j * ROW] >= 0 && same
                        && BoxOverlaps.of(false, rows, i * ROW + 2, rows, j * ROW + 2) >= overlap) {
                    rows[j * ROW] = -1;
                }
            }
        }
    }
}
