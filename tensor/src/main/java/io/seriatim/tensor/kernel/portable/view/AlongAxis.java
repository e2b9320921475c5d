package io.seriatim.tensor.kernel.portable.view;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Elements that indices name along an axis of a tensor, one for each index. They are visited row by row of the indices,
 * in pieces of {@link KernelContext#TILE}, so that each costs a few instructions.
 *
 * @param operation
 *            for messages
 * @param axis
 *            along which indices count
 * @param length
 *            of that axis
 * @param dims
 *            of the indices, one or more
 * @param indices
 *            their strides
 * @param named
 *            the strides of the tensor whose elements they name
 * @param beside
 *            the strides of the tensor that has an element for each index
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record AlongAxis(String operation, int axis, long length, long[] dims, long[] indices, long[] named, long[] beside) {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;

    /** Does something with the elements that a piece of a row of indices names. */
    @FunctionalInterface
    private interface Body {
        /**
         * @param tile
         *            the indices of the piece
         * @param count
         *            how many
         * @param namedAt
         *            the number of the element, in memory, that an index of 0 at the first place names
         * @param step
         *            by how many elements that is further at each following place
         * @param besideAt
         *            the number of the element beside the first index, in memory
         */
        void run(long[] tile, int count, long namedAt, long step, long besideAt);
    }

    public static AlongAxis of(String operation, int axis, TensorSpec indices, TensorSpec named, TensorSpec beside) {
        return new AlongAxis(operation, axis, named.shape().dim(axis), indices.shape().dims(), indices.strides(),
                named.strides(), beside.strides());
    }

    private void forEachPiece(Tensor index, KernelContext context, Body body) {
        int last = dims.length - 1;
        long rows = 1;
        for (long dim : dims) {
            rows *= dim;
        }
        rows = dims[last] == 0 ? 0 : rows / dims[last];
        long[] tile = context.longs(7);
        long[] place = new long[dims.length];
        long step = axis == last ? 0 : named[last];
        for (long row = 0; row < rows; row++) {
            long indexAt = 0;
            long namedAt = 0;
            long besideAt = 0;
            for (int d = 0; d < last; d++) {
                indexAt += place[d] * indices[d];
                namedAt += d == axis ? 0 : place[d] * named[d];
                besideAt += place[d] * beside[d];
            }
            for (long j = 0; j < dims[last]; j += tile.length) {
                int count = (int) Math.min(tile.length, dims[last] - j);
                Longs.load(index.memory(), index.dtype(),
                        index.offset() + (indexAt + j * indices[last]) * index.dtype().bytes(), indices[last], tile, 0,
                        count);
                body.run(tile, count, namedAt + j * step, step, besideAt + j * beside[last]);
            }
            for (int d = last - 1; d >= 0 && ++place[d] == dims[d]; d--) {
                place[d] = 0;
            }
        }
    }

    /**
     * Checks all indices, so that a kernel that writes has written nothing if one is wrong.
     *
     * @throws IndexRangeException
     *             if an index names no element
     */
    public void check(Tensor index, KernelContext context) {
        long[] before = new long[1];
        forEachPiece(index, context, (tile, count, _, _, _) -> {
            for (int i = 0; i < count; i++) {
                if (tile[i] < 0 || tile[i] >= length) {
                    throw new IndexRangeException(operation + ": index number " + (before[0] + i)
                            + " must be from 0 to " + (length - 1) + ", but is " + tile[i]);
                }
            }
            before[0] += count;
        });
    }

    /** Copies the elements that the indices name to those beside them. */
    public void take(Tensor from, Tensor index, Tensor to, KernelContext context) {
        MemorySegment source = from.memory();
        MemorySegment target = to.memory();
        long bytes = from.dtype().bytes();
        long along = named[axis];
        long next = beside[dims.length - 1];
        forEachPiece(index, context, (tile, count, namedAt, step, besideAt) -> {
            for (int i = 0; i < count; i++) {
                copy(source, from.offset() + (namedAt + i * step + tile[i] * along) * bytes, target,
                        to.offset() + (besideAt + i * next) * bytes, bytes);
            }
        });
    }

    private static void copy(MemorySegment from, long at, MemorySegment to, long toAt, long bytes) {
        if (bytes == Integer.BYTES) {
            to.set(INT, toAt, from.get(INT, at));
        } else if (bytes == Long.BYTES) {
            to.set(LONG, toAt, from.get(LONG, at));
        } else {
            MemorySegment.copy(from, at, to, toAt, bytes);
        }
    }

    /** Writes, or adds, the elements beside the indices to those that the indices name, in the order of the indices. */
    public void put(Tensor from, Tensor index, Tensor to, boolean add, KernelContext context) {
        MemorySegment source = from.memory();
        MemorySegment target = to.memory();
        long bytes = to.dtype().bytes();
        long along = named[axis];
        long next = beside[dims.length - 1];
        DType dtype = to.dtype();
        forEachPiece(index, context, (tile, count, namedAt, step, besideAt) -> {
            for (int i = 0; i < count; i++) {
                long at = from.offset() + (besideAt + i * next) * bytes;
                long toAt = to.offset() + (namedAt + i * step + tile[i] * along) * bytes;
                if (!add) {
                    copy(source, at, target, toAt, bytes);
                } else if (dtype == DType.FLOAT32) {
                    target.set(FLOAT, toAt, target.get(FLOAT, toAt) + source.get(FLOAT, at));
                } else if (dtype.arithmetic() == DType.INT64) {
                    Longs.set(target, dtype, toAt, Longs.get(target, dtype, toAt) + Longs.get(source, dtype, at));
                } else {
                    Doubles.set(target, dtype, toAt, Doubles.get(target, dtype, toAt)
                            + Doubles.get(source, dtype, at));
                }
            }
        });
    }
}
