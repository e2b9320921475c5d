package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
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

    static Kernel of(Body body) {
        return new PortableKernel() {
            @Override
            public void run(@Nullable Tensor[] arguments, KernelContext context) {
                body.run(new Arguments(arguments), context);
            }
        };
    }

    @Override
    public String provider() {
        return PortableKernels.PROVIDER;
    }
}
