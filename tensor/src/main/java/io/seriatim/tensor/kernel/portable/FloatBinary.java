package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sums, differences, products, quotients and extremes of float32, the most frequent operations: with little code around
 * the loops, since many tensors have few elements. Short rows are computed directly from memory to memory.
 */
final class FloatBinary extends PortableKernel {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int SHORT = 8;

    private final Binary.Function function;
    private final LoopNest nest;
    private final long rows;
    private final long length;
    private final long xStride;
    private final long yStride;
    private final long outStride;
    private final boolean dense;

    private FloatBinary(Binary.Function function, LoopNest nest) {
        this.function = function;
        this.nest = nest;
        rows = nest.rows();
        length = nest.rowLength();
        xStride = nest.rowStride(0);
        yStride = nest.rowStride(1);
        outStride = nest.rowStride(2);
        dense = rows == 1 && length > SHORT && length <= KernelContext.TILE && xStride == 1 && yStride == 1
                && outStride == 1;
    }

    /** Null for other functions, other types and post-ops. */
    static @Nullable FloatBinary of(Binary binary, TensorSpec x, TensorSpec y, TensorSpec out) {
        boolean common = switch (binary.function()) {
            case ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM -> true;
            default -> false;
        };
        boolean floats = x.dtype() == DType.FLOAT32 && y.dtype() == DType.FLOAT32 && out.dtype() == DType.FLOAT32;
        return common && floats && binary.postOps().isEmpty()
                ? new FloatBinary(binary.function(), LoopNest.of(out.shape(), Tensor.broadcastStrides(x, out.shape()),
                        Tensor.broadcastStrides(y, out.shape()), out.strides()))
                : null;
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
        MemorySegment left = x.memory();
        MemorySegment right = y.memory();
        MemorySegment result = out.memory();
        for (long row = 0; row < rows; row++) {
            long xAt = x.offset() + nest.offset(0, row) * Float.BYTES;
            long yAt = y.offset() + nest.offset(1, row) * Float.BYTES;
            long outAt = out.offset() + nest.offset(2, row) * Float.BYTES;
            if (length <= SHORT) {
                direct(left, xAt, right, yAt, result, outAt);
            } else {
                byTiles(left, xAt, right, yAt, result, outAt, context);
            }
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

    private void byTiles(MemorySegment x, long xAt, MemorySegment y, long yAt, MemorySegment out, long outAt,
            KernelContext context) {
        float[] left = context.floats(0);
        float[] right = context.floats(1);
        float[] result = context.floats(2);
        for (long i = 0; i < length; i += KernelContext.TILE) {
            int count = (int) Math.min(KernelContext.TILE, length - i);
            Floats.load(x, DType.FLOAT32, xAt + i * xStride * Float.BYTES, xStride, left, 0, count);
            Floats.load(y, DType.FLOAT32, yAt + i * yStride * Float.BYTES, yStride, right, 0, count);
            FloatLoops.binary(function, left, right, result, count);
            Floats.store(out, DType.FLOAT32, outAt + i * outStride * Float.BYTES, outStride, result, 0, count);
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
                default -> Math.min(left, right);
            });
        }
    }
}
