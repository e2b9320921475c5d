package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * An operand of a matrix product, or its result, as it is described to the library: [batches…, rows, columns].
 *
 * @param dims
 *            at least two
 * @param strides
 *            in elements
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record MatrixView(long[] dims, long[] strides, DType dtype) {
    /**
     * Gives a single row or column the stride of contiguous elements. In a view it has any stride, but the library
     * orders dimensions by their strides.
     */
    MatrixView stepped() {
        int last = dims.length - 1;
        long[] steps = strides.clone();
        if (dims[last] == 1) {
            steps[last] = 1;
        }
        if (dims[last - 1] == 1) {
            steps[last - 1] = steps[last] * dims[last];
        }
        return new MatrixView(dims, steps, dtype);
    }

    /** A view of all dimensions but the last as rows, if {@link #hasRows}. */
    MatrixView rows() {
        int last = dims.length - 1;
        int inner = innermostRow();
        long rows = Arrays.stream(dims, 0, last).reduce(1, Math::multiplyExact);
        return new MatrixView(new long[]{rows, dims[last]}, new long[]{strides[inner], strides[last]}, dtype);
    }

    /**
     * Whether all dimensions but the last are contiguous. The stride of a dimension of length 1 is ignored: a view has
     * any.
     */
    boolean hasRows() {
        int inner = innermostRow();
        long next = strides[inner] * dims[inner];
        for (int i = inner - 1; i >= 0; i--) {
            if (dims[i] != 1) {
                if (strides[i] != next) {
                    return false;
                }
                next *= dims[i];
            }
        }
        return true;
    }

    /**
     * Whether there are two batch dimensions with one of the matrix between them and no gaps, as in attention: the
     * library has a named format for that.
     */
    boolean hasRowsBetweenBatches() {
        if (dims.length != 4) {
            return false;
        }
        boolean named = isNested(0, 2, 1, 3) || isNested(0, 3, 1, 2);
        return named && Arrays.stream(dims).allMatch(dim -> dim > 1);
    }

    /** Whether the elements are contiguous if the dimensions are in a given order. */
    private boolean isNested(int... order) {
        long next = 1;
        for (int i = order.length - 1; i >= 0; i--) {
            if (dims[order[i]] != 1 && strides[order[i]] != next) {
                return false;
            }
            next *= dims[order[i]];
        }
        return true;
    }

    /** The innermost dimension before the last that is longer than 1. */
    private int innermostRow() {
        int inner = dims.length - 2;
        while (inner > 0 && dims[inner] == 1) {
            inner--;
        }
        return inner;
    }

    /** A tensor as a matrix with so many dimensions; a vector is a row on the left, a column on the right. */
    static MatrixView of(TensorSpec spec, int rank, boolean transposed, boolean isLeft) {
        long[] own = spec.shape().dims();
        long[] ownStrides = spec.strides();
        if (own.length == 1) {
            own = isLeft ? new long[]{1, own[0]} : new long[]{own[0], 1};
            ownStrides = isLeft ? new long[]{ownStrides[0] * own[1], ownStrides[0]} : new long[]{ownStrides[0], 1};
        }
        long[] dims = new long[rank];
        long[] strides = new long[rank];
        int added = rank - own.length;
        for (int i = rank - 1; i >= 0; i--) {
            dims[i] = i < added ? 1 : own[i - added];
            strides[i] = i < added ? Math.max(1, strides[i + 1] * dims[i + 1]) : ownStrides[i - added];
        }
        if (transposed) {
            swap(dims, rank);
            swap(strides, rank);
        }
        return new MatrixView(dims, strides, spec.dtype());
    }

    private static void swap(long[] values, int rank) {
        long last = values[rank - 1];
        values[rank - 1] = values[rank - 2];
        values[rank - 2] = last;
    }

    /** Whether the elements are contiguous in the order of the dimensions. */
    boolean isDense() {
        return isNested(IntStream.range(0, dims.length).toArray());
    }

    /**
     * Whether the library (oneDNN 3.11) takes batches for contiguous that are not, and reads or writes beyond memory:
     * it does if the ratio of their largest and smallest strides is the number of batches, which may be a coincidence.
     */
    boolean isMisread(long batches) {
        int count = dims.length - 2;
        if (count < 2 || hasRowsBetweenBatches()) {
            return false;
        }
        long[] steps = SequenceBuilder.outermost(dims, strides);
        long widest = Arrays.stream(steps, 0, count).max().orElseThrow();
        long narrowest = Arrays.stream(steps, 0, count).min().orElseThrow();
        return narrowest == 0 || widest / narrowest == batches;
    }
}
