package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormFactors;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.computation.network.GroupNorm;
import io.seriatim.tensor.computation.network.GroupNormGrad;
import io.seriatim.tensor.computation.network.LayerNorm;
import io.seriatim.tensor.computation.network.LayerNormGrad;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.portable.view.Image;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Normalisations and their gradients, in double. Layer and group normalisation are one computation: rows of elements,
 * whose scale and bias repeat for every element of a row (layer), or for stretches of it that differ from row to row
 * (group).
 */
final class PortableNorm {
    private PortableNorm() {
    }

    /**
     * How a tensor is cut into rows, and which scale an element has.
     *
     * @param rows
     *            how many
     * @param length
     *            of each
     * @param stretch
     *            how many elements in a row share a scale
     * @param scales
     *            how many a row has, also where it has no elements
     * @param groups
     *            how many rows have scales of their own, after which they repeat
     */
    private record Rows(long rows, int length, int stretch, int scales, int groups, float epsilon, boolean scale,
            boolean bias) {
        static Rows of(TensorSpec x, LayerNorm norm) {
            int at = x.shape().axis(norm.axis());
            int length = Math.toIntExact(x.shape().slice(at, x.shape().rank()).size());
            return new Rows(x.shape().slice(0, at).size(), length, 1, length, 1, norm.epsilon(), norm.scale(),
                    norm.bias());
        }

        static Rows of(TensorSpec x, GroupNorm norm) {
            long pixels = x.shape().slice(2, x.shape().rank()).size();
            long channels = x.shape().dim(1) / norm.groups();
            return new Rows(x.shape().dim(0) * norm.groups(), Math.toIntExact(channels * pixels),
                    Math.toIntExact(Math.max(1, pixels)),
                    Math.toIntExact(channels), norm.groups(), norm.epsilon(), norm.scale(), norm.bias());
        }

        int parameters() {
            return scales * groups;
        }

        /** The first scale of a row. */
        int first(long row) {
            return (int) (row % groups) * scales;
        }
    }

    static Kernel layerNorm(LayerNorm norm, @Nullable TensorSpec[] arguments) {
        return forward(Rows.of(Objects.requireNonNull(arguments[0]), norm));
    }

    static Kernel groupNorm(GroupNorm norm, @Nullable TensorSpec[] arguments) {
        return forward(Rows.of(Objects.requireNonNull(arguments[0]), norm));
    }

    private static Kernel forward(Rows r) {
        int biasAt = r.scale() ? 2 : 1;
        int out = biasAt + (r.bias() ? 1 : 0);
        return PortableKernel.of((all, context) -> {
            int count = r.parameters();
            double[] array = context.doubleArray(Math.addExact(r.length(), 2 * count));
            int scales = r.length();
            Arrays.fill(array, scales, scales + count, 1);
            Arrays.fill(array, scales + count, scales + 2 * count, 0);
            if (r.scale()) {
                Doubles.load(all.get(1), 0, array, scales, count);
            }
            if (r.bias()) {
                Doubles.load(all.get(biasAt), 0, array, scales + count, count);
            }
            for (long row = 0; row < r.rows(); row++) {
                Doubles.load(all.get(0), row * r.length(), array, 0, r.length());
                double mean = sum(array, 0, r.length()) / r.length();
                double variance = squares(array, 0, r.length(), mean) / r.length();
                double inverse = 1 / Math.sqrt(variance + r.epsilon());
                int first = scales + r.first(row);
                for (int i = 0; i < r.length(); i += r.stretch()) {
                    int parameter = first + i / r.stretch();
                    scale(array, i, i + r.stretch(), mean, inverse, array[parameter], array[parameter + count]);
                }
                Doubles.store(all.get(out), row * r.length(), array, 0, r.length());
                set(all.get(out + 1), row, mean);
                set(all.get(out + 2), row, variance);
            }
        });
    }

    private static void scale(double[] array, int from, int to, double mean, double inverse, double factor,
            double bias) {
        for (int i = from; i < to; i++) {
            array[i] = (array[i] - mean) * inverse * factor + bias;
        }
    }

    static Kernel layerNormGrad(LayerNormGrad grad, @Nullable TensorSpec[] arguments) {
        return backward(Rows.of(Objects.requireNonNull(arguments[0]), grad.forward()));
    }

    static Kernel groupNormGrad(GroupNormGrad grad, @Nullable TensorSpec[] arguments) {
        return backward(Rows.of(Objects.requireNonNull(arguments[0]), grad.forward()));
    }

    private static Kernel backward(Rows r) {
        int mean = r.scale() ? 3 : 2;
        int out = mean + 2;
        return PortableKernel.of((all, context) -> {
            int count = r.parameters();
            int length = r.length();
            double[] array = context.doubleArray(Math.addExact(2 * length, 3 * count));
            int scales = 2 * length;
            Arrays.fill(array, scales, scales + count, 1);
            Arrays.fill(array, scales + count, scales + 3 * count, 0);
            if (r.scale()) {
                Doubles.load(all.get(2), 0, array, scales, count);
            }
            for (long row = 0; row < r.rows(); row++) {
                Doubles.load(all.get(0), row * length, array, 0, length);
                Doubles.load(all.get(1), row * length, array, length, length);
                double inverse = 1 / Math.sqrt(get(all.get(mean + 1), row) + r.epsilon());
                gradRow(r, array, scales + r.first(row), count, get(all.get(mean), row), inverse);
                Doubles.store(all.get(out), row * length, array, 0, length);
            }
            int next = out + 1;
            if (r.scale()) {
                Doubles.store(all.get(next++), 0, array, scales + count, count);
            }
            if (r.bias()) {
                Doubles.store(all.get(next), 0, array, scales + 2 * count, count);
            }
        });
    }

    /** In: x and dy of a row; out: dx in x's place, and the sums for scale and bias go on. */
    private static void gradRow(Rows r, double[] array, int first, int count, double mean, double inverse) {
        int length = r.length();
        double sum = 0;
        double product = 0;
        for (int i = 0; i < length; i++) {
            int parameter = first + i / r.stretch();
            double normal = (array[i] - mean) * inverse;
            double dy = array[length + i];
            array[parameter + count] += dy * normal;
            array[parameter + 2 * count] += dy;
            double g = dy * array[parameter];
            sum += g;
            product += g * normal;
            array[i] = normal;
            array[length + i] = g;
        }
        for (int i = 0; i < length; i++) {
            array[i] = (array[length + i] - sum / length - array[i] * product / length) * inverse;
        }
    }

    static Kernel batchNorm(BatchNorm norm, @Nullable TensorSpec[] arguments) {
        Image x = Image.of(Objects.requireNonNull(arguments[0]));
        int out = norm.training() ? 3 : 5;
        Image y = Image.of(Objects.requireNonNull(arguments[out]));
        return PortableKernel.of((all, context) -> {
            double[] plane = context.doubleArray(x.plane());
            for (long c = 0; c < x.channels(); c++) {
                double mean = norm.training() ? mean(x, all.get(0), c, plane) : get(all.get(3), c);
                double variance = norm.training() ? variance(x, all.get(0), c, plane, mean) : get(all.get(4), c);
                double inverse = 1 / Math.sqrt(variance + norm.epsilon());
                double factor = inverse * get(all.get(1), c);
                double bias = get(all.get(2), c);
                for (long n = 0; n < x.images(); n++) {
                    x.loadPlane(all.get(0), n, c, plane, 0);
                    for (int i = 0; i < x.plane(); i++) {
                        plane[i] = (plane[i] - mean) * factor + bias;
                    }
                    y.storePlane(all.get(out), n, c, plane, 0);
                }
                if (norm.training()) {
                    set(all.get(out + 1), c, mean);
                    set(all.get(out + 2), c, inverse);
                }
            }
        });
    }

    static Kernel batchNormFactors(BatchNormFactors factors, @Nullable TensorSpec[] arguments) {
        int channels = Math.toIntExact(Objects.requireNonNull(arguments[0]).shape().dim(0));
        return PortableKernel.of((all, context) -> {
            float[] array = context.floatArray(4 * channels);
            for (int i = 0; i < 4; i++) {
                Tensor given = all.get(i);
                Floats.load(given.memory(), DType.FLOAT32, given.offset(), given.spec().strides()[0], array,
                        i * channels, channels);
            }
            for (int c = 0; c < channels; c++) {
                double factor = array[c] / Math.sqrt((double) array[3 * channels + c] + factors.epsilon());
                array[c] = (float) factor;
                array[channels + c] = (float) (array[channels + c] - array[2 * channels + c] * factor);
            }
            for (int i = 0; i < 2; i++) {
                Tensor made = all.get(4 + i);
                Floats.store(made.memory(), DType.FLOAT32, made.offset(), made.spec().strides()[0], array, i * channels,
                        channels);
            }
        });
    }

    static Kernel batchNormGrad(BatchNormGrad grad, @Nullable TensorSpec[] arguments) {
        BatchNorm norm = grad.forward();
        Image x = Image.of(Objects.requireNonNull(arguments[0]));
        Image dy = Image.of(Objects.requireNonNull(arguments[1]));
        Image dx = Image.of(Objects.requireNonNull(arguments[5]));
        return PortableKernel.of((all, context) -> {
            double[] planes = context.doubleArray(2 * x.plane());
            for (long c = 0; c < x.channels(); c++) {
                double mean = get(all.get(3), c);
                double inverse = norm.training()
                        ? get(all.get(4), c)
                        : 1 / Math.sqrt(get(all.get(4), c) + norm.epsilon());
                channelGrad(norm, all, new Image[]{x, dy, dx}, planes, c, mean, inverse);
            }
        });
    }

    private static void channelGrad(BatchNorm norm, PortableKernel.Arguments all, Image[] images, double[] planes,
            long c, double mean,
            double inverse) {
        Image x = images[0];
        int pixels = x.plane();
        double sum = 0;
        double product = 0;
        for (long n = 0; n < x.images(); n++) {
            x.loadPlane(all.get(0), n, c, planes, 0);
            images[1].loadPlane(all.get(1), n, c, planes, pixels);
            for (int i = 0; i < pixels; i++) {
                sum += planes[pixels + i];
                product += planes[pixels + i] * (planes[i] - mean) * inverse;
            }
        }
        double elements = (double) x.images() * pixels;
        double factor = get(all.get(2), c) * inverse;
        for (long n = 0; n < x.images(); n++) {
            x.loadPlane(all.get(0), n, c, planes, 0);
            images[1].loadPlane(all.get(1), n, c, planes, pixels);
            for (int i = 0; i < pixels; i++) {
                double normal = (planes[i] - mean) * inverse;
                double batch = norm.training() ? (sum + normal * product) / elements : 0;
                planes[i] = factor * (planes[pixels + i] - batch);
            }
            images[2].storePlane(all.get(5), n, c, planes, 0);
        }
        set(all.get(6), c, product);
        set(all.get(7), c, sum);
    }

    private static double mean(Image x, Tensor tensor, long c, double[] plane) {
        double sum = 0;
        for (long n = 0; n < x.images(); n++) {
            x.loadPlane(tensor, n, c, plane, 0);
            sum += sum(plane, 0, x.plane());
        }
        return sum / ((double) x.images() * x.plane());
    }

    private static double variance(Image x, Tensor tensor, long c, double[] plane, double mean) {
        double sum = 0;
        for (long n = 0; n < x.images(); n++) {
            x.loadPlane(tensor, n, c, plane, 0);
            sum += squares(plane, 0, x.plane(), mean);
        }
        return sum / ((double) x.images() * x.plane());
    }

    private static double sum(double[] values, int from, int count) {
        return distances(values, from, count, 0, false);
    }

    private static double squares(double[] values, int from, int count, double mean) {
        return distances(values, from, count, mean, true);
    }

    /**
     * The sum of the distances from a number, or of their squares. Four sums that do not wait for each other are
     * computed side by side.
     */
    private static double distances(double[] values, int from, int count, double center, boolean squared) {
        double a = 0;
        double b = 0;
        double c = 0;
        double d = 0;
        int end = from + count;
        int i = from;
        for (; i + 3 < end; i += 4) {
            double p = values[i] - center;
            double q = values[i + 1] - center;
            double r = values[i + 2] - center;
            double s = values[i + 3] - center;
            a += squared ? p * p : p;
            b += squared ? q * q : q;
            c += squared ? r * r : r;
            d += squared ? s * s : s;
        }
        for (; i < end; i++) {
            double p = values[i] - center;
            a += squared ? p * p : p;
        }
        return a + b + (c + d);
    }

    private static double get(Tensor tensor, long index) {
        return Doubles.get(tensor.memory(), tensor.dtype(), element(tensor, index));
    }

    private static void set(Tensor tensor, long index, double value) {
        Doubles.set(tensor.memory(), tensor.dtype(), element(tensor, index), value);
    }

    /** Statistics have one or two dimensions, and are as a rule row-major. */
    private static long element(Tensor tensor, long index) {
        if (tensor.spec().isRowMajor()) {
            return tensor.offset() + index * tensor.dtype().bytes();
        }
        long[] strides = tensor.spec().strides();
        long left = index;
        long at = 0;
        for (int i = strides.length - 1; i >= 0; i--) {
            long dim = tensor.shape().dim(i);
            at += left % dim * strides[i];
            left /= dim;
        }
        return tensor.offset() + at * tensor.dtype().bytes();
    }
}
