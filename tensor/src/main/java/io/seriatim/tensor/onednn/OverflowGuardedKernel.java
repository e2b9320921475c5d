package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs a gradient of the library if no input is so large that the library's intermediate results overflow, else a
 * portable one.
 */
final class OverflowGuardedKernel implements Kernel {
    private static final ValueLayout.OfInt BITS = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int MAGNITUDE = 0x7fffffff;
    /** 2⁴⁰, whose cube is far from overflow. */
    private static final int LARGE = (127 + 40) << 23;

    private final DnnlKernel fast;
    private final Kernel portable;
    private final DType dtype;
    private final long bytes;

    private OverflowGuardedKernel(DnnlKernel fast, Kernel portable, TensorSpec x) {
        this.fast = fast;
        this.portable = portable;
        this.dtype = x.dtype();
        this.bytes = x.bytes();
    }

    /** The unguarded kernel for float16, which has no such large numbers. */
    static @Nullable Kernel of(@Nullable DnnlKernel fast, Kernel portable, TensorSpec x) {
        return fast == null || x.dtype() == DType.FLOAT16 ? fast : new OverflowGuardedKernel(fast, portable, x);
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        boolean large;
        try {
            Tensor x = Objects.requireNonNull(arguments[0]);
            large = hasLarge(x.memory(), x.offset(), context.ints(0));
        } finally {
            Reference.reachabilityFence(arguments);
        }
        (large ? portable : fast).run(arguments, context);
    }

    private boolean hasLarge(MemorySegment memory, long offset, int[] tile) {
        long whole = bytes / Integer.BYTES * Integer.BYTES;
        for (long at = 0; at < whole; at += (long) tile.length * Integer.BYTES) {
            int count = (int) Math.min(tile.length, (whole - at) / Integer.BYTES);
            MemorySegment.copy(memory, BITS, offset + at, tile, 0, count);
            if (dtype == DType.FLOAT32 ? isLarge(tile, count) : isEitherLarge(tile, count)) {
                return true;
            }
        }
        if (whole == bytes) {
            return false;
        }
        tile[0] = memory.get(ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), offset + whole) << 16;
        return isLarge(tile, 1);
    }

    private static boolean isLarge(int[] bits, int count) {
        int signs = 0;
        for (int i = 0; i < count; i++) {
            signs |= LARGE - (bits[i] & MAGNITUDE);
        }
        return signs < 0;
    }

    /** For ints that hold two bfloat16 each. */
    private static boolean isEitherLarge(int[] bits, int count) {
        int signs = 0;
        for (int i = 0; i < count; i++) {
            signs |= (LARGE - (bits[i] & MAGNITUDE)) | (LARGE - ((bits[i] << 16) & MAGNITUDE));
        }
        return signs < 0;
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public void load() {
        fast.load();
    }

    @Override
    public long bytes() {
        return fast.bytes() + portable.bytes();
    }

    @Override
    public void release() {
        fast.release();
        portable.release();
    }

    @Override
    public void close() {
        fast.close();
        portable.close();
    }
}
