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

/** A kernel of primitives. A primitive is made for a number of threads, so the first run with another number makes them anew. */
final class DnnlKernel implements Kernel {
    private static final Cleaner CLEANER = Cleaner.create();

    /** Says which primitives a kernel consists of. */
    @FunctionalInterface
    interface Recipe {
        /** Adds them, or gives false if the library has none that is worth it. */
        boolean build(SequenceBuilder builder);
    }

    /** Says which layout an argument should have. */
    @FunctionalInterface
    interface Preference {
        /** The given one if there is nothing better. */
        TensorSpec of(SequenceBuilder builder, int argument, TensorSpec given);
    }

    private final Dnnl dnnl;
    private final Recipe recipe;
    private final Preference preference;
    private final Handles handles;
    private final Cleaner.Cleanable cleanable;
    private final Sequence single;
    private final Map<Integer, Sequence> several = new ConcurrentHashMap<>();

    private DnnlKernel(Dnnl dnnl, Recipe recipe, Preference preference, Handles handles, Sequence single) {
        this.dnnl = dnnl;
        this.recipe = recipe;
        this.preference = preference;
        this.handles = handles;
        this.single = single;
        cleanable = CLEANER.register(this, handles);
    }

    /** A kernel, or null if the recipe has nothing for its arguments. */
    static @Nullable DnnlKernel of(Dnnl dnnl, Recipe recipe) {
        return of(dnnl, recipe, (_, _, given) -> given);
    }

    static @Nullable DnnlKernel of(Dnnl dnnl, Recipe recipe, Preference preference) {
        Handles handles = new Handles();
        Sequence single = null;
        try {
            single = build(dnnl, recipe, handles, 1);
            return single == null ? null : new DnnlKernel(dnnl, recipe, preference, handles, single);
        } finally {
            if (single == null) {
                handles.run();
            }
        }
    }

    private static @Nullable Sequence build(Dnnl dnnl, Recipe recipe, Handles handles, int threads) {
        return ThreadCount.with(dnnl, threads, () -> {
            SequenceBuilder builder = new SequenceBuilder(dnnl, handles, threads);
            return recipe.build(builder) ? builder.build() : null;
        });
    }

    @Override
    public void run(@Nullable Tensor[] arguments, KernelContext context) {
        run(arguments, 0, context);
    }

    /** Runs on what lies so many bytes further on in each tensor. */
    void run(@Nullable Tensor[] arguments, long shift, KernelContext context) {
        try {
            Sequence sequence = context.threads() == 1 ? single : several.computeIfAbsent(context.threads(), this::buildAgain);
            sequence.run(arguments, shift, context);
        } finally {
            // A kernel that is unreachable is closed.
            Reference.reachabilityFence(this);
        }
    }

    private Sequence buildAgain(int threads) {
        handles.use();
        try {
            Sequence sequence = build(dnnl, recipe, handles, threads);
            // What the library has only for one thread runs on one.
            return sequence == null ? single : sequence;
        } finally {
            handles.endUse();
        }
    }

    @Override
    public void load() {
        try {
            single.load();
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
        Handles temporary = new Handles();
        try {
            return ThreadCount.with(dnnl, 1, () -> preference.of(new SequenceBuilder(dnnl, temporary, 1), argument, given));
        } finally {
            temporary.run();
        }
    }

    @Override
    public void close() {
        cleanable.clean();
    }
}
