package io.seriatim.tensor.kernel.portable.view;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.Window;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.SlidingExtremes;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Means and maxima of windows of float32 images of one or two dimensions, channels first: along the rows, then along
 * the columns. Windows of 2<sup>i + 1</sup> elements are made of two of 2<sup>i</sup>, for all places of a tile at
 * once, so that one of 25 takes six additions in vector instructions. Neighbours are copied to an array of their own,
 * since the JIT must see that all arrays of a loop have one index. The additions that an element takes part in do not
 * depend on what else is computed.
 */
public final class WindowPooling {
    /** Of a tile, in elements: four of them fit the first-level cache. */
    private static final int TILE = 2 * KernelContext.TILE;

    /** Elements in the rows of one window: wider ones leave the cache. */
    private static final int MOST_OF_WINDOWS = 1 << 16;

    /** With fewer, the library computes one element at a time. */
    private static final int FEWEST_CHANNELS = 4;

    private final boolean max;
    private final long planes;
    private final Axis rows;
    private final Axis columns;
    /** Places of columns that are computed at once, and planes that are if these are all. */
    private final int band;
    private final int together;

    /**
     * Windows along one dimension.
     *
     * @param length
     *            the elements
     * @param places
     *            the windows
     * @param begin
     *            the elements of padding before
     * @param counted
     *            by what the sum of each window is divided
     */
    @SuppressWarnings("ArrayRecordComponent")
    private record Axis(int length, int places, int kernel, int stride, int begin, float[] counted) {
        static Axis of(Pooling pooling, int i, long length, long places) {
            Window window = pooling.window();
            int kernel = Math.toIntExact(pooling.kernel().get(i));
            int begin = window.padBegin(i);
            int end = Math.toIntExact(length);
            float[] counted = new float[Math.toIntExact(places)];
            boolean padded = pooling.kind() == Pooling.Kind.AVERAGE_WITH_PADDING;
            for (int at = 0; at < counted.length; at++) {
                int first = at * window.stride(i) - begin;
                counted[at] = padded
                        ? Math.min(end + window.padEnd(i), first + kernel) - first
                        : Math.min(end, first + kernel) - Math.max(0, first);
            }
            return new Axis(end, counted.length, kernel, window.stride(i), begin, counted);
        }

        static Axis single() {
            return new Axis(1, 1, 1, 1, 0, new float[]{1});
        }

        /** The elements, with padding, that some windows read. */
        int read(int windows) {
            return (windows - 1) * stride + kernel;
        }

        boolean isWhole() {
            return begin == 0 && read(places) == length;
        }
    }

    private WindowPooling(Pooling pooling, long planes, Axis rows, Axis columns) {
        max = pooling.kind() == Pooling.Kind.MAX;
        this.planes = planes;
        this.rows = rows;
        this.columns = columns;
        int width = columns.read(columns.places);
        int most = Math.max(1, (TILE / width - rows.kernel) / rows.stride + 1);
        band = Math.min(rows.places, most);
        together = band == rows.places ? (int) Math.clamp(TILE / ((long) width * rows.read(band)), 1, planes) : 1;
    }

    /**
     * Prepares a pooling.
     *
     * @param pooling
     *            what to compute
     * @param x
     *            the images
     * @param y
     *            the result
     * @return null for other types and layouts, and for windows for which a library is faster
     */
    public static @Nullable WindowPooling of(Pooling pooling, TensorSpec x, TensorSpec y) {
        int rank = pooling.window().rank();
        if (x.dtype() != DType.FLOAT32 || !x.isRowMajor() || !y.isRowMajor() || rank > 2 || y.shape().size() == 0
                || IntStream.range(0, rank).allMatch(i -> y.shape().dim(2 + i) == 1)
                || List.of(x, y).stream().anyMatch(each -> each.shape().size() > Integer.MAX_VALUE)) {
            return null;
        }
        long planes = x.shape().dim(0) * x.shape().dim(1);
        int last = rank - 1;
        Axis columns = Axis.of(pooling, last, x.shape().dim(-1), y.shape().dim(-1));
        Axis rows = rank == 1 ? Axis.single() : Axis.of(pooling, 0, x.shape().dim(2), y.shape().dim(2));
        // The library's pooling of images with channels first is fast where channels are many and both lengths above 1.
        // Channels that threads share must have the bits of the whole: only maxima are chosen by their number.
        boolean isFlat = rank == 1 || rows.length == 1;
        boolean isSlow = (rows.kernel == 1 && rows.stride == 1 && (columns.stride == 1 || isFlat))
                || (columns.kernel == 1 && columns.length == 1)
                || (pooling.kind() == Pooling.Kind.MAX && (x.shape().dim(1) < FEWEST_CHANNELS || isFlat));
        if (!isSlow || (long) rows.kernel * columns.read(columns.places) > MOST_OF_WINDOWS) {
            return null;
        }
        return new WindowPooling(pooling, planes, rows, columns);
    }

    /**
     * Computes it.
     *
     * @param x
     *            the images
     * @param y
     *            the result
     * @param context
     *            that of the calling thread
     */
    public void run(Tensor x, Tensor y, KernelContext context) {
        int width = columns.read(columns.places);
        int size = together * rows.read(band) * width;
        float[] values = context.floatArray(size);
        KernelContext nested = context.nested();
        float[] shifted = nested.floatArray(size);
        float[] sums = nested.nested().floatArray(size);
        for (long plane = 0; plane < planes; plane += together) {
            int count = (int) Math.min(together, planes - plane);
            for (int first = 0; first < rows.places; first += band) {
                int part = Math.min(band, rows.places - first);
                int read = rows.read(part);
                load(x, plane, count, first, read, values);
                windows(values, shifted, sums, count * read * width, columns.kernel, 1);
                float[] along = max ? values : sums;
                float[] free = max ? sums : values;
                pick(along, free, count * read, width, columns.places, columns.stride);
                float[] taken = free;
                if (rows.kernel > 1 || rows.stride > 1 || read > part) {
                    windows(free, shifted, along, count * read * columns.places, rows.kernel, columns.places);
                    taken = max ? along : free;
                    pickRows(max ? free : along, taken, count, read, part);
                }
                if (!max) {
                    divide(taken, count, first, part);
                }
                Floats.store(y.memory(), DType.FLOAT32,
                        y.offset() + (plane * rows.places + first) * columns.places * Float.BYTES, 1, taken, 0,
                        count * part * columns.places);
            }
        }
    }

    /** Loads rows with their padding. */
    private void load(Tensor x, long plane, int count, int first, int read, float[] values) {
        int width = columns.read(columns.places);
        if (rows.isWhole() && columns.isWhole()) {
            Floats.load(x.memory(), DType.FLOAT32,
                    x.offset() + (plane * rows.length + (long) first * rows.stride) * width * Float.BYTES, 1, values, 0,
                    count * read * width);
            return;
        }
        Arrays.fill(values, 0, count * read * width, max ? Float.NEGATIVE_INFINITY : 0);
        int own = Math.min(columns.length, width - columns.begin);
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < read; j++) {
                int row = first * rows.stride - rows.begin + j;
                if (row >= 0 && row < rows.length) {
                    Floats.load(x.memory(), DType.FLOAT32,
                            x.offset() + ((plane + i) * rows.length + row) * columns.length * Float.BYTES, 1, values,
                            (i * read + j) * width + columns.begin, own);
                }
            }
        }
    }

    /**
     * Reduces so many elements, each so much further than the one before, from every place on; places at the end, which
     * have fewer, get anything. Maxima replace the values; sums have an array of their own.
     */
    private void windows(float[] values, float[] shifted, float[] sums, int size, int kernel, int step) {
        if (max) {
            SlidingExtremes.run(true, values, shifted, size, kernel, step);
            return;
        }
        int reduced = 0;
        for (int width = 1; width <= kernel; width *= 2) {
            if ((kernel & width) != 0) {
                if (reduced == 0) {
                    System.arraycopy(values, 0, sums, 0, size);
                } else {
                    addShifted(sums, values, reduced * step, shifted, size);
                }
                reduced += width;
            }
            if (2 * width <= kernel) {
                addShifted(values, values, width * step, shifted, size);
            }
        }
    }

    /** Adds to each value another one that is so many places further. */
    private static void addShifted(float[] to, float[] from, int by, float[] shifted, int size) {
        int count = size - by;
        System.arraycopy(from, by, shifted, 0, count);
        for (int i = 0; i < count; i++) {
            to[i] += shifted[i];
        }
    }

    /** Takes the places of each row that lie so far apart. */
    private static void pick(float[] from, float[] to, int rows, int width, int places, int stride) {
        for (int row = 0; row < rows; row++) {
            int at = row * width;
            int write = row * places;
            if (stride == 1) {
                System.arraycopy(from, at, to, write, places);
            } else {
                for (int i = 0; i < places; i++) {
                    to[write + i] = from[at + i * stride];
                }
            }
        }
    }

    private void pickRows(float[] from, float[] to, int count, int read, int part) {
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < part; j++) {
                System.arraycopy(from, (i * read + j * rows.stride) * columns.places, to,
                        (i * part + j) * columns.places, columns.places);
            }
        }
    }

    private void divide(float[] sums, int count, int first, int part) {
        if (rows.isWhole() && columns.isWhole()) {
            divide(sums, count * part * columns.places, rows.counted[0] * columns.counted[0]);
            return;
        }
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < part; j++) {
                divide(sums, (i * part + j) * columns.places, columns.counted, rows.counted[first + j]);
            }
        }
    }

    private static void divide(float[] sums, int count, float by) {
        for (int i = 0; i < count; i++) {
            sums[i] /= by;
        }
    }

    private static void divide(float[] sums, int from, float[] by, float factor) {
        for (int i = 0; i < by.length; i++) {
            sums[from + i] /= by[i] * factor;
        }
    }
}
