package io.seriatim.tensor.kernel.portable.view;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

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
    /** Shorter rows are not worth a look at whether they have one index. */
    private static final int LEAST_ROW = 16;
    /** Of a sum that is held in an array: a quarter of a MiB. */
    private static final int MOST_OF_SUM = 1 << 16;
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
        if (Arrays.equals(indices, Shape.of(dims).strides())) {
            long size = Shape.of(dims).size();
            long[] tile = context.longs(7);
            for (long first = 0; first < size; first += tile.length) {
                int count = (int) Math.min(tile.length, size - first);
                Longs.load(index.memory(), index.dtype(), index.offset() + first * index.dtype().bytes(), 1, tile, 0,
                        count);
                check(tile, count, first);
            }
            return;
        }
        long[] before = new long[1];
        forEachPiece(index, context, (tile, count, _, _, _) -> {
            check(tile, count, before[0]);
            before[0] += count;
        });
    }

    /** The sign of all together is that of a wrong one, if there is any. */
    private void check(long[] tile, int count, long before) {
        long signs = 0;
        for (int i = 0; i < count; i++) {
            signs |= tile[i] | (length - 1 - tile[i]);
        }
        for (int i = 0; i < count && signs < 0; i++) {
            if (tile[i] < 0 || tile[i] >= length) {
                throw new IndexRangeException(operation + ": index number " + (before + i) + " must be from 0 to "
                        + (length - 1) + ", but is " + tile[i]);
            }
        }
    }

    /** Copies the elements that the indices name to those beside them. */
    public void take(Tensor from, Tensor index, Tensor to, KernelContext context) {
        MemorySegment source = from.memory();
        MemorySegment target = to.memory();
        long bytes = from.dtype().bytes();
        long along = named[axis];
        long next = beside[dims.length - 1];
        forEachPiece(index, context, (tile, count, namedAt, step, besideAt) -> {
            if (step == 1 && next == 1 && isOneIndex(tile, count)) {
                MemorySegment.copy(source, from.offset() + (namedAt + tile[0] * along) * bytes, target,
                        to.offset() + besideAt * bytes, count * bytes);
                return;
            }
            Elements elements = new Elements(source, from.offset() + namedAt * bytes, step * bytes, along * bytes,
                    target, to.offset() + besideAt * bytes, next * bytes, 0);
            elements.copy(tile, count, bytes);
        });
    }

    /** Whether a row of elements is named by the same index, as by one that is expanded over the row. */
    private static boolean isOneIndex(long[] tile, int count) {
        if (count < LEAST_ROW) {
            return false;
        }
        for (int i = 1; i < count; i++) {
            if (tile[i] != tile[0]) {
                return false;
            }
        }
        return true;
    }

    private static void addRow(MemorySegment from, long at, MemorySegment to, long toAt, int count,
            KernelContext context) {
        float[] sums = context.floats(0);
        float[] added = context.floats(1);
        MemorySegment.copy(to, FLOAT, toAt, sums, 0, count);
        MemorySegment.copy(from, FLOAT, at, added, 0, count);
        for (int i = 0; i < count; i++) {
            sums[i] += added[i];
        }
        MemorySegment.copy(sums, 0, to, FLOAT, toAt, count);
    }

    /**
     * Adds the elements beside the indices to a copy of a dense tensor, in the order of the indices. The sums are in an
     * array until they are complete, which spares loads and stores of short rows.
     *
     * @return false if it does nothing, because the tensors are of another type or too large
     */
    public boolean add(Tensor start, Tensor from, Tensor index, Tensor to, KernelContext context) {
        long size = to.shape().size();
        if (to.dtype() != DType.FLOAT32 || size > MOST_OF_SUM || Shape.of(dims).size() * 4 < size) {
            return false;
        }
        float[] sums = context.floatArray((int) size);
        float[] added = context.floats(1);
        Floats.load(start.memory(), DType.FLOAT32, start.offset(), 1, sums, 0, (int) size);
        int along = (int) named[axis];
        long next = beside[dims.length - 1];
        forEachPiece(index, context, (tile, count, namedAt, step, besideAt) -> {
            Floats.load(from.memory(), DType.FLOAT32, from.offset() + besideAt * Float.BYTES, next, added, 0, count);
            if (step == 1 && isOneIndex(tile, count)) {
                addRow(added, sums, (int) (namedAt + tile[0] * along), count);
            } else {
                addElements(added, sums, tile, count, (int) namedAt, (int) step, along);
            }
        });
        Floats.store(to.memory(), DType.FLOAT32, to.offset(), 1, sums, 0, (int) size);
        return true;
    }

    private static void addRow(float[] added, float[] sums, int at, int count) {
        for (int i = 0; i < count; i++) {
            sums[at + i] += added[i];
        }
    }

    private static void addElements(float[] added, float[] sums, long[] tile, int count, int at, int step, int along) {
        for (int i = 0; i < count; i++) {
            sums[at + i * step + (int) tile[i] * along] += added[i];
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
        boolean sums = add && dtype == DType.FLOAT32;
        forEachPiece(index, context, (tile, count, namedAt, step, besideAt) -> {
            if ((sums || !add) && step == 1 && next == 1 && isOneIndex(tile, count)) {
                long at = from.offset() + besideAt * bytes;
                long toAt = to.offset() + (namedAt + tile[0] * along) * bytes;
                if (sums) {
                    addRow(source, at, target, toAt, count, context);
                } else {
                    MemorySegment.copy(source, at, target, toAt, count * bytes);
                }
                return;
            }
            Elements elements = new Elements(source, from.offset() + besideAt * bytes, next * bytes, 0, target,
                    to.offset() + namedAt * bytes, step * bytes, along * bytes);
            if (add) {
                elements.add(tile, count, dtype);
            } else {
                elements.copy(tile, count, bytes);
            }
        });
    }

    /**
     * Pairs of elements, one for each index of a piece: the bytes where the first ones lie, by how many the next ones
     * are further, and by how many for each unit of the index. The loops of common sizes are apart, so that the JIT
     * takes all else out of them.
     */
    private record Elements(MemorySegment from, long at, long step, long along, MemorySegment to, long toAt,
            long toStep, long toAlong) {
        void copy(long[] tile, int count, long bytes) {
            if (bytes == Integer.BYTES) {
                for (int i = 0; i < count; i++) {
                    to.set(INT, toAt + i * toStep + tile[i] * toAlong, from.get(INT, at + i * step + tile[i] * along));
                }
            } else if (bytes == Long.BYTES) {
                for (int i = 0; i < count; i++) {
                    to.set(LONG, toAt + i * toStep + tile[i] * toAlong,
                            from.get(LONG, at + i * step + tile[i] * along));
                }
            } else {
                for (int i = 0; i < count; i++) {
                    MemorySegment.copy(from, at + i * step + tile[i] * along, to,
                            toAt + i * toStep + tile[i] * toAlong, bytes);
                }
            }
        }

        void add(long[] tile, int count, DType dtype) {
            if (dtype == DType.FLOAT32) {
                for (int i = 0; i < count; i++) {
                    long place = toAt + i * toStep + tile[i] * toAlong;
                    to.set(FLOAT, place, to.get(FLOAT, place) + from.get(FLOAT, at + i * step + tile[i] * along));
                }
            } else if (dtype.arithmetic() == DType.INT64) {
                for (int i = 0; i < count; i++) {
                    long place = toAt + i * toStep + tile[i] * toAlong;
                    Longs.set(to, dtype, place, Longs.get(to, dtype, place)
                            + Longs.get(from, dtype, at + i * step + tile[i] * along));
                }
            } else {
                for (int i = 0; i < count; i++) {
                    long place = toAt + i * toStep + tile[i] * toAlong;
                    Doubles.set(to, dtype, place, Doubles.get(to, dtype, place)
                            + Doubles.get(from, dtype, at + i * step + tile[i] * along));
                }
            }
        }
    }
}
