package io.seriatim.train.quantization;

import java.util.Arrays;

/**
 * How often magnitudes occur, in bins of equal width up to the largest one, without zeros.
 *
 * <p>
 * For the threshold, each number of bins from 128 on is tried: numbers above are clipped, which adds their counts to
 * the last bin, and the bins are divided among the 128 magnitudes of an int8 level, of which each bin gets its share.
 * The distribution that differs least from the clipped one, by relative entropy, gives the threshold (S. Migacz, 8-bit
 * inference with TensorRT, 2017).
 */
final class Histogram {
    static final int BINS = 2048;
    private static final int MAGNITUDES = 128;
    /** The share of a bin that has clipped numbers only, for which no level was meant. */
    private static final double NO_SHARE = 1e-9;

    private final float most;
    private final long[] counts = new long[BINS];

    /**
     * Creates an empty histogram.
     *
     * @param most
     *            the largest magnitude
     */
    Histogram(float most) {
        this.most = most;
    }

    void add(float... values) {
        if (most == 0) {
            return;
        }
        double bins = BINS / (double) most;
        for (float value : values) {
            if (value != 0) {
                counts[(int) Math.min(BINS - 1, Math.abs(value) * bins)]++;
            }
        }
    }

    /** The magnitude from which on numbers are best clipped. */
    float threshold() {
        if (Arrays.stream(counts).allMatch(count -> count == 0)) {
            return most;
        }
        long above = 0;
        double least = Double.POSITIVE_INFINITY;
        int best = BINS;
        for (int bins = BINS; bins >= MAGNITUDES; bins--) {
            double entropy = entropy(bins, above);
            if (entropy < least) {
                least = entropy;
                best = bins;
            }
            above += counts[bins - 1];
        }
        return best == BINS ? most : (float) (most * (double) best / BINS);
    }

    /** The relative entropy of the clipped distribution and that of its levels. */
    private double entropy(int bins, long above) {
        double total = above;
        double kept = 0;
        for (int i = 0; i < bins; i++) {
            total += counts[i];
            kept += counts[i];
        }
        double sum = 0;
        for (int level = 0; level < MAGNITUDES; level++) {
            int from = level * bins / MAGNITUDES;
            int to = (level + 1) * bins / MAGNITUDES;
            double inLevel = 0;
            int present = 0;
            for (int i = from; i < to; i++) {
                inLevel += counts[i];
                present += counts[i] > 0 ? 1 : 0;
            }
            double share = present == 0 ? NO_SHARE : inLevel / present / kept;
            for (int i = from; i < to; i++) {
                double given = (counts[i] + (i == bins - 1 ? above : 0)) / total;
                if (given > 0) {
                    sum += given * Math.log(given / (counts[i] > 0 ? share : NO_SHARE));
                }
            }
        }
        return sum;
    }
}
