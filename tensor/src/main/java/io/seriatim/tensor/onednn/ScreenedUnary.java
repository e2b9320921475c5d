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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A function for which the library is only right for ordinary numbers: the input is looked through block by block, while it comes into the cache anyway, and a block with a value that is not is computed
 * in Java. NaN and infinities show in the sum of a block, which the library computes without having to be warmed up; denormals only in the bits.
 */
final class ScreenedUnary implements Kernel {
    private static final int BLOCK = 1 << 15;
    private static final int MAGNITUDE = 0x7fffffff;
    private static final int LEAST_NORMAL = 0x00800000;

    private final Unary unary;
    private final long size;
    private final List<Stretch> stretches;

    /** The kernels of one length: the function, and the sum of its input. */
    private record Stretch(int length, DnnlKernel function, DnnlKernel sum) {
    }

    private ScreenedUnary(Unary unary, long size, List<Stretch> stretches) {
        this.unary = unary;
        this.size = size;
        this.stretches = stretches;
    }

    /** Null where the library has nothing, and for logarithms of 16 bits, whose denormals are not looked for. */
    static @Nullable Kernel of(Unary unary, TensorSpec x, LongFunction<@Nullable DnnlKernel> function,
            LongFunction<@Nullable DnnlKernel> sum) {
        long size = x.shape().size();
        if (unary.function() == Unary.Function.LOG && x.dtype() != DType.FLOAT32) {
            return null;
        }
        List<Stretch> stretches = new ArrayList<>();
        for (long length : new long[]{size >= BLOCK ? BLOCK : 0, size % BLOCK}) {
            if (length > 0) {
                DnnlKernel applied = function.apply(length);
                DnnlKernel added = sum.apply(length);
                if (applied == null || added == null) {
                    return null;
                }
                stretches.add(new Stretch((int) length, applied, added));
            }
        }
        return new ScreenedUnary(unary, size, List.copyOf(stretches));
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        Tensor x = Objects.requireNonNull(arguments[0]);
        Tensor y = Objects.requireNonNull(arguments[1]);
        for (long at = 0; at < size; at += BLOCK) {
            Stretch stretch = size - at >= BLOCK ? stretches.getFirst() : stretches.getLast();
            long shift = at * x.dtype().bytes();
            if (isOrdinary(stretch, arguments, shift, context)) {
                stretch.function().run(arguments, shift, context);
            } else {
                plain(x, y, shift, stretch.length(), context);
            }
        }
    }

    private boolean isOrdinary(Stretch stretch, @Nullable Tensor[] arguments, long shift, KernelContext context) {
        if (!ScreenedKernel.isFinite(stretch.sum(), arguments, shift, context)) {
            return false;
        }
        Tensor x = Objects.requireNonNull(arguments[0]);
        return unary.function() != Unary.Function.LOG || !hasDenormals(x.memory(), x.offset() + shift, stretch.length(), context.ints(0));
    }

    private static boolean hasDenormals(MemorySegment memory, long at, int count, int[] tile) {
        for (int i = 0; i < count; i += tile.length) {
            int length = Math.min(tile.length, count - i);
            MemorySegment.copy(memory, ValueLayout.JAVA_INT_UNALIGNED, at + (long) i * Float.BYTES, tile, 0, length);
            int odd = 0;
            for (int j = 0; j < length; j++) {
                int magnitude = tile[j] & MAGNITUDE;
                // The sign bit is set for what is below the least normal number and above zero.
                odd |= (magnitude - LEAST_NORMAL) & -magnitude;
            }
            if (odd < 0) {
                return true;
            }
        }
        return false;
    }

    private void plain(Tensor x, Tensor y, long shift, int count, KernelContext context) {
        float[] from = context.floats(0);
        float[] to = context.floats(1);
        for (int i = 0; i < count; i += from.length) {
            int length = Math.min(from.length, count - i);
            long at = shift + (long) i * x.dtype().bytes();
            Floats.load(x.memory(), x.dtype(), x.offset() + at, 1, from, 0, length);
            FloatLoops.unary(unary.function(), unary.alpha(), unary.beta(), from, to, length);
            Floats.store(y.memory(), y.dtype(), y.offset() + at, 1, to, 0, length);
        }
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public void load() {
        for (Stretch stretch : stretches) {
            stretch.function().load();
            stretch.sum().load();
        }
    }

    @Override
    public void close() {
        for (Stretch stretch : stretches) {
            stretch.function().close();
            stretch.sum().close();
        }
    }
}
