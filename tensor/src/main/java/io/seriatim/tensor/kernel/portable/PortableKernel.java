package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.ref.Reference;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A kernel in plain Java. */
abstract class PortableKernel implements Kernel {
    /** The body of a kernel, as a method reference. */
    @FunctionalInterface
    interface Body {
        void run(Arguments arguments, KernelContext context);
    }

    /** The operands of a run. */
    @SuppressWarnings("ArrayRecordComponent")
    record Arguments(@Nullable Tensor[] all) {
        Tensor get(int index) {
            return Objects.requireNonNull(all[index]);
        }

        @Nullable
        Tensor optional(int index) {
            return all[index];
        }
    }

    /**
     * The body of a kernel with one or two tensors, the first and the last argument: frequent kernels such as copies
     * must not allocate.
     */
    @FunctionalInterface
    interface Move {
        void run(Tensor from, Tensor to, KernelContext context);
    }

    static Kernel of(Move move) {
        return new PortableKernel() {
            @Override
            void compute(@Nullable Tensor[] arguments, KernelContext context) {
                move.run(Objects.requireNonNull(arguments[0]), Objects.requireNonNull(arguments[arguments.length - 1]),
                        context);
            }
        };
    }

    static Kernel of(Body body) {
        return new PortableKernel() {
            @Override
            void compute(@Nullable Tensor[] arguments, KernelContext context) {
                body.run(new Arguments(arguments), context);
            }
        };
    }

    /** Reads and writes the arguments' memory, which {@link #run} keeps. */
    abstract void compute(@Nullable Tensor[] arguments, KernelContext context);

    @Override
    public final void run(@Nullable Tensor[] arguments, KernelContext context) {
        try {
            compute(arguments, context);
        } finally {
            // Segments do not keep buffers reachable: a tensor after its last use in the code could be collected, and
            // its memory reused, while its elements are still read.
            Reference.reachabilityFence(arguments);
            Reference.reachabilityFence(context);
        }
    }

    @Override
    public String provider() {
        return PortableKernels.PROVIDER;
    }
}
