package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Group normalisation of float32. A group is summed in pieces, by loops that the JIT vectorises: each place of a piece
 * has a sum of its own, of at most {@value #MOST_SUMMED} elements, and these sums are added in pairs, the last in
 * double.
 */
final class FloatGroupNorm extends PortableKernel {
    /** So few that the sum of as many is hardly less exact than each of them. */
    private static final int MOST_SUMMED = 8;
    private static final int PIECE = KernelContext.TILE;
    /** From here on, the sums of a piece are added in double. */
    private static final int WIDE = 64;

    private final GroupNorm norm;
    private final long images;
    private final int channels;
    private final int pixels;

    private FloatGroupNorm(GroupNorm norm, long images, int channels, int pixels) {
        this.norm = norm;
        this.images = images;
        this.channels = channels;
        this.pixels = pixels;
    }

    /** Null if an operand has another type, or x and y are not contiguous. */
    static @Nullable Kernel of(GroupNorm norm, @Nullable TensorSpec[] arguments) {
        for (TensorSpec spec : arguments) {
            if (spec == null || spec.dtype() != DType.FLOAT32 || !spec.isRowMajor()) {
                return null;
            }
        }
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        long channels = x.shape().dim(1);
        long pixels = x.shape().slice(2, x.shape().rank()).size();
        return x.shape().size() == 0 || channels > Integer.MAX_VALUE || pixels > Integer.MAX_VALUE
                ? null
                : new FloatGroupNorm(norm, x.shape().dim(0), (int) channels, (int) pixels);
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        int next = 1;
        float[] scales = parameters(norm.scale() ? arguments[next++] : null, 1, context.floats(1));
        float[] biases = parameters(norm.bias() ? arguments[next++] : null, 0, context.floats(2));
        Tensor y = Objects.requireNonNull(arguments[next]);
        Tensor means = Objects.requireNonNull(arguments[next + 1]);
        Tensor variances = Objects.requireNonNull(arguments[next + 2]);
        float[] statistic = new float[1];
        int own = channels / norm.groups();
        float[] factors = array(own, context.floats(3));
        float[] shifts = array(own, context.floats(4));
        long length = (long) own * pixels;
        for (long row = 0; row < images * norm.groups(); row++) {
            long from = row * length;
            double mean = sum(x, from, length, 0, false, context) / length;
            // Distances are from the float next to the mean: they lose no digits, and the rest is made good.
            float center = (float) mean;
            double rest = mean - center;
            // Not below 0, as rounding could make it; NaN stays.
            double variance = Math.max(0, sum(x, from, length, center, true, context) / length - rest * rest);
            if (!Double.isFinite(variance)) {
                // Sums or squares have left the range of float.
                mean = wideSum(x, from, length, 0, false, context) / length;
                center = (float) mean;
                rest = mean - center;
                variance = wideSum(x, from, length, mean, true, context) / length;
            }
            double inverse = 1 / Math.sqrt(variance + norm.epsilon());
            int first = (int) (row % norm.groups()) * own;
            for (int c = 0; c < own; c++) {
                double factor = inverse * scales[first + c];
                factors[c] = (float) factor;
                shifts[c] = (float) (biases[first + c] - rest * factor);
            }
            scale(x, y, from, length, center, factors, shifts, context.floats(0));
            statistic[0] = center;
            Floats.store(means, row, statistic, 0, 1);
            statistic[0] = (float) variance;
            Floats.store(variances, row, statistic, 0, 1);
        }
    }

    /** Another one than that of {@link PortableNorm}, whose sums have another order. */
    @Override
    public String provider() {
        return JavaKernels.PROVIDER;
    }

    private float[] parameters(@Nullable Tensor given, float otherwise, float[] tile) {
        float[] all = array(channels, tile);
        if (given == null) {
            Arrays.fill(all, 0, channels, otherwise);
        } else {
            Floats.load(given, 0, all, 0, channels);
        }
        return all;
    }

    private static float[] array(int length, float[] tile) {
        return length <= tile.length ? tile : new float[length];
    }

    /**
     * The sum of the distances from a number, or of their squares. A group of one piece is loaded once: the tile holds
     * it for what follows.
     */
    private static double sum(Tensor x, long from, long length, float center, boolean squared, KernelContext context) {
        float[] tile = context.floats(0);
        float[] sums = context.floats(5);
        double total = 0;
        long end = from + length;
        for (long at = from; at < end;) {
            int width = (int) Math.min(end - at, PIECE);
            Arrays.fill(sums, 0, width, 0);
            for (int summed = 0; summed < MOST_SUMMED && at < end; summed++) {
                int count = (int) Math.min(end - at, PIECE);
                if (!squared || length > PIECE) {
                    Floats.load(x, at, tile, 0, count);
                }
                if (squared) {
                    addSquares(tile, center, sums, count);
                } else {
                    add(tile, sums, count);
                }
                at += count;
            }
            total += total(sums, width, context.floats(6));
        }
        return total;
    }

    /** The same in double. */
    private static double wideSum(Tensor x, long from, long length, double center, boolean squared,
            KernelContext context) {
        float[] tile = context.floats(0);
        double total = 0;
        for (long at = 0; at < length; at += PIECE) {
            int count = (int) Math.min(length - at, PIECE);
            Floats.load(x, from + at, tile, 0, count);
            for (int i = 0; i < count; i++) {
                double distance = tile[i] - center;
                total += squared ? distance * distance : distance;
            }
        }
        return total;
    }

    /** The sum of all, halves onto halves. The JIT vectorises loops over two arrays, but not over two parts of one. */
    private static double total(float[] sums, int count, float[] other) {
        int width = count;
        while (width > WIDE) {
            int half = (width + 1) / 2;
            System.arraycopy(sums, half, other, 0, width - half);
            add(other, sums, width - half);
            width = half;
        }
        double total = 0;
        double odd = 0;
        for (int i = 0; i + 1 < width; i += 2) {
            total += sums[i];
            odd += sums[i + 1];
        }
        return total + odd + (width % 2 == 1 ? sums[width - 1] : 0);
    }

    private static void add(float[] values, float[] sums, int count) {
        for (int i = 0; i < count; i++) {
            sums[i] += values[i];
        }
    }

    private static void addSquares(float[] values, float center, float[] sums, int count) {
        for (int i = 0; i < count; i++) {
            float distance = values[i] - center;
            sums[i] += distance * distance;
        }
    }

    /** Writes a group piece by piece; in a piece, one channel after the other. */
    private void scale(Tensor x, Tensor y, long from, long length, float center, float[] factors, float[] shifts,
            float[] tile) {
        for (long at = 0; at < length; at += PIECE) {
            int count = (int) Math.min(length - at, PIECE);
            if (length > PIECE) {
                Floats.load(x, from + at, tile, 0, count);
            }
            int channel = (int) (at / pixels);
            int begin = 0;
            int end = (int) Math.min(count, (channel + 1L) * pixels - at);
            while (begin < count) {
                scale(tile, begin, end, center, factors[channel], shifts[channel]);
                channel++;
                begin = end;
                end = (int) Math.min(count, (long) end + pixels);
            }
            Floats.store(y, from + at, tile, 0, count);
        }
    }

    private static void scale(float[] values, int from, int to, float center, float factor, float shift) {
        for (int i = from; i < to; i++) {
            values[i] = (values[i] - center) * factor + shift;
        }
    }
}
