package io.seriatim.tensor.onednn;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A kernel of primitives. A primitive is created for a number of threads, so the first run with another number creates
 * new ones.
 */
final class DnnlKernel implements Kernel {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final long[] ALIKE = {};

    /** Says which primitives a kernel consists of. */
    @FunctionalInterface
    interface Recipe {
        /** Adds the primitives; false if the library has no fast ones. */
        boolean build(SequenceBuilder builder);
    }

    /** Chooses the layout in which an argument is read fastest. */
    @FunctionalInterface
    interface Preference {
        /** Gives back the given layout if no other one is faster. */
        TensorSpec of(SequenceBuilder builder, int argument, TensorSpec given);
    }

    private final Dnnl dnnl;
    private final Recipe recipe;
    private final Preference preference;
    private final Natives natives;
    private final Cleaner.Cleanable cleanable;

    /** The kernel's native objects, from their creation until they are released. */
    private record Made(Handles handles, Sequence single, Map<Integer, Sequence> several) {
    }

    /** An object of its own, so that the cleaner can release it when the kernel is unreachable. */
    private static final class Natives implements Runnable {
        volatile @Nullable Made made;
        volatile boolean closed;

        void release() {
            Made there;
            synchronized (this) {
                there = made;
                made = null;
            }
            if (there != null) {
                there.handles.run();
            }
        }

        @Override
        public void run() {
            closed = true;
            release();
        }
    }

    private DnnlKernel(Dnnl dnnl, Recipe recipe, Preference preference, Made made) {
        this.dnnl = dnnl;
        this.recipe = recipe;
        this.preference = preference;
        this.natives = new Natives();
        natives.made = made;
        cleanable = CLEANER.register(this, natives);
    }

    /** A kernel, or null if the recipe has nothing for its arguments. */
    static @Nullable DnnlKernel of(Dnnl dnnl, Recipe recipe) {
        return of(dnnl, recipe, (_, _, given) -> given);
    }

    static @Nullable DnnlKernel of(Dnnl dnnl, Recipe recipe, Preference preference) {
        Made made = make(dnnl, recipe);
        return made == null ? null : new DnnlKernel(dnnl, recipe, preference, made);
    }

    /**
     * A kernel, or null if the recipe has nothing for its arguments.
     *
     * @param first
     *            the recipe of the primitives that are made now
     * @param again
     *            the recipe of equal ones, and of those for other numbers of threads
     */
    static @Nullable DnnlKernel of(Dnnl dnnl, Recipe first, Recipe again) {
        Made made = make(dnnl, first);
        return made == null ? null : new DnnlKernel(dnnl, again, (_, _, given) -> given, made);
    }

    private static @Nullable Made make(Dnnl dnnl, Recipe recipe) {
        Handles handles = new Handles();
        Sequence single = null;
        try {
            single = build(dnnl, recipe, handles, 1);
            return single == null ? null : new Made(handles, single, new ConcurrentHashMap<>());
        } finally {
            if (single == null) {
                handles.run();
            }
        }
    }

    private static @Nullable Sequence build(Dnnl dnnl, Recipe recipe, Handles handles, int threads) {
        return ThreadCount.with(dnnl, threads, () -> {
            SequenceBuilder builder = new SequenceBuilder(dnnl, handles, threads);
            try {
                return recipe.build(builder) ? builder.build() : null;
            } catch (NoDescriptorException _) {
                return null;
            }
        });
    }

    private Made made() {
        Made there = natives.made;
        return there != null ? there : madeAgain();
    }

    private Made madeAgain() {
        synchronized (natives) {
            Made there = natives.made;
            if (there != null) {
                return there;
            }
            if (natives.closed) {
                throw new Handles.ClosedException();
            }
            Made again = make(dnnl, recipe);
            if (again == null) {
                throw new IllegalStateException("oneDNN has no primitives any more for a kernel that it had some for");
            }
            natives.made = again;
            return again;
        }
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        run(arguments, 0, context);
    }

    /** Runs on the data that begins so many bytes after the beginning of each tensor. */
    void run(@Nullable Tensor[] arguments, long shift, KernelContext context) {
        run(arguments, shift, ALIKE, context);
    }

    /** Runs on the data that begins so many bytes after the beginning of each tensor, by the tensor's index. */
    void run(@Nullable Tensor[] arguments, long[] shifts, KernelContext context) {
        run(arguments, 0, shifts, context);
    }

    private void run(@Nullable Tensor[] arguments, long shift, long[] shifts, KernelContext context) {
        int threads = context.threads();
        try {
            boolean done = false;
            while (!done) {
                Made there = made();
                try {
                    sequence(there, threads).run(arguments, shift, shifts, context);
                    done = true;
                } catch (Handles.ClosedException e) {
                    requireReleased(there, e);
                }
            }
        } finally {
            // The cleaner closes an unreachable kernel.
            Reference.reachabilityFence(this);
        }
    }

    private Sequence sequence(Made made, int threads) {
        return threads == 1 ? made.single : made.several.computeIfAbsent(threads, count -> buildAgain(made, count));
    }

    /**
     * Tells whether the native objects were released between {@link #made()} and their use. They are then created
     * again, unless the kernel is closed.
     */
    @SuppressWarnings("ReferenceEquality") // Compares identity.
    private void requireReleased(Made there, Handles.ClosedException e) {
        if (natives.made == there) {
            throw e;
        }
    }

    private Sequence buildAgain(Made made, int threads) {
        made.handles.use();
        try {
            Sequence sequence = build(dnnl, recipe, made.handles, threads);
            // If the library has primitives for one thread only, they run on one.
            return sequence == null ? made.single : sequence;
        } finally {
            made.handles.endUse();
        }
    }

    @Override
    public void load() {
        try {
            boolean done = false;
            while (!done) {
                Made there = made();
                try {
                    there.single.load();
                    done = true;
                } catch (Handles.ClosedException e) {
                    requireReleased(there, e);
                }
            }
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public String provider() {
        return OneDnnKernels.PROVIDER;
    }

    @Override
    public TensorSpec preferred(int argument, TensorSpec given) {
        return preferred(dnnl, preference, argument, given);
    }

    static TensorSpec preferred(Dnnl dnnl, Preference preference, int argument, TensorSpec given) {
        Handles temporary = new Handles();
        try {
            return ThreadCount.with(dnnl, 1,
                    () -> preference.of(new SequenceBuilder(dnnl, temporary, 1), argument, given));
        } catch (NoDescriptorException _) {
            return given;
        } finally {
            temporary.run();
        }
    }

    @Override
    public long bytes() {
        Made there = natives.made;
        return there == null
                ? 0
                : there.single.bytes() + there.several.values().stream().mapToLong(Sequence::bytes).sum();
    }

    @Override
    public void release() {
        natives.release();
    }

    @Override
    public void close() {
        cleanable.clean();
    }
}
