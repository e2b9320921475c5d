package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.CrossEntropy;
import io.seriatim.tensor.computation.network.CrossEntropyGrad;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.computation.network.SoftmaxGrad;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.view.AxisView;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Softmax, cross entropy and their gradients, in double. */
final class PortableSoftmax {
    private PortableSoftmax() {
    }

    static Kernel forward(Softmax softmax, @Nullable TensorSpec[] arguments) {
        AxisView x = AxisView.of(Objects.requireNonNull(arguments[0]), softmax.axis());
        AxisView y = AxisView.of(Objects.requireNonNull(arguments[1]), softmax.axis());
        return PortableKernel.of((all, context) -> {
            double[] row = context.doubleArray(x.length());
            for (long i = 0; i < x.count(); i++) {
                x.load(all.get(0), i, row, 0);
                double logSum = logarithms(row, x.length());
                for (int j = 0; j < x.length() && !softmax.log(); j++) {
                    row[j] = Math.exp(row[j]);
                }
                if (Double.isNaN(logSum)) {
                    Arrays.fill(row, 0, x.length(), Double.NaN);
                }
                y.store(all.get(1), i, row, 0);
            }
        });
    }

    /**
     * Makes the logarithms of the softmax of values, and gives that of the sum of their exponentials, relative to the
     * largest: large values would swallow it.
     */
    private static double logarithms(double[] row, int length) {
        double most = Double.NEGATIVE_INFINITY;
        for (int j = 0; j < length; j++) {
            most = Math.max(most, row[j]);
        }
        double sum = 0;
        for (int j = 0; j < length; j++) {
            sum += Math.exp(row[j] - most);
        }
        double logSum = Math.log(sum);
        for (int j = 0; j < length; j++) {
            row[j] = row[j] - most - logSum;
        }
        return logSum;
    }

    static Kernel grad(SoftmaxGrad grad, @Nullable TensorSpec[] arguments) {
        AxisView y = AxisView.of(Objects.requireNonNull(arguments[0]), grad.axis());
        AxisView dy = AxisView.of(Objects.requireNonNull(arguments[1]), grad.axis());
        AxisView dx = AxisView.of(Objects.requireNonNull(arguments[2]), grad.axis());
        return PortableKernel.of((all, context) -> {
            int length = y.length();
            double[] rows = context.doubleArray(2 * length);
            for (long i = 0; i < y.count(); i++) {
                y.load(all.get(0), i, rows, 0);
                dy.load(all.get(1), i, rows, length);
                double sum = 0;
                for (int j = 0; j < length; j++) {
                    sum += grad.log() ? rows[length + j] : rows[length + j] * rows[j];
                }
                for (int j = 0; j < length; j++) {
                    rows[j] = grad.log()
                            ? rows[length + j] - Math.exp(rows[j]) * sum
                            : rows[j] * (rows[length + j] - sum);
                }
                dx.store(all.get(2), i, rows, 0);
            }
        });
    }

    static Kernel crossEntropy(CrossEntropy computation, @Nullable TensorSpec[] arguments) {
        AxisView x = AxisView.of(Objects.requireNonNull(arguments[0]), computation.axis());
        AxisView labels = AxisView.of(Objects.requireNonNull(arguments[1]), computation.axis());
        AxisView softmax = AxisView.of(Objects.requireNonNull(arguments[2]), computation.axis());
        AxisView losses = AxisView.of(Objects.requireNonNull(arguments[3]), computation.axis());
        return PortableKernel.of((all, context) -> {
            int length = x.length();
            double[] rows = context.doubleArray(2 * length);
            for (long i = 0; i < x.count(); i++) {
                x.load(all.get(0), i, rows, 0);
                double logSum = logarithms(rows, length);
                double loss = computation.soft()
                        ? softLoss(labels, all.get(1), i, rows, length, logSum)
                        : hardLoss(computation, labels, all.get(1), i, rows, length);
                for (int j = 0; j < length; j++) {
                    rows[j] = Math.exp(rows[j]);
                }
                softmax.store(all.get(2), i, rows, 0);
                rows[0] = loss;
                losses.store(all.get(3), i, rows, 0);
            }
        });
    }

    private static double softLoss(AxisView labels, Tensor tensor, long index, double[] rows, int length,
            double logSum) {
        labels.load(tensor, index, rows, length);
        double loss = Double.isNaN(logSum) ? Double.NaN : 0;
        for (int j = 0; j < length; j++) {
            // A class with probability 0 adds no loss, even if its logarithm is not finite.
            loss -= rows[length + j] == 0 ? 0 : rows[length + j] * rows[j];
        }
        return loss;
    }

    private static double hardLoss(CrossEntropy computation, AxisView labels, Tensor tensor, long index, double[] rows,
            int length) {
        long label = label(computation, labels, tensor, index, length);
        return label == computation.ignoreIndex() ? 0 : -rows[(int) label];
    }

    /** The class of a row, which is checked. */
    private static long label(CrossEntropy computation, AxisView labels, Tensor tensor, long index, int length) {
        long label = Longs.get(tensor.memory(), tensor.dtype(), labels.at(tensor, index));
        if (label != computation.ignoreIndex() && (label < 0 || label >= length)) {
            throw new IndexRangeException(
                    "cross_entropy: the label of row " + index + " must be from 0 to " + (length - 1) + ", or "
                            + computation.ignoreIndex()
                            + " to be ignored, but is " + label);
        }
        return label;
    }

    static Kernel crossEntropyGrad(CrossEntropyGrad grad, @Nullable TensorSpec[] arguments) {
        CrossEntropy computation = grad.forward();
        AxisView softmax = AxisView.of(Objects.requireNonNull(arguments[0]), computation.axis());
        AxisView labels = AxisView.of(Objects.requireNonNull(arguments[1]), computation.axis());
        AxisView dloss = AxisView.of(Objects.requireNonNull(arguments[2]), computation.axis());
        AxisView dx = AxisView.of(Objects.requireNonNull(arguments[3]), computation.axis());
        boolean dense = Objects.requireNonNull(arguments[0]).isRowMajor()
                && Objects.requireNonNull(arguments[3]).isRowMajor()
                && Objects.requireNonNull(arguments[0]).dtype() == DType.FLOAT32 && softmax.stride() == 1
                && softmax.length() > 0;
        if (dense && !computation.soft()) {
            return PortableKernel.of((all, context) -> denseGrad(computation, all, context, softmax, labels, dloss));
        }
        return PortableKernel.of((all, context) -> {
            int length = softmax.length();
            double[] rows = context.doubleArray(2 * length);
            for (long i = 0; i < softmax.count(); i++) {
                double gradient = Doubles.get(all.get(2).memory(), all.get(2).dtype(), dloss.at(all.get(2), i));
                softmax.load(all.get(0), i, rows, 0);
                if (computation.soft()) {
                    labels.load(all.get(1), i, rows, length);
                    double weight = 0;
                    for (int j = 0; j < length; j++) {
                        weight += rows[length + j];
                    }
                    for (int j = 0; j < length; j++) {
                        rows[j] = gradient * (rows[j] * weight - rows[length + j]);
                    }
                } else {
                    long label = label(computation, labels, all.get(1), i, length);
                    boolean ignored = label == computation.ignoreIndex();
                    if (!ignored) {
                        rows[(int) label] -= 1;
                    }
                    for (int j = 0; j < length; j++) {
                        rows[j] = ignored ? 0 : gradient * rows[j];
                    }
                }
                dx.store(all.get(3), i, rows, 0);
            }
        });
    }

    /**
     * Many rows at once. A product of two floats is the same in either precision; a difference is not, and is taken in
     * double.
     */
    private static void denseGrad(CrossEntropy computation, PortableKernel.Arguments all, KernelContext context,
            AxisView softmax,
            AxisView labels, AxisView dloss) {
        int length = softmax.length();
        int most = Math.max(1, KernelContext.TILE / length);
        float[] tile = context.floatArray(most * length);
        for (long first = 0; first < softmax.count(); first += most) {
            int rows = (int) Math.min(most, softmax.count() - first);
            long at = first * length * Float.BYTES;
            Floats.load(all.get(0).memory(), DType.FLOAT32, all.get(0).offset() + at, 1, tile, 0, rows * length);
            for (int row = 0; row < rows; row++) {
                float gradient = (float) Doubles.get(all.get(2).memory(), all.get(2).dtype(),
                        dloss.at(all.get(2), first + row));
                long label = label(computation, labels, all.get(1), first + row, length);
                gradient(tile, row * length, length, gradient, label == computation.ignoreIndex() ? -1 : (int) label);
            }
            Floats.store(all.get(3).memory(), DType.FLOAT32, all.get(3).offset() + at, 1, tile, 0, rows * length);
        }
    }

    /** Of a row with a class; −1 for none. */
    private static void gradient(float[] tile, int from, int length, float gradient, int label) {
        if (label < 0) {
            Arrays.fill(tile, from, from + length, 0);
            return;
        }
        double own = tile[from + label];
        for (int i = from; i < from + length; i++) {
            tile[i] *= gradient;
        }
        tile[from + label] = (float) (gradient * (own - 1));
    }
}
