package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.view.BlockedView;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Batch normalisation of float32 and bfloat16 with the batch's own mean and variance, and its gradient. A few channels
 * at a time, so that their elements, which are read two or three times, stay in the cache.
 */
final class BlockedBatchNorm extends PortableKernel {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);

    private final BlockedView panel;
    private final float epsilon;
    private final boolean gradient;

    private BlockedBatchNorm(BlockedView panel, float epsilon, boolean gradient) {
        this.panel = panel;
        this.epsilon = epsilon;
        this.gradient = gradient;
    }

    static @Nullable Kernel forward(BatchNorm norm, @Nullable TensorSpec[] arguments) {
        return norm.training() ? of(norm, arguments, false) : null;
    }

    static @Nullable Kernel grad(BatchNormGrad grad, @Nullable TensorSpec[] arguments) {
        return grad.forward().training() ? of(grad.forward(), arguments, true) : null;
    }

    private static @Nullable Kernel of(BatchNorm norm, @Nullable TensorSpec[] arguments, boolean gradient) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        for (TensorSpec spec : arguments) {
            if (spec == null || spec.dtype() != (spec.shape().rank() == 1 ? DType.FLOAT32 : x.dtype())
                    || !spec.isRowMajor()) {
                return null;
            }
        }
        return BlockedView.fits(x.shape(), x.dtype())
                ? new BlockedBatchNorm(BlockedView.of(x.shape(), x.dtype()), norm.epsilon(), gradient)
                : null;
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        for (int first = 0; first < panel.channels(); first += panel.channelsOfGroup()) {
            if (gradient) {
                gradients(arguments, first, context);
            } else {
                normalise(arguments, first, context);
            }
        }
    }

    private static double get(@Nullable Tensor[] arguments, int index, int channel) {
        Tensor tensor = Objects.requireNonNull(arguments[index]);
        return tensor.memory().get(FLOAT, tensor.offset() + (long) channel * Float.BYTES);
    }

    private static void set(@Nullable Tensor[] arguments, int index, int channel, double value) {
        Tensor tensor = Objects.requireNonNull(arguments[index]);
        tensor.memory().set(FLOAT, tensor.offset() + (long) channel * Float.BYTES, (float) value);
    }

    private void normalise(@Nullable Tensor[] arguments, int first, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[3]);
        int channels = panel.columns(first) / panel.length();
        double elements = (double) panel.rows() * panel.length();
        double[] mean = context.doubles(2);
        double[] factor = context.doubles(3);
        double[] bias = context.doubles(4);
        panel.sums(x, first, context, mean);
        for (int i = 0; i < channels; i++) {
            mean[i] /= elements;
        }
        variances(x, first, mean, factor, context);
        for (int i = 0; i < channels; i++) {
            double inverse = 1 / Math.sqrt(factor[i] / elements + epsilon);
            set(arguments, 4, first + i, mean[i]);
            set(arguments, 5, first + i, inverse);
            factor[i] = inverse * get(arguments, 1, first + i);
            bias[i] = get(arguments, 2, first + i);
        }
        float[] tile = context.floats(0);
        int columns = panel.columns(first);
        for (int column = 0; column < columns; column += KernelContext.TILE) {
            int count = Math.min(KernelContext.TILE, columns - column);
            panel.spread(mean, column, count, context.floats(1));
            panel.spread(factor, column, count, context.floats(2));
            panel.spread(bias, column, count, context.floats(3));
            for (int row = 0; row < panel.rows(); row++) {
                panel.load(x, row, first, column, tile, 0, count);
                normalise(tile, context.floats(1), context.floats(2), context.floats(3), count);
                panel.store(y, row, first, column, tile, count);
            }
        }
    }

    private static void normalise(float[] values, float[] mean, float[] factor, float[] bias, int count) {
        for (int i = 0; i < count; i++) {
            values[i] = (values[i] - mean[i]) * factor[i] + bias[i];
        }
    }

    /** The sums of the squares of distances from the mean. */
    private void variances(Tensor x, int first, double[] mean, double[] totals, KernelContext context) {
        int columns = panel.columns(first);
        float[] tile = context.floats(0);
        float[] means = context.floats(1);
        double[] sums = context.doubles(0);
        Arrays.fill(totals, 0, columns / panel.length(), 0);
        for (int column = 0; column < columns; column += KernelContext.TILE) {
            int count = Math.min(KernelContext.TILE, columns - column);
            panel.spread(mean, column, count, means);
            Arrays.fill(sums, 0, count, 0);
            for (int row = 0; row < panel.rows(); row++) {
                panel.load(x, row, first, column, tile, 0, count);
                addSquares(tile, means, sums, count);
            }
            panel.fold(sums, column, count, totals);
        }
    }

    private static void addSquares(float[] values, float[] mean, double[] sums, int count) {
        for (int i = 0; i < count; i++) {
            float distance = values[i] - mean[i];
            sums[i] += distance * distance;
        }
    }

    private void gradients(@Nullable Tensor[] arguments, int first, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor dy = Objects.requireNonNull(arguments[1]);
        Tensor dx = Objects.requireNonNull(arguments[5]);
        int channels = panel.columns(first) / panel.length();
        double elements = (double) panel.rows() * panel.length();
        double[] mean = context.doubles(2);
        double[] sum = context.doubles(3);
        double[] slope = context.doubles(4);
        double[] factor = context.doubles(5);
        for (int i = 0; i < channels; i++) {
            mean[i] = get(arguments, 3, first + i);
        }
        sums(x, dy, first, mean, sum, slope, context);
        for (int i = 0; i < channels; i++) {
            double inverse = get(arguments, 4, first + i);
            set(arguments, 6, first + i, slope[i] * inverse);
            set(arguments, 7, first + i, sum[i]);
            factor[i] = get(arguments, 2, first + i) * inverse;
            slope[i] *= inverse * inverse / elements;
            sum[i] /= elements;
        }
        float[] tile = context.floats(0);
        float[] gradients = context.floats(1);
        int columns = panel.columns(first);
        for (int column = 0; column < columns; column += KernelContext.TILE) {
            int count = Math.min(KernelContext.TILE, columns - column);
            panel.spread(mean, column, count, context.floats(2));
            panel.spread(sum, column, count, context.floats(3));
            panel.spread(slope, column, count, context.floats(4));
            panel.spread(factor, column, count, context.floats(5));
            for (int row = 0; row < panel.rows(); row++) {
                panel.load(x, row, first, column, tile, 0, count);
                panel.load(dy, row, first, column, gradients, 0, count);
                gradients(tile, gradients, context.floats(2), context.floats(3), context.floats(4), context.floats(5),
                        count);
                panel.store(dx, row, first, column, gradients, count);
            }
        }
    }

    private static void gradients(float[] values, float[] gradients, float[] mean, float[] sum, float[] slope,
            float[] factor, int count) {
        for (int i = 0; i < count; i++) {
            gradients[i] = (gradients[i] - sum[i] - (values[i] - mean[i]) * slope[i]) * factor[i];
        }
    }

    /** The sums of gradients, and of gradients times distances from the mean. */
    private void sums(Tensor x, Tensor dy, int first, double[] mean, double[] totals, double[] products,
            KernelContext context) {
        int columns = panel.columns(first);
        float[] tile = context.floats(0);
        float[] gradients = context.floats(1);
        float[] means = context.floats(2);
        double[] sums = context.doubles(0);
        double[] others = context.doubles(1);
        Arrays.fill(totals, 0, columns / panel.length(), 0);
        Arrays.fill(products, 0, columns / panel.length(), 0);
        for (int column = 0; column < columns; column += KernelContext.TILE) {
            int count = Math.min(KernelContext.TILE, columns - column);
            panel.spread(mean, column, count, means);
            Arrays.fill(sums, 0, count, 0);
            Arrays.fill(others, 0, count, 0);
            for (int row = 0; row < panel.rows(); row++) {
                panel.load(x, row, first, column, tile, 0, count);
                panel.load(dy, row, first, column, gradients, 0, count);
                add(tile, gradients, means, sums, others, count);
            }
            panel.fold(sums, column, count, totals);
            panel.fold(others, column, count, products);
        }
    }

    private static void add(float[] values, float[] gradients, float[] mean, double[] sums, double[] products,
            int count) {
        for (int i = 0; i < count; i++) {
            sums[i] += gradients[i];
            products[i] += gradients[i] * (values[i] - mean[i]);
        }
    }
}
