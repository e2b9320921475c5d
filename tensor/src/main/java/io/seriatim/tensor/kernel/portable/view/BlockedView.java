package io.seriatim.tensor.kernel.portable.view;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.Arrays;

/**
 * A batch of float32 or bfloat16 images as a matrix with one image in a row. It is processed in groups of as many
 * channels as fit into a tile; if a single channel does not fit, its columns are several tiles. Columns are summed,
 * which the JIT vectorises: a few rows in float, then these sums in double. The sums of a channel's columns are added
 * last.
 *
 * @param rows
 *            how many images
 * @param channels
 *            of each
 * @param length
 *            elements of a channel in an image
 * @param dtype
 *            their type
 */
public record BlockedView(int rows, int channels, int length, DType dtype) {
    private static final int ROWS = 8;

    /** Whether there is one for them. */
    public static boolean fits(Shape shape, DType dtype) {
        return (dtype == DType.FLOAT32 || dtype == DType.BFLOAT16) && shape.size() > 0
                && shape.size() <= Integer.MAX_VALUE;
    }

    public static BlockedView of(Shape shape, DType dtype) {
        return new BlockedView(Math.toIntExact(shape.dim(0)), Math.toIntExact(shape.dim(1)),
                Math.toIntExact(shape.slice(2, shape.rank()).size()), dtype);
    }

    public int channelsOfGroup() {
        return Math.max(1, KernelContext.TILE / length);
    }

    /** The columns of a group that begins with a channel. */
    public int columns(int first) {
        return Math.min(channelsOfGroup(), channels - first) * length;
    }

    private long at(Tensor tensor, int row, int first, int column) {
        return tensor.offset() + ((long) row * channels * length + (long) first * length + column) * dtype.bytes();
    }

    public void load(Tensor tensor, int row, int first, int column, float[] into, int from, int count) {
        Floats.load(tensor.memory(), dtype, at(tensor, row, first, column), 1, into, from, count);
    }

    public void store(Tensor tensor, int row, int first, int column, float[] values, int count) {
        Floats.store(tensor.memory(), dtype, at(tensor, row, first, column), 1, values, 0, count);
    }

    /** The sums of a group's channels. */
    public void sums(Tensor tensor, int first, KernelContext context, double[] totals) {
        int columns = columns(first);
        float[] values = context.floatArray(ROWS * KernelContext.TILE);
        double[] sums = context.doubles(0);
        Arrays.fill(totals, 0, columns / length, 0);
        for (int column = 0; column < columns; column += KernelContext.TILE) {
            int count = Math.min(KernelContext.TILE, columns - column);
            Arrays.fill(sums, 0, count, 0);
            for (int row = 0; row < rows; row += ROWS) {
                int some = Math.min(ROWS, rows - row);
                loadRows(tensor, row, some, first, column, values, count);
                add(values, some, count, sums);
            }
            fold(sums, column, count, totals);
        }
    }

    private void loadRows(Tensor tensor, int row, int some, int first, int column, float[] into, int count) {
        if (count == channels * length && dtype == DType.FLOAT32) {
            load(tensor, row, 0, 0, into, 0, some * count);
            return;
        }
        for (int i = 0; i < some; i++) {
            load(tensor, row + i, first, column, into, i * count, count);
        }
    }

    /** Adds the sums of columns to their channels'. */
    public void fold(double[] sums, int column, int count, double[] totals) {
        int from = 0;
        while (from < count) {
            int channel = (column + from) / length;
            int to = Math.min(count, (channel + 1) * length - column);
            totals[channel] += total(sums, from, to);
            from = to;
        }
    }

    /** Four independent sums hide the latency of an addition. */
    private static double total(double[] values, int from, int to) {
        double a = 0;
        double b = 0;
        double c = 0;
        double d = 0;
        int i = from;
        for (; i + 3 < to; i += 4) {
            a += values[i];
            b += values[i + 1];
            c += values[i + 2];
            d += values[i + 3];
        }
        for (; i < to; i++) {
            a += values[i];
        }
        return a + b + (c + d);
    }

    private static void add(float[] values, int rows, int length, double[] sums) {
        if (rows == ROWS) {
            addEight(values, length, sums);
            return;
        }
        for (int row = 0; row < rows; row++) {
            addOne(values, row * length, length, sums);
        }
    }

    private static void addEight(float[] v, int length, double[] sums) {
        int b = length;
        int c = 2 * length;
        int d = 3 * length;
        int e = 4 * length;
        int f = 5 * length;
        int g = 6 * length;
        int h = 7 * length;
        for (int i = 0; i < length; i++) {
            sums[i] += v[i] + v[b + i] + (v[c + i] + v[d + i]) + (v[e + i] + v[f + i] + (v[g + i] + v[h + i]));
        }
    }

    private static void addOne(float[] values, int from, int length, double[] sums) {
        for (int i = 0; i < length; i++) {
            sums[i] += values[from + i];
        }
    }

    /** Sets each column of a tile to the value of its channel. */
    public void spread(double[] ofChannels, int column, int count, float[] tile) {
        int from = 0;
        while (from < count) {
            int channel = (column + from) / length;
            int to = Math.min(count, (channel + 1) * length - column);
            Arrays.fill(tile, from, to, (float) ofChannels[channel]);
            from = to;
        }
    }
}
