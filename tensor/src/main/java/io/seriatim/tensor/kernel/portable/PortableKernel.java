package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.ref.Reference;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A kernel in plain Java. */
abstract class PortableKernel implements Kernel {
    /** What runs; a method reference makes a kernel of it. */
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
     * What runs on one or two tensors, the first and the last argument: what is called as often as a copy must not make
     * an object for that.
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
            // Segments of tensors do not keep their buffers: one whose last use by name is over could be collected, and
            // its memory given to others, while its elements are still read.
            Reference.reachabilityFence(arguments);
            Reference.reachabilityFence(context);
        }
    }

    @Override
    public String provider() {
        return PortableKernels.PROVIDER;
    }
}
