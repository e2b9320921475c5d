package io.seriatim.graph.ops.detection;

import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * Greedy suppression: of boxes in the order of their scores, each is kept that does not overlap one of those kept
 * before by more than a threshold.
 *
 * @param threshold
 *            the largest overlap of boxes that are both kept
 * @param eta
 *            a factor below 1 reduces the threshold after each box that is kept, as long as it is above 0.5
 * @param precision
 *            of the threshold
 */
record Suppression(double threshold, double eta, Precision precision) {
    private static final double LEAST_REDUCED = 0.5;

    /**
     * Suppresses.
     *
     * @param candidates
     *            indexes of boxes, the best first
     * @param most
     *            how many to keep; all if it is negative
     * @param overlap
     *            of boxes
     * @param place
     *            where the box of an index begins
     * @return those that are kept, the best first
     */
    int[] kept(int[] candidates, int most, BoxOverlap overlap, IntUnaryOperator place) {
        int[] kept = new int[most < 0 ? candidates.length : Math.min(most, candidates.length)];
        int[] places = new int[kept.length];
        BoxBounds bounds = overlap.bounds(kept.length);
        int count = 0;
        double limit = precision.round(threshold);
        for (int i = 0; i < candidates.length && count < kept.length; i++) {
            int at = place.applyAsInt(candidates[i]);
            bounds.look(at);
            if (isApart(at, places, count, overlap, bounds, limit)) {
                bounds.add();
                kept[count] = candidates[i];
                places[count++] = at;
                if (eta < 1 && limit > LEAST_REDUCED) {
                    limit = precision.round(limit * eta);
                }
            }
        }
        return Arrays.copyOf(kept, count);
    }

    private static boolean isApart(int at, int[] places, int count, BoxOverlap overlap, BoxBounds bounds,
            double limit) {
        // Below 0, boxes that are far apart suppress each other, too.
        boolean skip = limit >= 0;
        for (int i = skip ? bounds.next(0) : 0; i < count; i = skip ? bounds.next(i + 1) : i + 1) {
            // An overlap that is not a number suppresses, too.
            if (!(overlap.of(at, places[i]) <= limit)) {
                return false;
            }
        }
        return true;
    }
}
