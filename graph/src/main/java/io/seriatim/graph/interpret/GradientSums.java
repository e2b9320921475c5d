package io.seriatim.graph.interpret;

import io.seriatim.device.Devices;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The sums of the gradients of variables over the steps of a loop, in the order in which they are added. The first
 * gradient is kept as it is, since others may have it; from the second one on, a sum has a tensor of its own, to which
 * all further ones are added in place.
 */
final class GradientSums implements AutoCloseable {
    private static final Kernels PORTABLE = Kernels.portable();

    private final Map<String, Sum> sums = new HashMap<>();

    private static final class Sum {
        private Object value;
        private boolean isOwn;
        private @Nullable Kernel kernel;
        /** The type of gradients for which the kernel is. */
        private @Nullable TensorSpec added;

        Sum(Object value) {
            this.value = value;
        }

        void add(Object other) {
            if (value instanceof Tensor known && other instanceof Tensor gradient && isAddedByKernel(known, gradient)) {
                Tensor sum = isOwn ? known : Tensor.allocate(known.dtype(), known.shape().dims());
                kernel(sum, gradient).run(new Tensor[]{known, gradient, sum}, KernelContext.current());
                value = sum;
                isOwn = true;
                return;
            }
            isOwn = value instanceof Tensor && other instanceof Tensor;
            value = VariableValues.sum(value, other);
        }

        /** The first gradient is added like the later ones, to which the memory of the sum belongs, if it is dense. */
        private boolean isAddedByKernel(Tensor known, Tensor gradient) {
            return isOwn
                    ? gradient.dtype() == known.dtype() && gradient.shape().equals(known.shape())
                    : known.spec().isRowMajor() && gradient.spec().equals(known.spec());
        }

        private Kernel kernel(Tensor sum, Tensor gradient) {
            Kernel known = kernel;
            if (known == null || !gradient.spec().equals(added)) {
                close();
                known = PORTABLE.prepare(Binary.of(Binary.Function.ADD), Devices.system().host().place(), sum.spec(),
                        gradient.spec(), sum.spec());
                kernel = known;
                added = gradient.spec();
            }
            return known;
        }

        void close() {
            if (kernel != null) {
                kernel.close();
                kernel = null;
            }
        }
    }

    /** Adds a gradient of a variable; null stands for zero. */
    void add(String name, @Nullable Object gradient) {
        if (gradient != null) {
            Sum known = sums.get(name);
            if (known == null) {
                sums.put(name, new Sum(gradient));
            } else {
                known.add(gradient);
            }
        }
    }

    /** Returns the sum of a variable's gradients; null if there was none. */
    @Nullable
    Object get(String name) {
        Sum known = sums.get(name);
        return known == null ? null : known.value;
    }

    /** Returns the sums of all variables, and other values. */
    List<Object> with(Collection<Object> others) {
        List<Object> all = new ArrayList<>(others);
        sums.values().forEach(sum -> all.add(sum.value));
        return all;
    }

    /** Closes kernels; the sums stay. */
    @Override
    public void close() {
        sums.values().forEach(Sum::close);
    }
}
