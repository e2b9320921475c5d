package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.FloatLoops;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sums, differences, products, quotients and extremes of float32, the most frequent operations: with little code around
 * the loops, since many tensors have few elements. A few short rows are computed directly from memory to memory.
 */
final class FloatBinary extends PortableKernel {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int SHORT = 8;
    private static final int FEW = 128;

    private final Binary.Function function;
    private final LoopNest nest;
    private final long rows;
    private final long length;
    private final long xStride;
    private final long yStride;
    private final long outStride;
    private final boolean dense;
    private final boolean few;
    private final Tiles tiles;

    private FloatBinary(Binary.Function function, LoopNest nest, Tiles tiles) {
        this.function = function;
        this.nest = nest;
        this.tiles = tiles;
        rows = nest.rows();
        length = nest.rowLength();
        xStride = nest.rowStride(0);
        yStride = nest.rowStride(1);
        outStride = nest.rowStride(2);
        dense = rows == 1 && length > SHORT && length <= KernelContext.TILE && xStride == 1 && yStride == 1
                && outStride == 1;
        few = length <= SHORT && rows * length <= FEW;
    }

    /** Null for other functions, other types and post-ops. */
    static @Nullable FloatBinary of(Binary binary, TensorSpec x, TensorSpec y, TensorSpec out) {
        boolean common = switch (binary.function()) {
            case ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM, PRELU -> true;
            default -> false;
        };
        boolean floats = x.dtype() == DType.FLOAT32 && y.dtype() == DType.FLOAT32 && out.dtype() == DType.FLOAT32;
        if (!common || !floats || !binary.postOps().isEmpty()) {
            return null;
        }
        long[] left = Tensor.broadcastStrides(x, out.shape());
        long[] right = Tensor.broadcastStrides(y, out.shape());
        return new FloatBinary(binary.function(), LoopNest.of(out.shape(), left, right, out.strides()),
                Tiles.of(out.shape(), 2, KernelContext.TILE, left, right, out.strides()));
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        Tensor out = Objects.requireNonNull(arguments[2]);
        if (dense) {
            dense(x, y, out, context);
            return;
        }
        if (!few) {
            byTiles(x, y, out, context);
            return;
        }
        MemorySegment left = x.memory();
        MemorySegment right = y.memory();
        MemorySegment result = out.memory();
        for (long row = 0; row < rows; row++) {
            long xAt = x.offset() + nest.offset(0, row) * Float.BYTES;
            long yAt = y.offset() + nest.offset(1, row) * Float.BYTES;
            long outAt = out.offset() + nest.offset(2, row) * Float.BYTES;
            direct(left, xAt, right, yAt, result, outAt);
        }
    }

    /** All operands dense, in one tile. */
    private void dense(Tensor x, Tensor y, Tensor out, KernelContext context) {
        int count = (int) length;
        float[] left = context.floats(0);
        float[] right = context.floats(1);
        float[] result = context.floats(2);
        MemorySegment.copy(x.memory(), FLOAT, x.offset(), left, 0, count);
        MemorySegment.copy(y.memory(), FLOAT, y.offset(), right, 0, count);
        FloatLoops.binary(function, left, right, result, count);
        MemorySegment.copy(result, 0, out.memory(), FLOAT, out.offset(), count);
    }

    private void byTiles(Tensor x, Tensor y, Tensor out, KernelContext context) {
        float[] left = context.floats(0);
        float[] right = context.floats(1);
        float[] result = context.floats(2);
        long leftLoaded = -1;
        long rightLoaded = -1;
        int before = -1;
        for (long tile = 0; tile < tiles.count(); tile++) {
            int count = tiles.size(tile);
            long leftAt = tiles.offset(0, tile);
            long rightAt = tiles.offset(1, tile);
            // A repeated operand's tile is still there. Tiles of one offset and size have the same rows and columns.
            if (leftAt != leftLoaded || count != before) {
                tiles.load(0, x, DType.FLOAT32, tile, left, context);
            }
            if (rightAt != rightLoaded || count != before) {
                tiles.load(1, y, DType.FLOAT32, tile, right, context);
            }
            leftLoaded = leftAt;
            rightLoaded = rightAt;
            before = count;
            FloatLoops.binary(function, left, right, result, count);
            tiles.store(2, out, DType.FLOAT32, tile, result, context);
        }
    }

    private void direct(MemorySegment x, long xAt, MemorySegment y, long yAt, MemorySegment out, long outAt) {
        for (int i = 0; i < length; i++) {
            float left = x.get(FLOAT, xAt + i * xStride * Float.BYTES);
            float right = y.get(FLOAT, yAt + i * yStride * Float.BYTES);
            out.set(FLOAT, outAt + i * outStride * Float.BYTES, switch (function) {
                case ADD -> left + right;
                case SUBTRACT -> left - right;
                case MULTIPLY -> left * right;
                case DIVIDE -> left / right;
                case MAXIMUM -> Math.max(left, right);
                case PRELU -> Math.max(left, -0f) + Math.min(left, 0) * right;
                default -> Math.min(left, right);
            });
        }
    }
}
