package io.seriatim.executor.ir;

import io.seriatim.device.Buffer;
import io.seriatim.tensor.Tensor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cache of results that depend only on a scope's variables, each computed once for all plans and runs until one of
 * the variables changes. Thread-safe. Results are computed without a lock; of two threads that compute the same one,
 * the second discards its own. The memory of a result is freed when the last frame releases it.
 */
public final class KeptResults {
    private final Map<Object, Entry> entries = new HashMap<>();

    /** A variable, and the number of changes that it counted when results were computed from it. */
    private record Source(Buffer buffer, long offset, long changes) {
        boolean is(Tensor variable) {
            return buffer == variable.buffer() && offset == variable.offset() && changes == variable.buffer().changes()
                    && changes != Buffer.UNKNOWN && buffer.isOpen();
        }
    }

    /** Cached results, and the number of their users. */
    public static final class Entry {
        private final Source[] sources;
        private final List<Tensor> results;
        private int users;

        private Entry(Source[] sources, List<Tensor> results) {
            this.sources = sources;
            this.results = results;
        }

        public List<Tensor> results() {
            return results;
        }

        /** Returns whether the variables are as they were when the results were computed. */
        public boolean isOf(Tensor[] variables) {
            for (int i = 0; i < sources.length; i++) {
                if (!sources[i].is(variables[i])) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Returns whether changes of all variables are counted. Otherwise, their results cannot be cached. */
    public static boolean areCounted(Tensor[] variables) {
        for (Tensor variable : variables) {
            if (variable.buffer().changes() == Buffer.UNKNOWN) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the results for the current content of the variables. The caller must release it by {@link #release}.
     *
     * @param recipe
     *            what is computed from which variables; equal recipes have equal results
     * @param compute
     *            computes them into memory of their own
     */
    public Entry get(Object recipe, Tensor[] variables, Supplier<List<Tensor>> compute) {
        Entry known = use(recipe, variables);
        if (known != null) {
            return known;
        }
        // Counted before it is computed: a change in between makes the entry stale, not wrong.
        Source[] sources = new Source[variables.length];
        for (int i = 0; i < sources.length; i++) {
            sources[i] = new Source(variables[i].buffer(), variables[i].offset(), variables[i].buffer().changes());
        }
        Entry made = new Entry(sources, compute.get());
        synchronized (this) {
            Entry other = use(recipe, variables);
            if (other == null) {
                made.users = 1;
                entries.put(recipe, made);
                return made;
            }
            known = other;
        }
        made.results.forEach(Tensor::close);
        return known;
    }

    private synchronized @Nullable Entry use(Object recipe, Tensor[] variables) {
        Entry there = entries.get(recipe);
        if (there == null || !there.isOf(variables)) {
            return null;
        }
        there.users++;
        return there;
    }

    /** Removes a user. The last one frees the memory. */
    public void release(Object recipe, Entry entry) {
        synchronized (this) {
            entry.users--;
            if (entry.users > 0) {
                return;
            }
            entries.remove(recipe, entry);
        }
        entry.results.forEach(Tensor::close);
    }

}
