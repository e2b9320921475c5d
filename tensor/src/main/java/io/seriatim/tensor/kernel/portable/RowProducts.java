package io.seriatim.tensor.kernel.portable;

import io.seriatim.device.Place;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Products of one row and a matrix, for each of a small batch, as those of attention while a sequence is decoded. A
 * library's kernel takes some 300 µs and 500 KiB for each length of the sequence; this one takes next to nothing, and
 * as long to run. Sums run over the inner dimension in groups of four, whichever way the matrix lies. Bias and post-ops
 * are computed by the kernels that they have without a product, so that the bits are the same.
 */
public final class RowProducts extends PortableKernel {
    private static final int ROWS = 4;
    private static final int FEWEST_VECTORISED = 48;

    private final LoopNest batches;
    private final int k;
    private final int n;
    private final long xStride;
    private final long yRow;
    private final long yColumn;
    private final long outStride;
    private final List<After> after;

    /** A function of the result, computed in place: the kernel and the argument that it reads, or none. */
    private record After(Kernel kernel, int argument) {
    }

    private RowProducts(LoopNest batches, int k, int n, long[] strides, List<After> after) {
        this.batches = batches;
        this.k = k;
        this.n = n;
        xStride = strides[0];
        yRow = strides[1];
        yColumn = strides[2];
        outStride = strides[3];
        this.after = after;
    }

    static @Nullable Kernel of(MatMul product, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[1]);
        TensorSpec out = Objects.requireNonNull(arguments[arguments.length - 1]);
        int rank = out.shape().rank();
        // Matrices without a batch are mostly weights, which other kernels read packed.
        if (x.shape().rank() != rank || y.shape().rank() != rank || rank < 3 || out.shape().dim(-2) != 1
                || Arrays.stream(arguments).anyMatch(each -> each == null || each.dtype() != DType.FLOAT32)) {
            return null;
        }
        long k = x.shape().dim(product.transposeX() ? -2 : -1);
        long n = out.shape().dim(-1);
        if (k == 0 || n > KernelContext.TILE || y.shape().size() > MatMul.FEW) {
            return null;
        }
        List<After> after = after(product, arguments, out);
        if (after == null) {
            return null;
        }
        Shape batch = out.shape().slice(0, rank - 2);
        long[] ofX = x.strides();
        long[] ofY = y.strides();
        long row = ofY[rank - (product.transposeY() ? 1 : 2)];
        long column = ofY[rank - (product.transposeY() ? 2 : 1)];
        long[] strides = {ofX[rank - (product.transposeX() ? 2 : 1)], row, column, out.strides()[rank - 1]};
        return new RowProducts(LoopNest.of(batch, leading(x, batch), leading(y, batch), leading(out, batch)),
                (int) k, (int) n, strides, after);
    }

    private static long[] leading(TensorSpec operand, Shape batch) {
        long[] strides = Arrays.copyOf(operand.strides(), batch.rank());
        for (int i = 0; i < strides.length; i++) {
            strides[i] = operand.shape().dim(i) == 1 ? 0 : strides[i];
        }
        return strides;
    }

    /** What follows the product; null if it needs what the result holds before. */
    private static @Nullable List<After> after(MatMul product, @Nullable TensorSpec[] arguments, TensorSpec out) {
        List<After> after = new ArrayList<>(product.postOps().size() + 1);
        int next = 2;
        if (product.bias()) {
            after.add(of(Binary.of(Binary.Function.ADD), next, out, arguments[next], out));
            next++;
        }
        for (PostOp each : product.postOps()) {
            switch (each) {
                case PostOp.Apply(var function, float alpha, float beta) ->
                    after.add(of(new Unary(function, alpha, beta), -1, out, out));
                case PostOp.Combine(var function) -> {
                    after.add(of(Binary.of(function), next, out, arguments[next], out));
                    next++;
                }
                case PostOp.Accumulate _ -> {
                    return null;
                }
            }
        }
        return after;
    }

    private static After of(Computation computation, int argument, @Nullable TensorSpec... arguments) {
        return new After(Kernels.system().prepare(computation, Place.CPU, arguments), argument);
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        Tensor out = Objects.requireNonNull(arguments[arguments.length - 1]);
        int xAt = k * n;
        float[] values = context.floatArray(xAt + k);
        float[] sums = context.floats(0);
        for (long row = 0; row < batches.rows(); row++) {
            for (long i = 0; i < batches.rowLength(); i++) {
                Floats.load(x.memory(), DType.FLOAT32, at(x, 0, row, i), xStride, values, xAt, k);
                long from = at(y, 1, row, i);
                if (yColumn != 1 && yRow == 1) {
                    load(y, from, yColumn, n, k, values);
                    byColumns(values, xAt, k, n, sums);
                } else {
                    load(y, from, yRow, k, n, values);
                    byRows(values, xAt, k, n, sums);
                }
                Floats.store(out.memory(), DType.FLOAT32, at(out, 2, row, i), outStride, sums, 0, n);
            }
        }
        for (After each : after) {
            each.kernel().run(each.argument() < 0
                    ? new Tensor[]{out, out}
                    : new Tensor[]{out, arguments[each.argument()], out}, context);
        }
    }

    private long at(Tensor tensor, int operand, long row, long i) {
        return tensor.offset() + (batches.offset(operand, row) + i * batches.rowStride(operand)) * Float.BYTES;
    }

    /** Loads lines of a matrix one after the other. */
    private void load(Tensor y, long at, long apart, int lines, int length, float[] values) {
        long within = yColumn != 1 && yRow == 1 ? 1 : yColumn;
        if (within == 1 && apart == length) {
            Floats.load(y.memory(), DType.FLOAT32, at, 1, values, 0, lines * length);
            return;
        }
        for (int line = 0; line < lines; line++) {
            Floats.load(y.memory(), DType.FLOAT32, at + line * apart * Float.BYTES, within, values, line * length,
                    length);
        }
    }

    /**
     * Adds the rows of a matrix, each times a number of x.
     *
     * @param values
     *            the matrix, row after row, and x
     * @param xAt
     *            where x begins
     * @param k
     *            the rows
     * @param n
     *            the columns
     * @param sums
     *            takes the result
     */
    public static void byRows(float[] values, int xAt, int k, int n, float[] sums) {
        int j = 0;
        if (n < FEWEST_VECTORISED) {
            for (; j + ROWS <= n; j += ROWS) {
                fourColumns(values, xAt, k, n, j, sums);
            }
        }
        if (j < n) {
            rows(values, xAt, k, n, j, sums);
        }
    }

    /** Short rows are not vectorised: the sums of four columns stay in registers. */
    private static void fourColumns(float[] values, int xAt, int k, int n, int j, float[] sums) {
        float s = 0;
        float t = 0;
        float u = 0;
        float v = 0;
        int p = 0;
        int at = j;
        for (; p + ROWS <= k; p += ROWS) {
            float a = values[xAt + p];
            float b = values[xAt + p + 1];
            float c = values[xAt + p + 2];
            float d = values[xAt + p + 3];
            int second = at + n;
            int third = second + n;
            int fourth = third + n;
            s += (a * values[at] + b * values[second]) + (c * values[third] + d * values[fourth]);
            t += (a * values[at + 1] + b * values[second + 1]) + (c * values[third + 1] + d * values[fourth + 1]);
            u += (a * values[at + 2] + b * values[second + 2]) + (c * values[third + 2] + d * values[fourth + 2]);
            v += (a * values[at + 3] + b * values[second + 3]) + (c * values[third + 3] + d * values[fourth + 3]);
            at = fourth + n;
        }
        for (; p < k; p++) {
            float a = values[xAt + p];
            s += a * values[at];
            t += a * values[at + 1];
            u += a * values[at + 2];
            v += a * values[at + 3];
            at += n;
        }
        sums[j] = s;
        sums[j + 1] = t;
        sums[j + 2] = u;
        sums[j + 3] = v;
    }

    private static void rows(float[] values, int xAt, int k, int n, int from, float[] sums) {
        Arrays.fill(sums, from, n, 0);
        int p = 0;
        for (; p + 2 * ROWS <= k; p += 2 * ROWS) {
            float a = values[xAt + p];
            float b = values[xAt + p + 1];
            float c = values[xAt + p + 2];
            float d = values[xAt + p + 3];
            float e = values[xAt + p + 4];
            float f = values[xAt + p + 5];
            float g = values[xAt + p + 6];
            float h = values[xAt + p + 7];
            int at = p * n;
            int next = at + ROWS * n;
            for (int j = from; j < n; j++) {
                sums[j] = sums[j] + ((a * values[at + j] + b * values[at + n + j])
                        + (c * values[at + 2 * n + j] + d * values[at + 3 * n + j]))
                        + ((e * values[next + j] + f * values[next + n + j])
                                + (g * values[next + 2 * n + j] + h * values[next + 3 * n + j]));
            }
        }
        for (; p + ROWS <= k; p += ROWS) {
            float a = values[xAt + p];
            float b = values[xAt + p + 1];
            float c = values[xAt + p + 2];
            float d = values[xAt + p + 3];
            int at = p * n;
            for (int j = from; j < n; j++) {
                sums[j] += (a * values[at + j] + b * values[at + n + j])
                        + (c * values[at + 2 * n + j] + d * values[at + 3 * n + j]);
            }
        }
        for (; p < k; p++) {
            float a = values[xAt + p];
            int at = p * n;
            for (int j = from; j < n; j++) {
                sums[j] += a * values[at + j];
            }
        }
    }

    /**
     * Multiplies x by a matrix whose columns lie one after the other: four at a time, each summed in the order of
     * {@link #byRows}.
     *
     * @param values
     *            the matrix, column after column, and x
     * @param xAt
     *            where x begins
     * @param k
     *            the rows
     * @param n
     *            the columns
     * @param sums
     *            takes the result
     */
    public static void byColumns(float[] values, int xAt, int k, int n, float[] sums) {
        int j = 0;
        for (; j + ROWS <= n; j += ROWS) {
            int at = j * k;
            float s = 0;
            float t = 0;
            float u = 0;
            float v = 0;
            int p = 0;
            for (; p + ROWS <= k; p += ROWS) {
                float a = values[xAt + p];
                float b = values[xAt + p + 1];
                float c = values[xAt + p + 2];
                float d = values[xAt + p + 3];
                s += four(values, at + p, a, b, c, d);
                t += four(values, at + k + p, a, b, c, d);
                u += four(values, at + 2 * k + p, a, b, c, d);
                v += four(values, at + 3 * k + p, a, b, c, d);
            }
            for (; p < k; p++) {
                float a = values[xAt + p];
                s += a * values[at + p];
                t += a * values[at + k + p];
                u += a * values[at + 2 * k + p];
                v += a * values[at + 3 * k + p];
            }
            sums[j] = s;
            sums[j + 1] = t;
            sums[j + 2] = u;
            sums[j + 3] = v;
        }
        for (; j < n; j++) {
            int at = j * k;
            float s = 0;
            int p = 0;
            for (; p + ROWS <= k; p += ROWS) {
                s += four(values, at + p, values[xAt + p], values[xAt + p + 1], values[xAt + p + 2],
                        values[xAt + p + 3]);
            }
            for (; p < k; p++) {
                s += values[xAt + p] * values[at + p];
            }
            sums[j] = s;
        }
    }

    private static float four(float[] values, int at, float a, float b, float c, float d) {
        return (a * values[at] + b * values[at + 1]) + (c * values[at + 2] + d * values[at + 3]);
    }

    @Override
    public String provider() {
        return JavaKernels.PROVIDER;
    }

    @Override
    public long bytes() {
        return after.stream().mapToLong(each -> each.kernel().bytes()).sum();
    }

    @Override
    public void release() {
        after.forEach(each -> each.kernel().release());
    }

    @Override
    public void close() {
        after.forEach(each -> each.kernel().close());
    }
}
