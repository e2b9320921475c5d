package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The im2col matrix of a convolution: a row for each channel and element of the window, a column for each output
 * position and image. Images are innermost, both here and in the input, so that the elements of all images at one
 * position are contiguous; where the window moves by one element, those of a whole line of positions are.
 */
final class Im2col {
    private static final int RUN = 3;

    private final int channels;
    private final int channel;
    private final int taps;
    private final int columns;
    /** Three numbers for each run: its index in a channel, its index in the rows of that channel, and its length. */
    private final int[] runs;
    private final boolean isPadded;

    Im2col(ConvolutionRecipes.Geometry geometry, long[] image, long[] weights, long[] result) {
        int images = Math.toIntExact(image[0]);
        channels = Math.toIntExact(image[1]);
        int rank = image.length - 2;
        int[] lengths = spatial(image, rank);
        int[] places = spatial(result, rank);
        int[] kernel = spatial(weights, rank);
        channel = Math.multiplyExact(images, product(lengths));
        columns = Math.multiplyExact(images, product(places));
        taps = product(kernel);
        runs = runs(geometry, images, lengths, places, kernel);
        int copied = 0;
        for (int i = 0; i < runs.length; i += RUN) {
            copied += runs[i + 2];
        }
        isPadded = copied < taps * columns;
    }

    static int[] spatial(long[] dims, int rank) {
        int[] lengths = new int[rank];
        Arrays.setAll(lengths, i -> Math.toIntExact(dims[2 + i]));
        return lengths;
    }

    static int product(int[] lengths) {
        int product = 1;
        for (int length : lengths) {
            product = Math.multiplyExact(product, length);
        }
        return product;
    }

    private static int[] runs(ConvolutionRecipes.Geometry geometry, int images, int[] lengths, int[] places,
            int[] kernel) {
        int[] runs = new int[64];
        int count = 0;
        int allPlaces = product(places);
        int taps = product(kernel);
        for (int tap = 0; tap < taps; tap++) {
            for (int place = 0; place < allPlaces; place++) {
                int pixel = pixel(geometry, lengths, places, kernel, tap, place);
                if (pixel < 0) {
                    continue;
                }
                int from = pixel * images;
                int to = (tap * allPlaces + place) * images;
                if (count > 0 && runs[count - RUN] + runs[count - 1] == from
                        && runs[count - 2] + runs[count - 1] == to) {
                    runs[count - 1] += images;
                    continue;
                }
                if (count + RUN > runs.length) {
                    runs = Arrays.copyOf(runs, 2 * count);
                }
                runs[count++] = from;
                runs[count++] = to;
                runs[count++] = images;
            }
        }
        return Arrays.copyOf(runs, count);
    }

    /** The element of a channel under an element of the window at an output position; −1 for padding. */
    static int pixel(ConvolutionRecipes.Geometry geometry, int[] lengths, int[] places, int[] kernel, int tap,
            int place) {
        int pixel = 0;
        int step = 1;
        int restOfTap = tap;
        int restOfPlace = place;
        for (int i = lengths.length - 1; i >= 0; i--) {
            int at = restOfPlace % places[i] * geometry.window().stride(i) - geometry.window().padBegin(i)
                    + restOfTap % kernel[i] * geometry.window().dilation(i);
            if (at < 0 || at >= lengths[i]) {
                return -1;
            }
            pixel += at * step;
            step *= lengths[i];
            restOfTap /= kernel[i];
            restOfPlace /= places[i];
        }
        return pixel;
    }

    /** Gathers the matrix from channels, [channels, pixels, images]. */
    void gather(MemorySegment memory, long from, long to, KernelContext context) {
        int rows = taps * columns;
        float[] array = context.floatArray(rows + channel);
        if (isPadded) {
            Arrays.fill(array, 0, rows, 0);
        }
        for (int c = 0; c < channels; c++) {
            Floats.load(memory, DType.FLOAT32, from + (long) c * channel * Float.BYTES, 1, array, rows, channel);
            for (int i = 0; i < runs.length; i += RUN) {
                if (runs[i + 2] == 1) {
                    // As where the window moves by more than an element: without a call.
                    array[runs[i + 1]] = array[rows + runs[i]];
                } else {
                    System.arraycopy(array, rows + runs[i], array, runs[i + 1], runs[i + 2]);
                }
            }
            Floats.store(memory, DType.FLOAT32, to + (long) c * rows * Float.BYTES, 1, array, 0, rows);
        }
    }

    /** Adds the elements of the matrix to channels. */
    void scatter(MemorySegment memory, long from, long to, KernelContext context) {
        int rows = taps * columns;
        float[] array = context.floatArray(rows + channel);
        for (int c = 0; c < channels; c++) {
            Floats.load(memory, DType.FLOAT32, from + (long) c * rows * Float.BYTES, 1, array, 0, rows);
            Arrays.fill(array, rows, rows + channel, 0);
            for (int i = 0; i < runs.length; i += RUN) {
                add(array, runs[i + 1], rows + runs[i], runs[i + 2]);
            }
            Floats.store(memory, DType.FLOAT32, to + (long) c * channel * Float.BYTES, 1, array, rows, channel);
        }
    }

    private static void add(float[] array, int from, int to, int count) {
        for (int i = 0; i < count; i++) {
            array[to + i] += array[from + i];
        }
    }
}
