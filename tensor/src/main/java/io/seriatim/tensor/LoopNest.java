package io.seriatim.tensor;

import java.util.Arrays;

/**
 * The loops over a shape, for operands with different strides. Neighbouring dimensions that are contiguous in all
 * operands are merged into one loop. The innermost loop is a row. Immutable, so that any number of threads may use it.
 */
public final class LoopNest {
    private final long[] outer;
    private final long[][] outerStrides;
    private final long rowLength;
    private final long[] rowStrides;
    private final long rows;

    private LoopNest(long[] dims, long[][] strides, int rank) {
        int loops = Math.max(0, rank - 1);
        outer = Arrays.copyOf(dims, loops);
        outerStrides = new long[strides.length][];
        rowStrides = new long[strides.length];
        for (int k = 0; k < strides.length; k++) {
            outerStrides[k] = Arrays.copyOf(strides[k], loops);
            rowStrides[k] = rank == 0 ? 0 : strides[k][rank - 1];
        }
        rowLength = rank == 0 ? 1 : dims[rank - 1];
        long product = 1;
        for (long dim : outer) {
            product *= dim;
        }
        rows = rowLength == 0 ? 0 : product;
    }

    /**
     * Makes the loops.
     *
     * @param shape
     *            the shape, which is walked in row-major order
     * @param strides
     *            the strides of each operand, one for each dimension, in elements
     * @return the loops
     */
    public static LoopNest of(Shape shape, long[]... strides) {
        long[] dims = new long[shape.rank()];
        long[][] merged = new long[strides.length][shape.rank()];
        int rank = 0;
        for (int i = 0; i < shape.rank(); i++) {
            long dim = shape.dim(i);
            if (dim == 1) {
                continue;
            }
            if (rank > 0 && continues(strides, merged, rank - 1, i, dim)) {
                dims[rank - 1] *= dim;
            } else {
                dims[rank++] = dim;
            }
            for (int k = 0; k < strides.length; k++) {
                merged[k][rank - 1] = strides[k][i];
            }
        }
        return new LoopNest(dims, merged, rank);
    }

    private static boolean continues(long[][] strides, long[][] merged, int last, int axis, long dim) {
        for (int k = 0; k < strides.length; k++) {
            if (merged[k][last] != strides[k][axis] * dim) {
                return false;
            }
        }
        return true;
    }

    /**
     * How often the innermost loop runs.
     *
     * @return 0 if there are no elements
     */
    public long rows() {
        return rows;
    }

    /**
     * The length of the innermost loop.
     *
     * @return in elements
     */
    public long rowLength() {
        return rowLength;
    }

    /**
     * The distance between neighbours in a row.
     *
     * @param operand
     *            the index of the operand
     * @return in elements
     */
    public long rowStride(int operand) {
        return rowStrides[operand];
    }

    /**
     * The offset of a row.
     *
     * @param operand
     *            the index of the operand
     * @param row
     *            from 0
     * @return in elements from the operand's first element
     */
    public long offset(int operand, long row) {
        long[] strides = outerStrides[operand];
        long left = row;
        long offset = 0;
        for (int i = outer.length - 1; i > 0; i--) {
            long next = left / outer[i];
            offset += (left - next * outer[i]) * strides[i];
            left = next;
        }
        return outer.length == 0 ? 0 : offset + left * strides[0];
    }
}
