package io.seriatim.tensor.onednn;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Runs a kernel of the library if the sum of the first input is finite, else a portable one: the library's kernel does
 * not propagate NaN.
 */
final class NanGuardedKernel implements Kernel {
    private final DnnlKernel sum;
    private final DnnlKernel fast;
    private final Kernel portable;

    private NanGuardedKernel(DnnlKernel sum, DnnlKernel fast, Kernel portable) {
        this.sum = sum;
        this.fast = fast;
        this.portable = portable;
    }

    static @Nullable Kernel of(@Nullable DnnlKernel sum, @Nullable DnnlKernel fast, Kernel portable) {
        return sum == null || fast == null ? null : new NanGuardedKernel(sum, fast, portable);
    }

    /** Runs a sum, which writes its result to the beginning of the scratch memory, and tells whether it is finite. */
    static boolean isFinite(DnnlKernel sum, @Nullable Tensor[] arguments, long shift, KernelContext context) {
        return Float.isFinite(first(sum, arguments, shift, context));
    }

    /** Runs a sum of whole arguments, and tells whether it is finite. */
    static boolean isFinite(Kernel sum, @Nullable Tensor[] arguments, KernelContext context) {
        sum.run(arguments, context);
        return Float.isFinite(first(context));
    }

    /** Runs a kernel and reads the number at the beginning of the scratch memory. */
    static float first(DnnlKernel kernel, @Nullable Tensor[] arguments, long shift, KernelContext context) {
        kernel.run(arguments, shift, context);
        return first(context);
    }

    private static float first(KernelContext context) {
        return context.scratch(Float.BYTES).segment().get(ValueLayout.JAVA_FLOAT, 0);
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        if (isFinite(sum, arguments, context)) {
            fast.run(arguments, context);
        } else {
            portable.run(arguments, context);
        }
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public void load() {
        sum.load();
        fast.load();
    }

    @Override
    public long bytes() {
        return sum.bytes() + fast.bytes() + portable.bytes();
    }

    @Override
    public void release() {
        sum.release();
        fast.release();
        portable.release();
    }

    @Override
    public void close() {
        sum.close();
        fast.close();
        portable.close();
    }
}
