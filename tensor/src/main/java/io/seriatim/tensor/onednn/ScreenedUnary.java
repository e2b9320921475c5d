package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.internal.Floats;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Unary;
import io.seriatim.tensor.kernel.portable.FloatLoops;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A function for which the library is only right for ordinary numbers: the input is looked through block by block, while it comes into the cache anyway, and a block with a NaN, an infinity or a
 * denormal is computed in Java.
 */
final class ScreenedUnary implements Kernel {
    private static final int BLOCK = 1 << 15;
    private static final int EXPONENT = 0x7f800000;
    private static final int MAGNITUDE = 0x7fffffff;
    private static final int LEAST_NORMAL = 0x00800000;

    private final Unary unary;
    private final long size;
    private final @Nullable DnnlKernel blocks;
    private final @Nullable DnnlKernel rest;

    private ScreenedUnary(Unary unary, long size, @Nullable DnnlKernel blocks, @Nullable DnnlKernel rest) {
        this.unary = unary;
        this.size = size;
        this.blocks = blocks;
        this.rest = rest;
    }

    /** Only for float32; null for other types and where the library has nothing. */
    static @Nullable Kernel of(Unary unary, TensorSpec x, LongFunction<@Nullable DnnlKernel> ofSize) {
        long size = x.shape().size();
        if (x.dtype() != DType.FLOAT32) {
            return null;
        }
        DnnlKernel blocks = size >= BLOCK ? ofSize.apply(BLOCK) : null;
        DnnlKernel rest = size % BLOCK != 0 ? ofSize.apply(size % BLOCK) : null;
        return blocks == null && rest == null ? null : new ScreenedUnary(unary, size, blocks, rest);
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        MemorySegment input = x.memory();
        for (long at = 0; at < size; at += BLOCK) {
            int count = (int) Math.min(BLOCK, size - at);
            long shift = at * Float.BYTES;
            if (isOrdinary(input, x.offset() + shift, count, context.ints())) {
                Objects.requireNonNull(count == BLOCK ? blocks : rest).run(arguments, shift, context);
            } else {
                plain(x, y, shift, count, context);
            }
        }
    }

    private static boolean isOrdinary(MemorySegment memory, long at, int count, int[] tile) {
        for (int i = 0; i < count; i += tile.length) {
            int length = Math.min(tile.length, count - i);
            MemorySegment.copy(memory, ValueLayout.JAVA_INT_UNALIGNED, at + (long) i * Float.BYTES, tile, 0, length);
            int odd = 0;
            for (int j = 0; j < length; j++) {
                int magnitude = tile[j] & MAGNITUDE;
                // The sign bit of either difference is set for an infinity or NaN, or for a denormal; a zero is one less than the least denormal.
                odd |= (EXPONENT - 1 - magnitude) | ((magnitude - LEAST_NORMAL) & -magnitude);
            }
            if (odd < 0) {
                return false;
            }
        }
        return true;
    }

    private void plain(Tensor x, Tensor y, long shift, int count, KernelContext context) {
        float[] from = context.floats(0);
        float[] to = context.floats(1);
        for (int i = 0; i < count; i += from.length) {
            int length = Math.min(from.length, count - i);
            long at = shift + (long) i * Float.BYTES;
            Floats.load(x.memory(), DType.FLOAT32, x.offset() + at, 1, from, 0, length);
            FloatLoops.unary(unary.function(), unary.alpha(), unary.beta(), from, to, length);
            Floats.store(y.memory(), DType.FLOAT32, y.offset() + at, 1, to, 0, length);
        }
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public void close() {
        if (blocks != null) {
            blocks.close();
        }
        if (rest != null) {
            rest.close();
        }
    }
}
