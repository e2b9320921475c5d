package io.seriatim.tensor.kernel.portable.view;

import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The layout of the array in which one channel of an image is sampled: the channel with a border of zeros, so that the
 * four elements around each sample are there, and some zeros for the samples that lie outside; then, for each sample,
 * the index of the upper left element, the fractions of row and column, the weight, and a value. The places are
 * prepared once for all channels of an image.
 */
public final class SampledPlane {
    private final Image image;
    private final int outside;
    private final int stride;
    private final int element;
    private final int row;
    private final int column;
    private final int weight;
    /** How many samples there are. */
    public final int samples;
    /** Where their values begin. */
    public final int values;
    private final int length;

    public SampledPlane(TensorSpec images, TensorSpec places) {
        image = Image.of(images);
        samples = Math.toIntExact(places.shape().dim(2));
        stride = image.width() + 2;
        outside = Math.multiplyExact(image.height() + 2, stride);
        element = Math.addExact(outside, stride + 2);
        length = Math.toIntExact(element + 5L * samples);
        row = element + samples;
        column = row + samples;
        weight = column + samples;
        values = weight + samples;
    }

    public Image image() {
        return image;
    }

    public double[] array(KernelContext context) {
        return context.doubleArray(length);
    }

    /** Prepares the samples of an image. */
    public void prepare(Tensor places, @Nullable Tensor weights, long n, double[] array) {
        Doubles.load(places, 2 * n * samples, array, row, samples);
        Doubles.load(places, (2 * n + 1) * samples, array, column, samples);
        if (weights == null) {
            Arrays.fill(array, weight, values, 1);
        } else {
            Doubles.load(weights, n * samples, array, weight, samples);
        }
        for (int i = 0; i < samples; i++) {
            double y = array[row + i];
            double x = array[column + i];
            boolean inside = y > -1 && x > -1 && y < image.height() && x < image.width();
            double above = inside ? Math.floor(y) : 0;
            double left = inside ? Math.floor(x) : 0;
            array[element + i] = inside ? (above + 1) * stride + left + 1 : outside;
            array[row + i] = inside ? y - above : 0;
            array[column + i] = inside ? x - left : 0;
        }
    }

    public void clear(double[] array) {
        Arrays.fill(array, 0, element, 0);
    }

    /** Reads a channel. */
    public void load(Tensor images, long n, long c, double[] array) {
        clear(array);
        for (int y = 0; y < image.height(); y++) {
            image.load(images, n, c, 0, y, array, (y + 1) * stride + 1);
        }
    }

    /** Writes a channel, without its border. */
    public void store(Tensor images, long n, long c, double[] array) {
        for (int y = 0; y < image.height(); y++) {
            image.store(images, n, c, 0, y, array, (y + 1) * stride + 1);
        }
    }

    /** Computes the values of the samples. */
    public void gather(double[] array) {
        for (int i = 0; i < samples; i++) {
            array[values + i] = array[weight + i] * sample(array, i);
        }
    }

    /** A sample without its weight. */
    public double sample(double[] array, int i) {
        int at = (int) array[element + i];
        double y = array[row + i];
        double x = array[column + i];
        return (1 - y) * ((1 - x) * array[at] + x * array[at + 1])
                + y * ((1 - x) * array[at + stride] + x * array[at + stride + 1]);
    }

    /** Adds the values, which are gradients of the samples, to those of the elements. */
    public void scatter(double[] array) {
        for (int i = 0; i < samples; i++) {
            double gradient = array[weight + i] * array[values + i];
            int at = (int) array[element + i];
            double y = array[row + i];
            double x = array[column + i];
            array[at] += (1 - y) * (1 - x) * gradient;
            array[at + 1] += (1 - y) * x * gradient;
            array[at + stride] += y * (1 - x) * gradient;
            array[at + stride + 1] += y * x * gradient;
        }
    }

    /** How a sample changes with its row, without its weight. */
    public double slopeOfRow(double[] array, int i) {
        int at = (int) array[element + i];
        double x = array[column + i];
        return (1 - x) * (array[at + stride] - array[at]) + x * (array[at + stride + 1] - array[at + 1]);
    }

    /** How a sample changes with its column, without its weight. */
    public double slopeOfColumn(double[] array, int i) {
        int at = (int) array[element + i];
        double y = array[row + i];
        return (1 - y) * (array[at + 1] - array[at]) + y * (array[at + stride + 1] - array[at + stride]);
    }

    public double weight(double[] array, int i) {
        return array[weight + i];
    }
}
