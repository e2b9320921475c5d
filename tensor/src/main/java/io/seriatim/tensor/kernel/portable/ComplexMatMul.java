package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Products of complex matrices, in double precision. A panel of columns of the right matrix is loaded at once, its real
 * and imaginary parts apart; each row of the result is a sum of its rows.
 */
final class ComplexMatMul extends PortableKernel {
    private static final int PANEL = 1 << 16;

    private final LoopNest batches;
    private final Matrix left;
    private final Matrix right;
    private final Matrix result;

    /** An operand within a batch: its dimensions and strides, in elements. */
    private record Matrix(int rows, int columns, long rowStride, long columnStride) {
        static Matrix of(TensorSpec spec, boolean transposed) {
            long[] strides = spec.strides();
            int last = strides.length - 1;
            int rows = Math.toIntExact(spec.shape().dim(last - 1));
            int columns = Math.toIntExact(spec.shape().dim(last));
            return transposed
                    ? new Matrix(columns, rows, strides[last], strides[last - 1])
                    : new Matrix(rows, columns, strides[last - 1], strides[last]);
        }
    }

    private ComplexMatMul(LoopNest batches, Matrix left, Matrix right, Matrix result) {
        this.batches = batches;
        this.left = left;
        this.right = right;
        this.result = result;
    }

    static @Nullable Kernel of(MatMul computation, @Nullable TensorSpec[] arguments) {
        if (computation.bias() || !computation.postOps().isEmpty()) {
            return null;
        }
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        TensorSpec out = Objects.requireNonNull(arguments[2]);
        boolean vectorX = x.shape().rank() == 1;
        boolean vectorY = y.shape().rank() == 1;
        TensorSpec a = vectorX ? widened(x, 0) : x;
        TensorSpec b = vectorY ? widened(y, 1) : y;
        TensorSpec c = vectorY ? widened(out, out.shape().rank()) : out;
        c = vectorX ? widened(c, c.shape().rank() - 1) : c;
        Shape batch = c.shape().slice(0, c.shape().rank() - 2);
        return new ComplexMatMul(LoopNest.of(batch, leading(a, batch), leading(b, batch), leading(c, batch)),
                Matrix.of(a, computation.transposeX() && !vectorX), Matrix.of(b, computation.transposeY() && !vectorY),
                Matrix.of(c, false));
    }

    /** With one more dimension, of length 1. */
    private static TensorSpec widened(TensorSpec spec, int at) {
        int rank = spec.shape().rank();
        long[] dims = Arrays.copyOf(spec.shape().dims(), rank + 1);
        long[] strides = Arrays.copyOf(spec.strides(), rank + 1);
        System.arraycopy(dims, at, dims, at + 1, rank - at);
        System.arraycopy(strides, at, strides, at + 1, rank - at);
        dims[at] = 1;
        strides[at] = 0;
        return new TensorSpec(spec.dtype(), Shape.of(dims), Layout.strided(strides));
    }

    private static long[] leading(TensorSpec spec, Shape batch) {
        int rank = spec.shape().rank() - 2;
        long[] own = spec.strides();
        long[] strides = new long[batch.rank()];
        for (int i = 0; i < rank; i++) {
            int at = batch.rank() - rank + i;
            strides[at] = spec.shape().dim(i) == 1 ? 0 : own[i];
        }
        return strides;
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        Tensor out = Objects.requireNonNull(arguments[2]);
        for (long row = 0; row < batches.rows(); row++) {
            for (long i = 0; i < batches.rowLength(); i++) {
                product(x, start(x, 0, row, i), y, start(y, 1, row, i), out, start(out, 2, row, i), context);
            }
        }
    }

    private long start(Tensor tensor, int operand, long row, long column) {
        return tensor.offset()
                + (batches.offset(operand, row) + column * batches.rowStride(operand)) * tensor.dtype().bytes();
    }

    private void product(Tensor x, long atX, Tensor y, long atY, Tensor out, long atOut, KernelContext context) {
        int k = left.columns();
        int width = Math.clamp(PANEL / Math.max(1, k), 1, Math.max(1, result.columns()));
        int panel = Math.multiplyExact(k, width);
        // The right panel's real and imaginary parts, one row of the left matrix, and one of the result.
        double[] values = context.doubleArray(Math.addExact(Math.multiplyExact(2, panel), 2 * (k + width)));
        for (int column = 0; column < result.columns(); column += width) {
            int count = Math.min(width, result.columns() - column);
            for (int p = 0; p < k; p++) {
                load(y, atY, right, p, column, count, values, p * count, panel + p * count);
            }
            for (int row = 0; row < result.rows(); row++) {
                load(x, atX, left, row, 0, k, values, 2 * panel, 2 * panel + k);
                int sums = 2 * (panel + k);
                multiply(values, panel, k, count, sums, sums + width);
                store(out, atOut, row, column, count, values, sums, sums + width);
            }
        }
    }

    private static void multiply(double[] values, int panel, int k, int count, int re, int im) {
        Arrays.fill(values, re, re + count, 0);
        Arrays.fill(values, im, im + count, 0);
        for (int p = 0; p < k; p++) {
            double a = values[2 * panel + p];
            double b = values[2 * panel + k + p];
            int c = p * count;
            int d = panel + p * count;
            for (int j = 0; j < count; j++) {
                values[re + j] += a * values[c + j] - b * values[d + j];
                values[im + j] += a * values[d + j] + b * values[c + j];
            }
        }
    }

    private static void load(Tensor from, long start, Matrix matrix, long row, long column, int count, double[] into,
            int re, int im) {
        DType part = from.dtype().real();
        long at = start + (row * matrix.rowStride() + column * matrix.columnStride()) * from.dtype().bytes();
        Doubles.load(from.memory(), part, at, 2 * matrix.columnStride(), into, re, count);
        Doubles.load(from.memory(), part, at + part.bytes(), 2 * matrix.columnStride(), into, im, count);
    }

    private void store(Tensor to, long start, long row, long column, int count, double[] from, int re, int im) {
        DType part = to.dtype().real();
        long at = start + (row * result.rowStride() + column * result.columnStride()) * to.dtype().bytes();
        Doubles.store(to.memory(), part, at, 2 * result.columnStride(), from, re, count);
        Doubles.store(to.memory(), part, at + part.bytes(), 2 * result.columnStride(), from, im, count);
    }
}
