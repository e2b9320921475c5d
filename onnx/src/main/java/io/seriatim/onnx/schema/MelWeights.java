package io.seriatim.onnx.schema;

import io.seriatim.graph.op.WorkingMemory;
import java.util.Locale;
import java.util.stream.IntStream;

/** The weights with which frequencies of a spectrum count for bands of equal width on the mel scale. */
public final class MelWeights {
    private static final long MOST = 1L << 26;

    private final int bands;
    private final int rows;
    private final long[] edges;

    /**
     * Divides a range of frequencies into bands.
     *
     * @param bands
     *            how many there are
     * @param length
     *            that of the transform, of whose result the matrix has a row for each frequency
     * @param rate
     *            the samples in a second
     * @param from
     *            the lowest frequency in Hz
     * @param to
     *            the highest frequency in Hz
     * @throws IllegalArgumentException
     *             if a number is out of range
     */
    public MelWeights(long bands, long length, long rate, double from, double to) {
        this.bands = positive("num_mel_bins", bands);
        int samples = positive("dft_length", length);
        int perSecond = positive("sample_rate", rate);
        rows = samples / 2 + 1;
        if (this.bands * (long) rows > MOST) {
            throw new IllegalArgumentException("a matrix of " + rows + " rows and " + bands + " columns is too large");
        }
        double low = 2595 * Math.log10(1 + from / 700);
        double high = 2595 * Math.log10(1 + to / 700);
        double step = (high - low) / (this.bands + 2);
        edges = IntStream.range(0, this.bands + 2)
                .mapToLong(i -> (long) Math.floor(
                        (samples + 1L) * (700 * (Math.pow(10, (low + i * step) / 2595) - 1)) / perSecond))
                .toArray();
        if (!(step >= 0) || edges[0] < 0 || edges[this.bands] >= rows || edges[this.bands + 1] > rows) {
            throw new IllegalArgumentException(String.format(Locale.ROOT,
                    "the frequencies from %s to %s Hz are not in order or outside of the %d of the spectrum", from, to,
                    rows));
        }
    }

    private static int positive(String what, long value) {
        if (value < 1 || value > MOST) {
            throw new IllegalArgumentException(what + " is from 1 to " + MOST + ", but is " + value);
        }
        return (int) value;
    }

    /** The number of frequencies. */
    public int rows() {
        return rows;
    }

    /** The number of bands. */
    public int columns() {
        return bands;
    }

    /** The weights, in row-major order. */
    public double[] weights() {
        double[] weights = new double[WorkingMemory.length(rows, bands)];
        for (int band = 0; band < bands; band++) {
            long from = edges[band];
            long center = edges[band + 1];
            long to = edges[band + 2];
            for (long row = from; row <= Math.min(center, rows - 1L); row++) {
                weights[(int) row * bands + band] = center == from ? 1 : (double) (row - from) / (center - from);
            }
            for (long row = center; row < to; row++) {
                weights[(int) row * bands + band] = (double) (to - row) / (to - center);
            }
        }
        return weights;
    }
}
