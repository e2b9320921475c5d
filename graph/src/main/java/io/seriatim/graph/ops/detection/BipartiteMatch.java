package io.seriatim.graph.ops.detection;

import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.StandardOrder;
import java.util.Arrays;

/** Matches rows of a matrix of similarities to its columns, the most similar first. */
final class BipartiteMatch {
    /**
     * PaddlePaddle searches smaller matrices for each match and sorts larger ones, with other rules for small numbers.
     */
    private static final int SORTED_ROWS = 130;
    private static final int NONE = -1;
    private final double[] similarities;
    private final int columns;
    private final double least;
    private final int[] rows;
    private final double[] distances;

    /**
     * Of a matrix.
     *
     * @param similarities
     *            row by row
     * @param columns
     *            how many columns
     * @param images
     *            how many parts the rows have, each matched to all columns
     * @param precision
     *            of the numbers
     */
    BipartiteMatch(double[] similarities, int columns, int images, Precision precision) {
        this.similarities = similarities;
        this.columns = columns;
        least = precision.round(1e-6);
        rows = new int[WorkingMemory.length(images, columns)];
        Arrays.fill(rows, NONE);
        distances = new double[rows.length];
    }

    /** The row within its part that each column is matched to, or −1. */
    long[] rows() {
        return Arrays.stream(rows).asLongStream().toArray();
    }

    /** The similarity of each column to its row. */
    double[] distances() {
        return distances;
    }

    /** Matches the rows of a part, each to one column. */
    void match(int image, int start, int end) {
        int count = end - start;
        if (count >= SORTED_ROWS) {
            sorted(image, start, count);
        } else {
            searched(image, start, count);
        }
    }

    private void sorted(int image, int start, int count) {
        double[] part = Arrays.copyOfRange(similarities, start * columns, (start + count) * columns);
        int[] order = StandardOrder.indexes(part.length);
        new StandardOrder(order, part).sort();
        boolean[] taken = new boolean[count];
        for (int each : order) {
            int row = each / columns;
            int at = image * columns + each % columns;
            if (rows[at] == NONE && !taken[row] && part[each] > 0) {
                taken[row] = true;
                rows[at] = row;
                distances[at] = part[each];
            }
        }
    }

    private void searched(int image, int start, int count) {
        boolean[] taken = new boolean[count];
        for (int i = 0; i < count; i++) {
            int best = NONE;
            double most = -1;
            for (int column = 0; column < columns; column++) {
                for (int row = 0; row < count && rows[image * columns + column] == NONE; row++) {
                    double similarity = similarities[(start + row) * columns + column];
                    if (!taken[row] && !(similarity < least) && similarity > most) {
                        best = row * columns + column;
                        most = similarity;
                    }
                }
            }
            if (best == NONE) {
                return;
            }
            taken[best / columns] = true;
            rows[image * columns + best % columns] = best / columns;
            distances[image * columns + best % columns] = most;
        }
    }

    /** Matches the columns that have no row yet to the most similar row of the part, which may have several. */
    void matchRest(int image, int start, int end, double threshold) {
        for (int column = 0; column < columns; column++) {
            int at = image * columns + column;
            int best = NONE;
            double most = -1;
            for (int row = 0; row < end - start && rows[at] == NONE; row++) {
                double similarity = similarities[(start + row) * columns + column];
                if (!(similarity < least) && similarity >= threshold && similarity > most) {
                    best = row;
                    most = similarity;
                }
            }
            if (best != NONE) {
                rows[at] = best;
                distances[at] = most;
            }
        }
    }
}
