package io.seriatim.graph.ops.detection;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;

/** Indexes in the order of their scores. */
final class Scores {
    private Scores() {
    }

    /**
     * The indexes whose scores are above a threshold, by decreasing score. Scores are compared as floats, also those of
     * 64 bits; of equal ones the lower index comes first.
     *
     * @param count
     *            how many indexes there are
     * @param scores
     *            the score of an index
     * @param threshold
     *            what they must exceed
     * @param limit
     *            how many to return at most; all if it is negative
     * @return the indexes
     */
    static int[] above(int count, IntToDoubleFunction scores, double threshold, int limit) {
        long[] keys = new long[Math.min(count, 64)];
        int found = 0;
        for (int i = 0; i < count; i++) {
            double score = scores.applyAsDouble(i);
            if (score > threshold) {
                if (found == keys.length) {
                    keys = Arrays.copyOf(keys, Math.min(count, 2 * found));
                }
                keys[found++] = key(score, i);
            }
        }
        return sorted(keys, found, limit);
    }

    /** Places in an array of scores, by decreasing score as floats; of equal ones the lower place comes first. */
    static int[] decreasing(double[] scores, int count) {
        long[] keys = new long[count];
        for (int i = 0; i < count; i++) {
            keys[i] = key(scores[i], i);
        }
        return sorted(keys, count, count);
    }

    private static int[] sorted(long[] keys, int count, int limit) {
        Arrays.sort(keys, 0, count);
        int[] indexes = new int[limit < 0 ? count : Math.min(count, limit)];
        for (int i = 0; i < indexes.length; i++) {
            indexes[i] = (int) keys[i];
        }
        return indexes;
    }

    /** A number that grows with falling scores and then with the index. */
    private static long key(double score, int index) {
        // Zeros of both signs are equal.
        int bits = Float.floatToIntBits((float) score + 0f);
        int increasing = bits ^ ((bits >> 31) & Integer.MAX_VALUE);
        return ((long) ~increasing << Integer.SIZE) | index;
    }
}
