package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.QuantizedOperands;
import io.seriatim.tensor.kernel.portable.function.BinaryFunctions;
import io.seriatim.tensor.kernel.portable.function.IntLoops;
import io.seriatim.tensor.kernel.portable.function.UnaryFunctions;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Matrix products, row by row: a panel of columns of y is packed into an array, and each row of x is multiplied with
 * it. Every sum runs over the inner dimension in order, in the arithmetic of the type; products of 8-bit integers with
 * a floating-point result are summed in double precision, which is exact. Those of int32, and of 8-bit integers with a
 * result of int32, are computed in int32, of which each operation keeps the last 32 bits, as of the exact sum.
 */
final class PortableMatMul extends PortableKernel {
    private static final int PANEL = 1 << 16;
    private static final int LEAST_COLUMNS = 16;
    private static final int MOST_COLUMNS = 256;

    private final MatMul computation;
    private final DType dtype;
    private final long m;
    private final long n;
    private final int k;
    private final LoopNest batches;
    private final Matrix[] operands;

    /** The strides of an operand within a batch. */
    private record Matrix(long row, long column) {
    }

    private PortableMatMul(MatMul computation, DType dtype, long m, int k, long n, LoopNest batches,
            Matrix[] operands) {
        this.computation = computation;
        this.dtype = dtype;
        this.m = m;
        this.n = n;
        this.k = k;
        this.batches = batches;
        this.operands = operands;
    }

    static @Nullable Kernel of(MatMul computation, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        TensorSpec out = Objects.requireNonNull(arguments[arguments.length - 1]);
        boolean ofBytes = QuantizedOperands.fit(PostOp.endInLevels(computation.postOps()), x, y, out);
        boolean summed =
                computation.postOps().isEmpty() && !computation.bias() && QuantizedOperands.areSummed(x, y, out);
        if (!ofBytes && !summed
                && (x.dtype().bytes() == 1 || (!x.dtype().isFloating() && !computation.postOps().isEmpty()))) {
            return null;
        }
        boolean vectorX = x.shape().rank() == 1;
        boolean vectorY = y.shape().rank() == 1;
        int matrixRank = (vectorX ? 0 : 1) + (vectorY ? 0 : 1);
        Shape batch = out.shape().slice(0, out.shape().rank() - matrixRank);
        Matrix[] operands = new Matrix[arguments.length];
        long[][] batchStrides = new long[arguments.length][];
        operands[0] = vectorX ? new Matrix(0, x.strides()[0]) : lastTwo(x, computation.transposeX());
        batchStrides[0] = leading(x, vectorX ? 1 : 2, batch);
        operands[1] = vectorY ? new Matrix(y.strides()[0], 0) : lastTwo(y, computation.transposeY());
        batchStrides[1] = leading(y, vectorY ? 1 : 2, batch);
        for (int i = 2; i < arguments.length; i++) {
            long[] strides = Tensor.broadcastStrides(Objects.requireNonNull(arguments[i]), out.shape());
            int rank = strides.length;
            operands[i] = new Matrix(vectorX ? 0 : strides[rank - matrixRank], vectorY ? 0 : strides[rank - 1]);
            batchStrides[i] = Arrays.copyOf(strides, rank - matrixRank);
        }
        long m = vectorX ? 1 : out.shape().dim(out.shape().rank() - matrixRank);
        long n = vectorY ? 1 : out.shape().dim(-1);
        long k = vectorX ? x.shape().dim(0) : x.shape().dim(computation.transposeX() ? -2 : -1);
        return new PortableMatMul(computation, ofBytes ? DType.FLOAT64 : out.dtype(), m, Math.toIntExact(k), n,
                LoopNest.of(batch, batchStrides),
                operands);
    }

    private static Matrix lastTwo(TensorSpec spec, boolean transposed) {
        long[] strides = spec.strides();
        long row = strides[strides.length - 2];
        long column = strides[strides.length - 1];
        return transposed ? new Matrix(column, row) : new Matrix(row, column);
    }

    private static long[] leading(TensorSpec spec, int matrixRank, Shape batch) {
        int rank = Math.max(0, spec.shape().rank() - matrixRank);
        TensorSpec part = new TensorSpec(spec.dtype(), spec.shape().slice(0, rank),
                Layout.strided(Arrays.copyOf(spec.strides(), rank)));
        // A part of a row-major tensor is not row-major itself: its strides are taken as they are.
        long[] own = Arrays.copyOf(spec.strides(), rank);
        long[] strides = new long[batch.rank()];
        for (int i = 0; i < rank; i++) {
            int at = batch.rank() - rank + i;
            strides[at] = part.shape().dim(i) == 1 && batch.dim(at) != 1 ? 0 : own[i];
        }
        return strides;
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        long[] bases = new long[arguments.length];
        for (long row = 0; row < batches.rows(); row++) {
            for (long i = 0; i < batches.rowLength(); i++) {
                for (int o = 0; o < bases.length; o++) {
                    bases[o] = batches.offset(o, row) + i * batches.rowStride(o);
                }
                switch (dtype.arithmetic()) {
                    case FLOAT32 -> floats(arguments, bases, context);
                    case FLOAT64 -> doubles(arguments, bases, context);
                    default -> {
                        if (dtype == DType.INT32) {
                            ints(arguments, bases, context);
                        } else {
                            longs(arguments, bases);
                        }
                    }
                }
            }
        }
    }

    private long at(Tensor tensor, int operand, long[] bases, long row, long column) {
        return tensor.offset()
                + (bases[operand] + row * operands[operand].row() + column * operands[operand].column())
                        * tensor.dtype().bytes();
    }

    private int columns() {
        return (int) Math.min(n, Math.clamp(PANEL / Math.max(1, k), LEAST_COLUMNS, MOST_COLUMNS));
    }

    private void floats(@Nullable Tensor[] arguments, long[] bases, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        int columns = columns();
        float[] panel = context.floatArray(Math.addExact(Math.multiplyExact(columns, k), k));
        int xAt = columns * k;
        float[] sums = context.floats(0);
        for (long j = 0; j < n; j += columns) {
            int width = (int) Math.min(columns, n - j);
            for (int p = 0; p < k; p++) {
                Floats.load(y.memory(), y.dtype(), at(y, 1, bases, p, j), operands[1].column(), panel, p * width,
                        width);
            }
            for (long i = 0; i < m; i++) {
                Floats.load(x.memory(), x.dtype(), at(x, 0, bases, i, 0), operands[0].column(), panel, xAt, k);
                Arrays.fill(sums, 0, width, 0);
                multiply(panel, xAt, width, k, sums);
                finish(arguments, bases, i, j, width, sums, context);
            }
        }
    }

    private static void multiply(float[] panel, int xAt, int width, int k, float[] sums) {
        int p = 0;
        for (; p + 3 < k; p += 4) {
            float a = panel[xAt + p];
            float b = panel[xAt + p + 1];
            float c = panel[xAt + p + 2];
            float d = panel[xAt + p + 3];
            int at = p * width;
            for (int j = 0; j < width; j++) {
                sums[j] += a * panel[at + j] + b * panel[at + width + j]
                        + (c * panel[at + 2 * width + j] + d * panel[at + 3 * width + j]);
            }
        }
        for (; p < k; p++) {
            float a = panel[xAt + p];
            int at = p * width;
            for (int j = 0; j < width; j++) {
                sums[j] += a * panel[at + j];
            }
        }
    }

    /** Bias and post-ops, then the result is written. */
    private void finish(@Nullable Tensor[] arguments, long[] bases, long i, long j, int width, float[] sums,
            KernelContext context) {
        int next = 2;
        float[] other = context.floats(1);
        if (computation.bias()) {
            load(arguments, next++, bases, i, j, other, width);
            for (int c = 0; c < width; c++) {
                sums[c] += other[c];
            }
        }
        int last = arguments.length - 1;
        for (PostOp postOp : computation.postOps()) {
            switch (postOp) {
                case PostOp.Apply apply -> {
                    for (int c = 0; c < width; c++) {
                        sums[c] = (float) UnaryFunctions.apply(apply.function(), sums[c], apply.alpha(), apply.beta());
                    }
                }
                case PostOp.Combine combine -> {
                    load(arguments, next++, bases, i, j, other, width);
                    for (int c = 0; c < width; c++) {
                        sums[c] = (float) BinaryFunctions.apply(combine.function(), sums[c], other[c]);
                    }
                }
                case PostOp.Accumulate accumulate -> {
                    load(arguments, last, bases, i, j, other, width);
                    for (int c = 0; c < width; c++) {
                        sums[c] += accumulate.scale() * other[c];
                    }
                }
            }
        }
        Tensor out = Objects.requireNonNull(arguments[last]);
        Floats.store(out.memory(), out.dtype(), at(out, last, bases, i, j), operands[last].column(), sums, 0, width);
    }

    private void load(@Nullable Tensor[] arguments, int operand, long[] bases, long i, long j, float[] into,
            int width) {
        Tensor tensor = Objects.requireNonNull(arguments[operand]);
        Floats.load(tensor.memory(), tensor.dtype(), at(tensor, operand, bases, i, j), operands[operand].column(), into,
                0, width);
    }

    private void doubles(@Nullable Tensor[] arguments, long[] bases, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        int columns = columns();
        double[] panel = context.doubleArray(Math.addExact(Math.multiplyExact(columns, k), k));
        int xAt = columns * k;
        double[] sums = context.doubles(0);
        for (long j = 0; j < n; j += columns) {
            int width = (int) Math.min(columns, n - j);
            for (int p = 0; p < k; p++) {
                Doubles.load(y.memory(), y.dtype(), at(y, 1, bases, p, j), operands[1].column(), panel, p * width,
                        width);
            }
            for (long i = 0; i < m; i++) {
                Doubles.load(x.memory(), x.dtype(), at(x, 0, bases, i, 0), operands[0].column(), panel, xAt, k);
                Arrays.fill(sums, 0, width, 0);
                for (int p = 0; p < k; p++) {
                    double a = panel[xAt + p];
                    for (int c = 0; c < width; c++) {
                        sums[c] += a * panel[p * width + c];
                    }
                }
                finish(arguments, bases, i, j, width, sums);
            }
        }
    }

    private void finish(@Nullable Tensor[] arguments, long[] bases, long i, long j, int width, double[] sums) {
        int last = arguments.length - 1;
        for (int c = 0; c < width; c++) {
            double sum = sums[c];
            int next = 2;
            if (computation.bias()) {
                sum += value(arguments, next++, bases, i, j + c);
            }
            for (PostOp postOp : computation.postOps()) {
                sum = switch (postOp) {
                    case PostOp.Apply apply -> UnaryFunctions.apply(apply.function(), sum, apply.alpha(), apply.beta());
                    case PostOp.Combine combine ->
                        BinaryFunctions.apply(combine.function(), sum, value(arguments, next++, bases, i, j + c));
                    case PostOp.Accumulate accumulate ->
                        sum + accumulate.scale() * value(arguments, last, bases, i, j + c);
                };
            }
            sums[c] = sum;
        }
        Tensor out = Objects.requireNonNull(arguments[last]);
        for (int c = 0; c < width && QuantizedOperands.TYPES.contains(out.dtype()); c++) {
            sums[c] = QuantizedOperands.level(out.dtype(), sums[c]);
        }
        Doubles.store(out.memory(), out.dtype(), at(out, last, bases, i, j), operands[last].column(), sums, 0, width);
    }

    private double value(@Nullable Tensor[] arguments, int operand, long[] bases, long i, long j) {
        Tensor tensor = Objects.requireNonNull(arguments[operand]);
        return Doubles.get(tensor.memory(), tensor.dtype(), at(tensor, operand, bases, i, j));
    }

    private void ints(@Nullable Tensor[] arguments, long[] bases, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        int last = arguments.length - 1;
        Tensor out = Objects.requireNonNull(arguments[last]);
        int columns = columns();
        int[] panel = context.intArray(Math.addExact(Math.multiplyExact(columns, k), k));
        int xAt = columns * k;
        int[] sums = context.ints(0);
        for (long j = 0; j < n; j += columns) {
            int width = (int) Math.min(columns, n - j);
            for (int p = 0; p < k; p++) {
                IntLoops.load(y, at(y, 1, bases, p, j), operands[1].column(), panel, p * width, width);
            }
            for (long i = 0; i < m; i++) {
                IntLoops.load(x, at(x, 0, bases, i, 0), operands[0].column(), panel, xAt, k);
                if (computation.bias()) {
                    Tensor bias = Objects.requireNonNull(arguments[2]);
                    IntLoops.load(bias, at(bias, 2, bases, i, j), operands[2].column(), sums, 0, width);
                } else {
                    Arrays.fill(sums, 0, width, 0);
                }
                IntLoops.multiply(panel, xAt, width, k, sums);
                IntLoops.store(out, at(out, last, bases, i, j), operands[last].column(), sums, width);
            }
        }
    }

    private void longs(@Nullable Tensor[] arguments, long[] bases) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        int last = arguments.length - 1;
        Tensor out = Objects.requireNonNull(arguments[last]);
        for (long i = 0; i < m; i++) {
            for (long j = 0; j < n; j++) {
                long sum = computation.bias()
                        ? Longs.get(Objects.requireNonNull(arguments[2]).memory(), dtype,
                                at(Objects.requireNonNull(arguments[2]), 2, bases, i, j))
                        : 0;
                for (int p = 0; p < k; p++) {
                    sum += Longs.get(x.memory(), dtype, at(x, 0, bases, i, p))
                            * Longs.get(y.memory(), dtype, at(y, 1, bases, p, j));
                }
                Longs.set(out.memory(), dtype, at(out, last, bases, i, j), sum);
            }
        }
    }
}
