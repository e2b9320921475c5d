package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
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
 * double. Of images whose channels are innermost in memory, each channel has sums of its own, and those of a group are
 * added in double.
 */
final class FloatGroupNorm extends PortableKernel {
    /** So few that the sum of as many is hardly less exact than each of them. */
    private static final int MOST_SUMMED = 8;
    private static final int PIECE = KernelContext.TILE;
    /** The results after y: mean and variance. */
    private static final int STATISTICS = 2;
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

    /**
     * Null if an operand has another type, or x and y are neither contiguous nor have both the channels innermost.
     */
    static @Nullable Kernel of(GroupNorm norm, @Nullable TensorSpec[] arguments) {
        int y = arguments.length - STATISTICS - 1;
        for (int i = 0; i < arguments.length; i++) {
            TensorSpec spec = arguments[i];
            if (spec == null || spec.dtype() != DType.FLOAT32 || (i != 0 && i != y && !spec.isRowMajor())) {
                return null;
            }
        }
        TensorSpec from = Objects.requireNonNull(arguments[0]);
        TensorSpec to = Objects.requireNonNull(arguments[y]);
        long channels = from.shape().dim(1);
        long pixels = from.shape().slice(2, from.shape().rank()).size();
        if (from.shape().size() == 0 || channels > Integer.MAX_VALUE || pixels > Integer.MAX_VALUE) {
            return null;
        }
        if (from.isRowMajor() && to.isRowMajor()) {
            return new FloatGroupNorm(norm, from.shape().dim(0), (int) channels, (int) pixels);
        }
        Pixels reads = Pixels.of(from);
        Pixels writes = Pixels.of(to);
        return reads == null || writes == null
                ? null
                : new OfPixels(norm, from.shape().dim(0), (int) channels, (int) pixels, reads, writes);
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        int next = 1;
        float[] scales = parameters(norm.scale() ? arguments[next++] : null, 1, channels, context.floats(1));
        float[] biases = parameters(norm.bias() ? arguments[next++] : null, 0, channels, context.floats(2));
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

    private static float[] parameters(@Nullable Tensor given, float otherwise, int channels, float[] tile) {
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

    /**
     * Where the pixels of images lie whose channels are innermost.
     *
     * @param image
     *            the distance of two images, in elements
     * @param pixel
     *            the distance of two pixels
     */
    private record Pixels(long image, long pixel) {
        /** Null if the channels are not innermost, or pixels have different distances. */
        static @Nullable Pixels of(TensorSpec spec) {
            if (spec.layout() instanceof Layout.Opaque || spec.shape().rank() < 3) {
                return null;
            }
            long[] strides = spec.strides();
            Shape shape = spec.shape();
            if (strides[1] != 1 && shape.dim(1) > 1) {
                return null;
            }
            long pixel = -1;
            long expected = -1;
            for (int i = shape.rank() - 1; i >= 2; i--) {
                if (shape.dim(i) == 1) {
                    continue;
                }
                if (pixel < 0) {
                    pixel = strides[i];
                } else if (strides[i] != expected) {
                    return null;
                }
                expected = strides[i] * shape.dim(i);
            }
            return pixel >= 0 && pixel < shape.dim(1) ? null : new Pixels(strides[0], Math.max(pixel, shape.dim(1)));
        }
    }

    /** The normalisation of images whose channels are innermost: of some channels at a time, as many as a tile has. */
    private static final class OfPixels extends PortableKernel {
        private final GroupNorm norm;
        private final long images;
        private final int channels;
        private final int pixels;
        private final Pixels from;
        private final Pixels to;

        private OfPixels(GroupNorm norm, long images, int channels, int pixels, Pixels from, Pixels to) {
            this.norm = norm;
            this.images = images;
            this.channels = channels;
            this.pixels = pixels;
            this.from = from;
            this.to = to;
        }

        @Override
        public String provider() {
            return JavaKernels.PROVIDER;
        }

        @Override
        void compute(@Nullable Tensor[] arguments, KernelContext context) {
            Tensor x = Objects.requireNonNull(arguments[0]);
            int next = 1;
            float[] scales = parameters(norm.scale() ? arguments[next++] : null, 1, channels, context.floats(1));
            float[] biases = parameters(norm.bias() ? arguments[next++] : null, 0, channels, context.floats(2));
            Tensor y = Objects.requireNonNull(arguments[next]);
            Tensor means = Objects.requireNonNull(arguments[next + 1]);
            Tensor variances = Objects.requireNonNull(arguments[next + 2]);
            double[] sums = channels <= PIECE ? context.doubles(0) : new double[channels];
            double[] all = norm.groups() <= PIECE ? context.doubles(1) : new double[norm.groups()];
            float[] centers = array(channels, context.floats(3));
            float[] factors = array(channels, context.floats(4));
            float[] shifts = array(channels, context.floats(5));
            float[] statistic = new float[1];
            int own = channels / norm.groups();
            double length = (double) own * pixels;
            for (long image = 0; image < images; image++) {
                long at = x.offset() + image * from.image() * Float.BYTES;
                Arrays.fill(centers, 0, channels, 0);
                add(x, at, centers, false, sums, context);
                ofGroups(sums, own, all);
                centers(all, length, own, centers);
                add(x, at, centers, true, sums, context);
                for (int group = 0; group < norm.groups(); group++) {
                    int first = group * own;
                    double rest = all[group] / length - centers[first];
                    double variance = Math.max(0, sum(sums, first, own) / length - rest * rest);
                    if (!Double.isFinite(variance)) {
                        // Sums or squares have left the range of float.
                        double mean = wide(x, at, first, own, 0, false, context) / length;
                        variance = wide(x, at, first, own, mean, true, context) / length;
                        Arrays.fill(centers, first, first + own, (float) mean);
                        rest = mean - centers[first];
                    }
                    double inverse = 1 / Math.sqrt(variance + norm.epsilon());
                    for (int c = first; c < first + own; c++) {
                        double factor = inverse * scales[c];
                        factors[c] = (float) factor;
                        shifts[c] = (float) (biases[c] - rest * factor);
                    }
                    statistic[0] = centers[first];
                    Floats.store(means, image * norm.groups() + group, statistic, 0, 1);
                    statistic[0] = (float) variance;
                    Floats.store(variances, image * norm.groups() + group, statistic, 0, 1);
                }
                scale(x, at, y, y.offset() + image * to.image() * Float.BYTES, centers, factors, shifts, context);
            }
        }

        private static double sum(double[] sums, int from, int count) {
            double total = 0;
            for (int i = from; i < from + count; i++) {
                total += sums[i];
            }
            return total;
        }

        private void ofGroups(double[] sums, int own, double[] all) {
            for (int group = 0; group < norm.groups(); group++) {
                all[group] = sum(sums, group * own, own);
            }
        }

        private void centers(double[] all, double length, int own, float[] centers) {
            for (int group = 0; group < norm.groups(); group++) {
                Arrays.fill(centers, group * own, (group + 1) * own, (float) (all[group] / length));
            }
        }

        /** The channels that a tile has of a pixel, and how many pixels. */
        private int columns() {
            return Math.min(channels, PIECE);
        }

        private int rows() {
            return Math.max(1, PIECE / columns());
        }

        /** Sets the sum of each channel's distances from its center, or of their squares. */
        private void add(Tensor x, long at, float[] centers, boolean squared, double[] totals, KernelContext context) {
            float[] tile = context.floats(0);
            float[] sums = context.floats(6);
            float[] other = context.floats(7);
            float[] repeated = context.floats(8);
            Arrays.fill(totals, 0, channels, 0);
            for (int first = 0; first < channels; first += columns()) {
                int columns = Math.min(channels - first, columns());
                repeat(centers, first, columns, repeated);
                for (int pixel = 0; pixel < pixels;) {
                    int width = Math.min(pixels - pixel, rows()) * columns;
                    Arrays.fill(sums, 0, width, 0);
                    for (int summed = 0; summed < MOST_SUMMED && pixel < pixels; summed++) {
                        int rows = Math.min(pixels - pixel, rows());
                        Floats.loadBlock(x.memory(), DType.FLOAT32, place(at, from, pixel, first), from.pixel(), rows,
                                1, columns, tile, other);
                        if (squared) {
                            addSquares(tile, repeated, sums, rows * columns);
                        } else {
                            FloatGroupNorm.add(tile, sums, rows * columns);
                        }
                        pixel += rows;
                    }
                    addRows(sums, width / columns, columns, other, totals, first);
                }
            }
        }

        private static long place(long at, Pixels images, int pixel, int channel) {
            return at + (pixel * images.pixel() + channel) * Float.BYTES;
        }

        private void repeat(float[] values, int from, int columns, float[] into) {
            for (int row = 0; row < rows(); row++) {
                System.arraycopy(values, from, into, row * columns, columns);
            }
        }

        /** Adds rows in pairs, the last in double. */
        private static void addRows(float[] sums, int rows, int columns, float[] other, double[] totals, int first) {
            int left = rows;
            while (left > 2) {
                int half = (left + 1) / 2;
                System.arraycopy(sums, half * columns, other, 0, (left - half) * columns);
                FloatGroupNorm.add(other, sums, (left - half) * columns);
                left = half;
            }
            for (int row = 0; row < left; row++) {
                for (int c = 0; c < columns; c++) {
                    totals[first + c] += sums[row * columns + c];
                }
            }
        }

        private static void addSquares(float[] values, float[] centers, float[] sums, int count) {
            for (int i = 0; i < count; i++) {
                float distance = values[i] - centers[i];
                sums[i] += distance * distance;
            }
        }

        /** The sum of distances of a group, or of their squares, in double. */
        private double wide(Tensor x, long at, int first, int own, double center, boolean squared,
                KernelContext context) {
            float[] tile = context.floats(0);
            double total = 0;
            for (int pixel = 0; pixel < pixels; pixel++) {
                for (int done = 0; done < own; done += PIECE) {
                    int count = Math.min(own - done, PIECE);
                    Floats.load(x.memory(), DType.FLOAT32, place(at, from, pixel, first + done), 1, tile, 0, count);
                    for (int i = 0; i < count; i++) {
                        double distance = tile[i] - center;
                        total += squared ? distance * distance : distance;
                    }
                }
            }
            return total;
        }

        private void scale(Tensor x, long at, Tensor y, long into, float[] centers, float[] factors, float[] shifts,
                KernelContext context) {
            float[] tile = context.floats(0);
            float[] other = context.floats(7);
            float[] center = context.floats(8);
            float[] factor = context.floats(9);
            float[] shift = context.floats(10);
            for (int first = 0; first < channels; first += columns()) {
                int columns = Math.min(channels - first, columns());
                repeat(centers, first, columns, center);
                repeat(factors, first, columns, factor);
                repeat(shifts, first, columns, shift);
                for (int pixel = 0; pixel < pixels; pixel += rows()) {
                    int rows = Math.min(pixels - pixel, rows());
                    Floats.loadBlock(x.memory(), DType.FLOAT32, place(at, from, pixel, first), from.pixel(), rows, 1,
                            columns, tile, other);
                    for (int i = 0; i < rows * columns; i++) {
                        tile[i] = (tile[i] - center[i]) * factor[i] + shift[i];
                    }
                    Floats.storeBlock(y.memory(), DType.FLOAT32, place(into, to, pixel, first), to.pixel(), rows, 1,
                            columns, tile, other);
                }
            }
        }
    }
}
