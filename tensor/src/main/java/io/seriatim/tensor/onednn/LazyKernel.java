package io.seriatim.tensor.onednn;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A kernel that is made when it is loaded or run first. Passes ask for kernels of many alternatives, most of which
 * never run.
 */
final class LazyKernel implements Kernel {
    /** About what a kernel of one primitive holds. */
    private static final long BYTES = 200 << 10;

    private final Supplier<Kernel> make;
    private final UnaryOperator<TensorSpec> preferredWeights;
    private final int weights;
    private volatile @Nullable Kernel made;
    private volatile @Nullable Preference preference;
    private boolean closed;

    /** The layout that is preferred for given weights. */
    private record Preference(TensorSpec given, TensorSpec preferred) {
    }

    /**
     * Creates a kernel that is not made yet.
     *
     * @param make
     *            makes it
     * @param weights
     *            the index of the argument that may be packed
     * @param preferredWeights
     *            chooses the layout in which these weights are read fastest
     */
    LazyKernel(Supplier<Kernel> make, int weights, UnaryOperator<TensorSpec> preferredWeights) {
        this.make = make;
        this.weights = weights;
        this.preferredWeights = preferredWeights;
    }

    /** Returns the kernel itself; makes it if it is not made yet. */
    Kernel made() {
        Kernel there = made;
        return there != null ? there : makeOnce();
    }

    private synchronized Kernel makeOnce() {
        Kernel there = made;
        if (there == null) {
            if (closed) {
                throw new Handles.ClosedException();
            }
            there = make.get();
            made = there;
        }
        return there;
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        made().run(arguments, context);
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public TensorSpec preferred(int argument, TensorSpec given) {
        if (argument != weights) {
            return given;
        }
        Preference known = preference;
        if (known == null || !known.given().equals(given)) {
            known = new Preference(given, preferredWeights.apply(given));
            preference = known;
        }
        return known.preferred();
    }

    @Override
    public void load() {
        made().load();
    }

    @Override
    public long bytes() {
        Kernel there = made;
        return there == null ? 0 : there.bytes();
    }

    @Override
    public long loadedBytes() {
        Kernel there = made;
        return there == null ? BYTES : there.bytes();
    }

    @Override
    public void release() {
        Kernel there = made;
        if (there != null) {
            there.release();
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        Kernel there = made;
        if (there != null) {
            there.close();
        }
    }
}
