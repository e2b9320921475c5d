package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A kernel for complex numbers that is one for real numbers, applied to real and imaginary parts: whatever moves
 * numbers, or is linear with real factors. Its operands are seen as real ones with one more dimension, of length 2.
 */
final class ComplexParts extends PortableKernel {
    private final Kernel real;
    private final @Nullable TensorSpec[] views;

    /** Prepares a kernel for real numbers. */
    @FunctionalInterface
    interface Factory {
        @Nullable
        Kernel prepare(@Nullable TensorSpec[] arguments);
    }

    private ComplexParts(Kernel real, @Nullable TensorSpec[] views) {
        this.real = real;
        this.views = views;
    }

    /** Prepares the kernel for the operands' views; null if there is none. */
    static @Nullable Kernel find(Factory factory, @Nullable TensorSpec... views) {
        Kernel real = factory.prepare(views);
        return real == null ? null : new ComplexParts(real, views);
    }

    /** Prepares the kernel for the operands' views. */
    static Kernel of(Factory factory, @Nullable TensorSpec... views) {
        Kernel real = factory.prepare(views);
        if (real == null) {
            throw new IllegalStateException("There is no kernel for " + Arrays.toString(views));
        }
        return new ComplexParts(real, views);
    }

    /** The parts as a last dimension; operands that are not complex stay as they are. */
    static @Nullable TensorSpec[] last(@Nullable TensorSpec... arguments) {
        @Nullable
        TensorSpec[] views = arguments.clone();
        for (int i = 0; i < views.length; i++) {
            TensorSpec view = views[i];
            if (view != null && view.dtype().isComplex()) {
                views[i] = view.asReal();
            }
        }
        return views;
    }

    /** The parts as the first dimension, for kernels of which the last dimensions are special. */
    static TensorSpec first(TensorSpec complex) {
        TensorSpec view = complex.asReal();
        int rank = complex.shape().rank();
        long[] dims = new long[rank + 1];
        long[] strides = new long[rank + 1];
        dims[0] = 2;
        strides[0] = 1;
        System.arraycopy(view.shape().dims(), 0, dims, 1, rank);
        System.arraycopy(view.strides(), 0, strides, 1, rank);
        return new TensorSpec(view.dtype(), Shape.of(dims), Layout.strided(strides));
    }

    /** The real parts; the imaginary ones are as many bytes further as a part has. */
    static TensorSpec realParts(TensorSpec complex) {
        TensorSpec view = complex.asReal();
        int rank = complex.shape().rank();
        return new TensorSpec(view.dtype(), complex.shape(), Layout.strided(Arrays.copyOf(view.strides(), rank)));
    }

    /** An operand without a complex dimension, repeated along it. */
    static TensorSpec repeated(TensorSpec real, long times) {
        int rank = real.shape().rank();
        long[] dims = Arrays.copyOf(real.shape().dims(), rank + 1);
        dims[rank] = times;
        return new TensorSpec(real.dtype(), Shape.of(dims), Layout.strided(Arrays.copyOf(real.strides(), rank + 1)));
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        @Nullable
        Tensor[] operands = new Tensor[arguments.length];
        for (int i = 0; i < operands.length; i++) {
            Tensor argument = arguments[i];
            TensorSpec view = views[i];
            operands[i] = argument == null || view == null
                    ? null
                    : new Tensor(argument.buffer(), argument.offset(), view);
        }
        real.run(operands, context);
    }
}
