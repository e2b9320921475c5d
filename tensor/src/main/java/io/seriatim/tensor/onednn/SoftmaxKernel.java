package io.seriatim.tensor.onednn;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.view.AxisView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The library's softmax, or its logarithm, with NaN in the whole of a row whose sum is not a number. In a row with NaN
 * or +∞ the library gives NaN at that place only, and 0 or −∞ elsewhere, so a NaN in the result shows such a row.
 */
final class SoftmaxKernel implements Kernel {
    private static final ValueLayout.OfInt BITS = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort HALF = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int MAGNITUDE = 0x7fffffff;
    private static final int UPPER = 0x7fff0000;
    /** Up to this length plain Java looks for NaN faster than a reduction starts. */
    private static final int MOST_SCANNED = 4096;

    private final DnnlKernel fast;
    /** Made when the first run on several threads needs it; null for few elements. */
    private final @Nullable LazyKernel sum;
    private final int result;
    private final TensorSpec y;
    private final AxisView rows;
    private final int infinity;

    private SoftmaxKernel(DnnlKernel fast, @Nullable LazyKernel sum, int result, TensorSpec y, int axis) {
        this.fast = fast;
        this.sum = sum;
        this.result = result;
        this.y = y;
        rows = AxisView.of(y, axis);
        infinity = switch (y.dtype()) {
            case FLOAT16 -> 0x7c000000;
            default -> 0x7f800000;
        };
    }

    /**
     * Wraps a softmax.
     *
     * @param fast
     *            the library's kernel; null if it has none
     * @param result
     *            the index of the argument that gets the softmax
     */
    static @Nullable SoftmaxKernel of(Dnnl dnnl, @Nullable DnnlKernel fast, int result, TensorSpec y, int axis) {
        if (fast == null) {
            return null;
        }
        boolean large = y.isRowMajor() && y.shape().size() > MOST_SCANNED;
        return new SoftmaxKernel(fast,
                large ? new LazyKernel(() -> sum(dnnl, y, result), -1, given -> given) : null, result, y, axis);
    }

    private static Kernel sum(Dnnl dnnl, TensorSpec y, int result) {
        Kernel sum = ElementwiseRecipes.sum(dnnl, y, result);
        return sum == null ? new UnknownSum() : sum;
    }

    /** Stands for a sum that the library does not have. */
    private record UnknownSum() implements Kernel {
        @Override
        public void run(@Nullable Tensor[] arguments, KernelContext context) {
            context.scratch(Float.BYTES).segment().set(ValueLayout.JAVA_FLOAT, 0, Float.NaN);
        }

        @Override
        public String provider() {
            return OneDnnKernels.PROVIDER;
        }
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        fast.run(arguments, context);
        try {
            Tensor written = Objects.requireNonNull(arguments[result]);
            if (!y.isRowMajor() || hasNan(written, arguments, context)) {
                spread(written, context);
            }
        } finally {
            Reference.reachabilityFence(arguments);
        }
    }

    private boolean hasNan(Tensor written, @Nullable Tensor[] arguments, KernelContext context) {
        // On one thread plain Java is faster. A sum that is not finite may also be one of logarithms of 0.
        boolean finite = sum != null && context.threads() > 1
                && NanGuardedKernel.isFinite(sum, arguments, context);
        return !finite && hasNan(written.memory(), written.offset(), context.ints(0));
    }

    private boolean hasNan(MemorySegment memory, long offset, int[] tile) {
        long bytes = y.bytes();
        long whole = bytes / Integer.BYTES * Integer.BYTES;
        for (long at = 0; at < whole; at += (long) tile.length * Integer.BYTES) {
            int count = (int) Math.min(tile.length, (whole - at) / Integer.BYTES);
            MemorySegment.copy(memory, BITS, offset + at, tile, 0, count);
            if (y.dtype() == DType.FLOAT32 ? isNan(tile, count) : isEitherNan(tile, count)) {
                return true;
            }
        }
        return whole < bytes && infinity - (memory.get(HALF, offset + whole) << 16 & UPPER) < 0;
    }

    private boolean isNan(int[] bits, int count) {
        int signs = 0;
        for (int i = 0; i < count; i++) {
            signs |= infinity - (bits[i] & MAGNITUDE);
        }
        return signs < 0;
    }

    /** For ints that hold two numbers of 16 bits each. */
    private boolean isEitherNan(int[] bits, int count) {
        int signs = 0;
        for (int i = 0; i < count; i++) {
            signs |= (infinity - (bits[i] & UPPER)) | (infinity - (bits[i] << 16 & UPPER));
        }
        return signs < 0;
    }

    private void spread(Tensor written, KernelContext context) {
        double[] row = context.doubleArray(rows.length());
        for (long i = 0; i < rows.count(); i++) {
            rows.load(written, i, row, 0);
            if (Arrays.stream(row, 0, rows.length()).anyMatch(Double::isNaN)) {
                Arrays.fill(row, 0, rows.length(), Double.NaN);
                rows.store(written, i, row, 0);
            }
        }
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
        return fast.bytes() + (sum == null ? 0 : sum.bytes());
    }

    @Override
    public void release() {
        fast.release();
        if (sum != null) {
            sum.release();
        }
    }

    @Override
    public void close() {
        fast.close();
        if (sum != null) {
            sum.close();
        }
    }
}
