package io.seriatim.tensor.kernel.portable.row;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.Softmax;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.RowProducts;
import io.seriatim.tensor.kernel.portable.RowSoftmax;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Attention of one position over keys and values of any length, as a decoder computes it in each step over a cache that
 * has grown by a position. The row of scores stays in an array from the product with the keys to that with the values,
 * and keys are read as they lie. Nothing is prepared for a length. The bits are those that the kernels of the single
 * operations give; sizes for which these are a library's are left to them. Of one thread at a time.
 */
public final class RowAttention {
    private long[] dims = {};
    private int rows;
    private int length;
    private float[] scores = {};
    private float[] more = {};

    /** Makes one that has computed nothing. */
    public RowAttention() {
    }

    /**
     * Begins with the products of rows and keys.
     *
     * @param x
     *            float32 [..., 1, k]
     * @param keys
     *            float32 [..., n, k] with the same leading dimensions
     * @param isTransposed
     *            whether the keys are [..., k, n] instead
     * @param context
     *            that of the calling thread
     * @return false if nothing was computed, since the operands are of other types or shapes
     */
    public boolean begin(Tensor x, Tensor keys, boolean isTransposed, KernelContext context) {
        int rank = x.shape().rank();
        if (!isRows(x) || x.shape().dim(-2) != 1 || !isRows(keys) || keys.shape().rank() != rank
                || !sameBatch(x.shape(), keys.shape())) {
            return false;
        }
        long k = x.shape().dim(-1);
        long n = keys.shape().dim(isTransposed ? -1 : -2);
        long batch = x.shape().size() / Math.max(1, k);
        if (keys.shape().dim(isTransposed ? -2 : -1) != k || k * n == 0 || batch == 0
                || keys.shape().size() > MatMul.FEW || n > KernelContext.TILE || batch * n > Softmax.FEW) {
            return false;
        }
        dims = x.shape().dims();
        dims[rank - 1] = n;
        rows = (int) batch;
        length = (int) n;
        scores = room(scores, rows * length);
        more = room(more, length);
        int size = (int) (k * n);
        float[] values = array(size + (int) k, context);
        for (int row = 0; row < rows; row++) {
            Floats.load(x.memory(), DType.FLOAT32, at(x, row * k), 1, values, size, (int) k);
            Floats.load(keys.memory(), DType.FLOAT32, at(keys, row * k * n), 1, values, 0, size);
            if (isTransposed) {
                RowProducts.byRows(values, size, (int) k, length, more);
            } else {
                RowProducts.byColumns(values, size, (int) k, length, more);
            }
            System.arraycopy(more, 0, scores, row * length, length);
        }
        return true;
    }

    /**
     * Combines each score with another number.
     *
     * @param function
     *            sum, difference, product or quotient
     * @param y
     *            float32, with one number or as many as a row has in its last dimension; broadcasts to the scores
     * @return false if nothing was computed, since the operand is of another type or shape
     */
    public boolean combine(Binary.Function function, Tensor y) {
        int rank = y.shape().rank();
        if (y.dtype() != DType.FLOAT32 || !y.place().isHost() || !y.spec().isRowMajor() || rank > dims.length
                || !isArithmetic(function)) {
            return false;
        }
        long each = rank == 0 ? 1 : y.shape().dim(-1);
        if (each != 1 && each != length) {
            return false;
        }
        long own = y.shape().size() / each;
        for (int axis = 0; axis < rank - 1; axis++) {
            if (y.shape().dim(axis) != (own == 1 ? 1 : dims[dims.length - rank + axis])) {
                return false;
            }
        }
        for (int row = 0; row < rows; row++) {
            Floats.load(y.memory(), DType.FLOAT32, at(y, row % own * each), 1, more, 0, (int) each);
            if (each == 1) {
                Arrays.fill(more, 0, length, more[0]);
            }
            combine(function, row * length);
        }
        return true;
    }

    /**
     * Whether {@link #combine} knows a function.
     *
     * @param function
     *            any
     * @return whether it is a sum, difference, product or quotient
     */
    public static boolean isArithmetic(Binary.Function function) {
        return switch (function) {
            case ADD, SUBTRACT, MULTIPLY, DIVIDE -> true;
            default -> false;
        };
    }

    private void combine(Binary.Function function, int from) {
        switch (function) {
            case ADD -> {
                for (int i = 0; i < length; i++) {
                    scores[from + i] += more[i];
                }
            }
            case SUBTRACT -> {
                for (int i = 0; i < length; i++) {
                    scores[from + i] -= more[i];
                }
            }
            case MULTIPLY -> {
                for (int i = 0; i < length; i++) {
                    scores[from + i] *= more[i];
                }
            }
            case DIVIDE -> {
                for (int i = 0; i < length; i++) {
                    scores[from + i] /= more[i];
                }
            }
            default -> throw new IllegalStateException("No arithmetic: " + function);
        }
    }

    /**
     * Replaces each row by its softmax.
     *
     * @param context
     *            that of the calling thread
     */
    public void softmax(KernelContext context) {
        RowSoftmax.run(scores, rows, length, context);
    }

    /**
     * The type of the products of rows with values.
     *
     * @param values
     *            float32 [..., n, m] with the leading dimensions and length of the scores
     * @return float32 [..., 1, m]; null if the values are of another type or shape
     */
    public @Nullable TensorSpec result(Tensor values) {
        int rank = dims.length;
        if (!isRows(values) || values.shape().rank() != rank || values.shape().dim(-2) != length
                || !sameBatch(Shape.of(dims), values.shape())
                || values.shape().size() > MatMul.FEW || values.shape().dim(-1) > KernelContext.TILE) {
            return null;
        }
        long[] all = dims.clone();
        all[rank - 1] = values.shape().dim(-1);
        return TensorSpec.of(DType.FLOAT32, all);
    }

    /**
     * Multiplies the rows by values.
     *
     * @param values
     *            values for which {@link #result} has given a type
     * @param out
     *            a tensor of this type
     * @param context
     *            that of the calling thread
     */
    public void end(Tensor values, Tensor out, KernelContext context) {
        int m = (int) values.shape().dim(-1);
        int size = length * m;
        float[] all = array(size + length, context);
        more = room(more, m);
        for (int row = 0; row < rows; row++) {
            Floats.load(values.memory(), DType.FLOAT32, at(values, (long) row * size), 1, all, 0, size);
            System.arraycopy(scores, row * length, all, size, length);
            RowProducts.byRows(all, size, length, m, more);
            Floats.store(out.memory(), DType.FLOAT32, at(out, (long) row * m), 1, more, 0, m);
        }
    }

    /**
     * The type of the scores.
     *
     * @return float32 [..., 1, n]
     */
    public TensorSpec spec() {
        return TensorSpec.of(DType.FLOAT32, dims);
    }

    /**
     * Stores the scores.
     *
     * @param out
     *            a new tensor of the type {@link #spec}
     */
    public void store(Tensor out) {
        Floats.store(out.memory(), DType.FLOAT32, out.offset(), 1, scores, 0, rows * length);
    }

    private static long at(Tensor tensor, long element) {
        return tensor.offset() + element * Float.BYTES;
    }

    /** Returns an array that is longer than it needs to be, since the next length is mostly larger by one. */
    private static float[] array(int size, KernelContext context) {
        return context.floatArray(Integer.highestOneBit(size) << 1);
    }

    private static float[] room(float[] array, int size) {
        return array.length >= size ? array : new float[Math.max(size, 2 * array.length)];
    }

    private static boolean isRows(Tensor tensor) {
        return tensor.dtype() == DType.FLOAT32 && tensor.place().isHost() && tensor.shape().rank() >= 2
                && tensor.spec().isRowMajor();
    }

    private static boolean sameBatch(Shape one, Shape other) {
        for (int axis = 0; axis < one.rank() - 2; axis++) {
            if (one.dim(axis) != other.dim(axis)) {
                return false;
            }
        }
        return true;
    }
}
