package io.seriatim.mxnet.operation;

import io.seriatim.graph.op.Attrs;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Suppression of boxes that overlap better ones. Each row is a box with its score and perhaps its class; the rows that
 * are kept move to the front, in the order of their scores, and −1 fills the rest.
 */
final class BoxSuppression {
    private final Attrs attrs;
    private final double[] x;
    private final int rows;
    private final int width;
    private final int start;
    private final int score;
    private final int id;

    BoxSuppression(Attrs attrs, Tensor tensor) {
        this.attrs = attrs;
        x = tensor.toDoubleArray();
        long[] dims = tensor.shape().dims();
        rows = Math.toIntExact(dims[dims.length - 2]);
        width = Math.toIntExact(dims[dims.length - 1]);
        start = attrs.getInt("coord_start");
        score = attrs.getInt("score_index");
        id = attrs.getInt("id_index");
    }

    double[] compute() {
        int topk = attrs.getInt("topk") < 0 ? rows : Math.min(rows, attrs.getInt("topk"));
        if (topk < 1 || x.length == 0) {
            return x;
        }
        double[] out = new double[x.length];
        Arrays.fill(out, -1);
        for (int batch = 0; batch < x.length / (rows * width); batch++) {
            int to = batch * rows * width;
            for (int row : kept(candidates(batch, topk))) {
                System.arraycopy(x, row * width, out, to, width);
                to += width;
            }
        }
        if (attrs.getBool("in_center") != attrs.getBool("out_center")) {
            convert(out);
        }
        return out;
    }

    private List<Integer> candidates(int batch, int topk) {
        List<Integer> valid = new ArrayList<>();
        for (int row = batch * rows; row < (batch + 1) * rows; row++) {
            if (x[row * width + score] > attrs.getFloat("valid_thresh")
                    && (id < 0 || x[row * width + id] != attrs.getInt("background_id"))) {
                valid.add(row);
            }
        }
        valid.sort(Comparator.comparingDouble(row -> -x[row * width + score]));
        return valid.subList(0, Math.min(topk, valid.size()));
    }

    private int[] kept(List<Integer> candidates) {
        int[] kept = new int[candidates.size()];
        int count = 0;
        for (int row : candidates) {
            int better = 0;
            while (better < count && !suppresses(kept[better], row)) {
                better++;
            }
            if (better == count) {
                kept[count++] = row;
            }
        }
        return Arrays.copyOf(kept, count);
    }

    private boolean suppresses(int better, int row) {
        boolean comparable = id < 0 || attrs.getBool("force_suppress")
                || (int) x[better * width + id] == (int) x[row * width + id];
        return comparable && BoxOverlaps.of(attrs.getBool("in_center"), x, better * width + start, x,
                row * width + start) > attrs.getFloat("overlap_thresh");
    }

    /** Rows that are filled are converted too, as MXNet does where their first coordinate is not negative. */
    private void convert(double[] out) {
        for (int at = start; at < out.length; at += width) {
            float a = (float) out[at];
            float b = (float) out[at + 1];
            float c = (float) out[at + 2];
            float d = (float) out[at + 3];
            if (a < 0) {
                continue;
            }
            boolean center = attrs.getBool("out_center");
            out[at] = center ? (a + c) / 2 : a - c / 2;
            out[at + 1] = center ? (b + d) / 2 : b - d / 2;
            out[at + 2] = center ? c - a : a + c / 2;
            out[at + 3] = center ? d - b : b + d / 2;
        }
    }
}
