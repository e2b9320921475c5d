package io.seriatim.graph.ops.random;

import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.numerics.NormalQuantile;
import java.util.Arrays;

/**
 * Paddle's distributions on a processor, which are those of C++'s standard library as GCC ships it: the same numbers
 * for the same generator. Single precision is computed in single precision.
 */
public final class PaddleDraws {
    /** Paddle draws truncated normal numbers from uniform ones above this. */
    private static final double LEAST = Float.MIN_NORMAL;

    private final PaddleRandom random;

    PaddleDraws(PaddleRandom random) {
        this.random = random;
    }

    /** Draws with a generator. */
    public static PaddleDraws of(PaddleRandom random) {
        return new PaddleDraws(random);
    }

    /** The bits are unsigned; the conversion rounds once. */
    private static float toFloat(long bits) {
        return bits >= 0 ? bits : 2 * (float) ((bits >>> 1) | (bits & 1));
    }

    private static double toDouble(long bits) {
        return bits >= 0 ? bits : 2 * (double) ((bits >>> 1) | (bits & 1));
    }

    float unitFloat() {
        float value = toFloat(random.nextLong()) * 0x1p-64f;
        return value < 1 ? value : Math.nextDown(1f);
    }

    /** Evenly from 0 to below 1, in double precision. */
    public double unitDouble() {
        double value = toDouble(random.nextLong()) * 0x1p-64;
        return value < 1 ? value : Math.nextDown(1d);
    }

    /** Evenly from 0 to below 1, in the precision of a type. */
    double unit(DType dtype) {
        return dtype == DType.FLOAT64 ? unitDouble() : unitFloat();
    }

    void uniform(double least, double end, Tensor out) {
        double[] values = new double[WorkingMemory.length(out.shape().size())];
        if (out.dtype() == DType.FLOAT64) {
            Arrays.setAll(values, _ -> unitDouble() * (end - least) + least);
        } else {
            Arrays.setAll(values, _ -> unitFloat() * ((float) end - (float) least) + (float) least);
        }
        Elements.write(values, out);
    }

    /** By inversion of the distribution function. */
    void exponential(float rate, Tensor out) {
        double[] values = new double[WorkingMemory.length(out.shape().size())];
        if (out.dtype() == DType.FLOAT64) {
            Arrays.setAll(values, _ -> -Math.log(1 - unitDouble()) / rate);
        } else {
            Arrays.setAll(values, _ -> -(float) Math.log(1 - unitFloat()) / rate);
        }
        Elements.write(values, out);
    }

    /** The polar method (Marsaglia, Bray, 1964): of each pair the second comes first. */
    void normal(float mean, float deviation, Tensor out) {
        double[] values = new double[WorkingMemory.length(out.shape().size())];
        for (int i = 0; i < values.length; i += 2) {
            double[] pair = out.dtype() == DType.FLOAT64 ? pairOfDoubles() : pairOfFloats();
            for (int j = 0; j < 2 && i + j < values.length; j++) {
                values[i + j] = out.dtype() == DType.FLOAT64
                        ? pair[j] * deviation + mean
                        : (float) pair[j] * deviation + mean;
            }
        }
        Elements.write(values, out);
    }

    double[] pairOfFloats() {
        float x;
        float y;
        float square;
        do {
            x = 2 * unitFloat() - 1;
            y = 2 * unitFloat() - 1;
            square = x * x + y * y;
        } while (square > 1 || square == 0);
        float scale = (float) Math.sqrt(-2 * (float) Math.log(square) / square);
        return new double[]{y * scale, x * scale};
    }

    double[] pairOfDoubles() {
        double x;
        double y;
        double square;
        do {
            x = 2 * unitDouble() - 1;
            y = 2 * unitDouble() - 1;
            square = x * x + y * y;
        } while (square > 1 || square == 0);
        double scale = Math.sqrt(-2 * Math.log(square) / square);
        return new double[]{y * scale, x * scale};
    }

    void truncatedNormal(float mean, float deviation, Tensor out) {
        double[] values = new double[WorkingMemory.length(out.shape().size())];
        Arrays.setAll(values, _ -> {
            double uniform = unit(out.dtype()) * (1 - LEAST) + LEAST;
            return NormalQuantile.truncated(uniform) * deviation + mean;
        });
        Elements.write(values, out);
    }

    /**
     * Evenly from least, included, to end, excluded: the upper half of a product, and again where that would prefer
     * some (Lemire, 2019).
     */
    void whole(long least, long end, Tensor out) {
        long[] values = new long[WorkingMemory.length(out.shape().size())];
        Arrays.setAll(values, _ -> least + below(end - least));
        Elements.write(values, out);
    }

    /** Evenly from 0 to below a bound. */
    public long below(long range) {
        long bits = random.nextLong();
        if (Long.compareUnsigned(bits * range, range) < 0) {
            long threshold = Long.remainderUnsigned(-range, range);
            while (Long.compareUnsigned(bits * range, threshold) < 0) {
                bits = random.nextLong();
            }
        }
        return Math.unsignedMultiplyHigh(bits, range);
    }

    /** The numbers from 0, shuffled: two places are taken from each draw. */
    void permutation(Tensor out) {
        int n = Math.toIntExact(out.shape().size());
        long[] values = new long[WorkingMemory.length(n)];
        Arrays.setAll(values, i -> i);
        int i = 1;
        if (n > 0 && n % 2 == 0) {
            swap(values, i++, (int) below(2));
        }
        while (i < n) {
            long next = i + 2L;
            long both = below((i + 1) * next);
            swap(values, i++, (int) (both / next));
            swap(values, i++, (int) (both % next));
        }
        Elements.write(values, out);
    }

    private static void swap(long[] values, int i, int j) {
        long value = values[i];
        values[i] = values[j];
        values[j] = value;
    }

    void bernoulli(Tensor probabilities, Tensor out) {
        double[] values = probabilities.toDoubleArray();
        for (int i = 0; i < values.length; i++) {
            values[i] = unit(out.dtype()) <= values[i] ? 1 : 0;
        }
        Elements.write(values, out);
    }

    /** Slopes for numbers, in their place: drawn for negative ones, else 1, in single precision whatever the type. */
    void slopes(double[] values, float lower, float upper) {
        for (int i = 0; i < values.length; i++) {
            values[i] = values[i] < 0 ? unitFloat() * (upper - lower) + lower : 1;
        }
    }

    /** The mask of dropout, 1 or 0: always drawn in single precision. */
    public long[] kept(int count, float probability) {
        long[] kept = new long[WorkingMemory.length(count)];
        Arrays.setAll(kept, _ -> unitFloat() < probability ? 0 : 1);
        return kept;
    }
}
