package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.Unsigned;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Copies, casts and fills. */
final class PortableCopy {
    private static final int BLOCK = 32;
    private static final int FEW = 32;
    /** The most elements of 4 bytes that are arranged in arrays that hold all of them. */
    private static final int GATHERED = 1 << 14;

    private PortableCopy() {
    }

    static Kernel copy(Copy copy, @Nullable TensorSpec[] arguments) {
        TensorSpec from = Objects.requireNonNull(arguments[0]);
        TensorSpec to = Objects.requireNonNull(arguments[1]);
        if (!from.shape().broadcast(to.shape()).equals(to.shape())) {
            throw new IllegalArgumentException("copy: " + from + " does not broadcast to " + to);
        }
        LoopNest nest = LoopNest.of(to.shape(), Tensor.broadcastStrides(from, to.shape()), to.strides());
        if (from.dtype() == to.dtype()) {
            boolean dense = (nest.rowStride(0) == 1 && nest.rowStride(1) == 1) || nest.rowLength() == 1;
            DType bits = bits(from.dtype());
            boolean longRows = dense && nest.rowLength() >= KernelContext.TILE / 4;
            if (bits == null || longRows || (nest.rows() == 1 && dense) || nest.rows() * nest.rowLength() <= FEW) {
                return PortableKernel.of((in, out, _) -> move(nest, in, out, dense));
            }
            int rank = to.shape().rank();
            if (bits.bytes() <= 2 && rank >= 2 && from.shape().equals(to.shape()) && from.strides()[rank - 2] == 1
                    && to.strides()[rank - 1] == 1) {
                return transposed(from, to);
            }
            if (bits == DType.INT32 && nest.rows() * nest.rowLength() <= GATHERED && to.isRowMajor()
                    && span(from, to.shape()) <= GATHERED) {
                return gathered(from, to);
            }
            Tiles tiles = Tiles.of(to.shape(), 1, KernelContext.TILE, Tensor.broadcastStrides(from, to.shape()),
                    to.strides());
            return PortableKernel.of((in, out, context) -> move(tiles, bits, in, out, context));
        }
        if (from.dtype().isComplex() && to.dtype().isComplex()) {
            return ComplexParts.of(parts -> copy(copy, parts), from.asReal(), to.asReal());
        }
        // Of a complex number, that is its real part.
        DType arithmetic = from.dtype().real().arithmetic();
        // Going through double loses nothing in a conversion between float32 and int64.
        DType through = arithmetic == DType.FLOAT32 && !to.dtype().isFloating() ? DType.FLOAT64 : arithmetic;
        if ((isByte(from.dtype()) && to.dtype() == DType.FLOAT32)
                || (isByte(to.dtype()) && arithmetic == DType.FLOAT32)) {
            through = DType.FLOAT32;
        }
        if (from.dtype() == DType.UINT64 && to.dtype().isDifferentiable()) {
            through = to.dtype().real().arithmetic();
        }
        return Elementwise.of(through, to, from).kernel(new Elementwise.Tile() {
            @Override
            public void floats(KernelContext context, int count) {
                System.arraycopy(context.floats(0), 0, context.floats(1), 0, count);
            }

            @Override
            public void doubles(KernelContext context, int count) {
                System.arraycopy(context.doubles(0), 0, context.doubles(1), 0, count);
            }

            @Override
            public void longs(KernelContext context, int count) {
                System.arraycopy(context.longs(0), 0, context.longs(1), 0, count);
            }
        });
    }

    private static boolean isByte(DType dtype) {
        return dtype == DType.INT8 || dtype == DType.UINT8;
    }

    private static void move(LoopNest nest, Tensor from, Tensor to, boolean dense) {
        int bytes = from.dtype().bytes();
        MemorySegment source = from.memory();
        MemorySegment target = to.memory();
        for (long row = 0; row < nest.rows(); row++) {
            long read = from.offset() + nest.offset(0, row) * bytes;
            long write = to.offset() + nest.offset(1, row) * bytes;
            if (dense) {
                MemorySegment.copy(source, read, target, write, nest.rowLength() * bytes);
            } else {
                for (long i = 0; i < nest.rowLength(); i++) {
                    element(source, read + i * nest.rowStride(0) * bytes, target, write + i * nest.rowStride(1) * bytes,
                            bytes);
                }
            }
        }
    }

    /** How many elements of memory lie from the first to the last one that is read. */
    private static long span(TensorSpec from, Shape shape) {
        long span = 1;
        long[] strides = Tensor.broadcastStrides(from, shape);
        for (int i = 0; i < strides.length; i++) {
            if (strides[i] < 0) {
                return Long.MAX_VALUE;
            }
            span += strides[i] * (shape.dim(i) - 1);
        }
        return span;
    }

    /** A few elements in another order, such as a small transposition: arranged from array to array. */
    private static Kernel gathered(TensorSpec from, TensorSpec to) {
        int length = (int) span(from, to.shape());
        int count = (int) to.shape().size();
        LoopNest nest = LoopNest.of(to.shape(), Tensor.broadcastStrides(from, to.shape()), to.strides());
        int columns = (int) nest.rowLength();
        int step = (int) nest.rowStride(0);
        int rows = (int) nest.rows();
        return PortableKernel.of((source, target, context) -> {
            float[] values = context.floatArray(length + count);
            Floats.load(source.memory(), DType.FLOAT32, source.offset(), 1, values, 0, length);
            int write = length;
            for (int row = 0; row < rows; row++) {
                int read = (int) nest.offset(0, row);
                for (int i = 0; i < columns; i++) {
                    values[write + i] = values[read + i * step];
                }
                write += columns;
            }
            Floats.store(target.memory(), DType.FLOAT32, target.offset(), 1, values, length, count);
        });
    }

    private static void element(MemorySegment source, long read, MemorySegment target, long write, int bytes) {
        switch (bytes) {
            case 1 -> target.set(ValueLayout.JAVA_BYTE, write, source.get(ValueLayout.JAVA_BYTE, read));
            case 2 ->
                target.set(ValueLayout.JAVA_SHORT_UNALIGNED, write, source.get(ValueLayout.JAVA_SHORT_UNALIGNED, read));
            case 4 ->
                target.set(ValueLayout.JAVA_INT_UNALIGNED, write, source.get(ValueLayout.JAVA_INT_UNALIGNED, read));
            case 8 ->
                target.set(ValueLayout.JAVA_LONG_UNALIGNED, write, source.get(ValueLayout.JAVA_LONG_UNALIGNED, read));
            default -> MemorySegment.copy(source, read, target, write, bytes);
        }
    }

    /** The whole numbers as which elements are moved, since they keep all bits; null for the longest. */
    static @Nullable DType bits(DType dtype) {
        return switch (dtype.bytes()) {
            case 1 -> DType.UINT8;
            case 2 -> DType.INT16;
            case 4 -> DType.INT32;
            case 8 -> DType.INT64;
            default -> null;
        };
    }

    /**
     * Views of other strides, transposed ones, and short or repeated rows. Elements of 4 bytes are moved as floats,
     * which are only copied from array to array, so that no bit of a NaN changes.
     */
    private static void move(Tiles tiles, DType bits, Tensor from, Tensor to, KernelContext context) {
        if (bits == DType.INT32) {
            float[] values = context.floats(0);
            for (long tile = 0; tile < tiles.count(); tile++) {
                tiles.load(0, from, DType.FLOAT32, tile, values, context);
                tiles.store(1, to, DType.FLOAT32, tile, values, context);
            }
            return;
        }
        long[] values = context.longs(0);
        for (long tile = 0; tile < tiles.count(); tile++) {
            tiles.load(0, from, bits, tile, values, context);
            tiles.store(1, to, bits, tile, values, context);
        }
    }

    /**
     * The last two dimensions are exchanged: by blocks, so that the lines of both sides stay in the cache. From memory
     * to memory, which for the shortest elements is faster than through arrays of longer ones.
     */
    private static Kernel transposed(TensorSpec from, TensorSpec to) {
        int rank = to.shape().rank();
        long rows = to.shape().dim(rank - 2);
        long columns = to.shape().dim(rank - 1);
        long[] read = from.strides();
        long[] write = to.strides();
        LoopNest outer = LoopNest.of(to.shape().slice(0, rank - 2), Arrays.copyOf(read, rank - 2),
                Arrays.copyOf(write, rank - 2));
        int bytes = from.dtype().bytes();
        return PortableKernel.of((source, target, _) -> {
            MemorySegment memory = source.memory();
            MemorySegment result = target.memory();
            for (long part = 0; part < outer.rows() * outer.rowLength(); part++) {
                long in = source.offset()
                        + (outer.offset(0, part / outer.rowLength()) + part % outer.rowLength() * outer.rowStride(0))
                                * bytes;
                long out = target.offset()
                        + (outer.offset(1, part / outer.rowLength()) + part % outer.rowLength() * outer.rowStride(1))
                                * bytes;
                for (long i = 0; i < rows; i += BLOCK) {
                    for (long j = 0; j < columns; j += BLOCK) {
                        for (long r = i; r < Math.min(rows, i + BLOCK); r++) {
                            for (long c = j; c < Math.min(columns, j + BLOCK); c++) {
                                element(memory, in + (r * read[rank - 2] + c * read[rank - 1]) * bytes, result,
                                        out + (r * write[rank - 2] + c * write[rank - 1]) * bytes, bytes);
                            }
                        }
                    }
                }
            }
        });
    }

    static Kernel fill(Fill fill, @Nullable TensorSpec[] arguments) {
        TensorSpec out = Objects.requireNonNull(arguments[0]);
        LoopNest nest = LoopNest.of(out.shape(), out.strides());
        // All bits of a positive zero are 0, in each type.
        if (Double.doubleToRawLongBits(fill.value()) == 0 && (nest.rowStride(0) == 1 || nest.rowLength() == 1)) {
            return PortableKernel.of((_, to, _) -> clear(nest, to));
        }
        long whole = out.dtype() == DType.BOOL && fill.value() != 0 ? 1 : whole(out.dtype(), fill.value());
        return PortableKernel.of((_, to, context) -> {
            int tile = (int) Math.min(KernelContext.TILE, nest.rowLength());
            switch (to.dtype().real().arithmetic()) {
                case FLOAT32 -> Arrays.fill(context.floats(0), 0, tile, (float) fill.value());
                case FLOAT64 -> Arrays.fill(context.doubles(0), 0, tile, fill.value());
                default -> Arrays.fill(context.longs(0), 0, tile, whole);
            }
            for (long row = 0; row < nest.rows(); row++) {
                for (long i = 0; i < nest.rowLength(); i += tile) {
                    int count = (int) Math.min(tile, nest.rowLength() - i);
                    store(to, nest.offset(0, row) + i * nest.rowStride(0), nest.rowStride(0), count, context);
                }
            }
        });
    }

    /** A number as a whole one, or as the bits of a uint64. */
    static long whole(DType dtype, double value) {
        return dtype == DType.UINT64 ? Unsigned.fromDouble(value) : (long) value;
    }

    private static void clear(LoopNest nest, Tensor tensor) {
        int bytes = tensor.dtype().bytes();
        for (long row = 0; row < nest.rows(); row++) {
            tensor.memory().asSlice(tensor.offset() + nest.offset(0, row) * bytes, nest.rowLength() * bytes)
                    .fill((byte) 0);
        }
    }

    private static void store(Tensor to, long element, long stride, int count, KernelContext context) {
        long at = to.offset() + element * to.dtype().bytes();
        switch (to.dtype().real().arithmetic()) {
            case FLOAT32 -> Floats.store(to.memory(), to.dtype(), at, stride, context.floats(0), 0, count);
            case FLOAT64 -> Doubles.store(to.memory(), to.dtype(), at, stride, context.doubles(0), 0, count);
            default -> Longs.store(to.memory(), to.dtype(), at, stride, context.longs(0), 0, count);
        }
    }
}
