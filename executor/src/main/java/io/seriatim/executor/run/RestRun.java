package io.seriatim.executor.run;

import io.seriatim.executor.ir.Task;
import io.seriatim.tensor.Tensor;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * One run of what follows late sizes: its parts run one after the other. What a part gives and no later one uses is
 * freed at once.
 */
final class RestRun {
    private final Task.Rest task;
    private final IntFunction<@Nullable Object> given;
    private final RunContext context;
    private final RestOfBlock rest;
    /** By slot, what a part has given. */
    private final @Nullable Object[] computed;
    /** By slot, whether nothing else has the memory of what a part has given. */
    private final boolean[] isOwn;

    /**
     * Creates a run.
     *
     * @param given
     *            the values of the enclosing plan
     * @param context
     *            the run that it continues
     */
    RestRun(Task.Rest task, IntFunction<@Nullable Object> given, RunContext context, RestOfBlock rest) {
        this.task = task;
        this.given = given;
        this.context = context;
        this.rest = rest;
        this.computed = new Object[task.slots()];
        this.isOwn = new boolean[task.slots()];
    }

    /** Runs all parts and returns the results of the block. */
    RestOfBlock.Results results() {
        for (int i = 0; i < task.parts().size(); i++) {
            run(i, task.parts().get(i));
        }
        int[] slots = task.results();
        @Nullable
        Object[] values = new Object[slots.length];
        boolean[] isOwnResult = new boolean[slots.length];
        for (int i = 0; i < slots.length; i++) {
            values[i] = computed[slots[i]];
            isOwnResult[i] = isOwn[slots[i]];
        }
        return new RestOfBlock.Results(values, isOwnResult);
    }

    private void run(int index, Task.Rest.Part part) {
        RestOfBlock.Results results =
                rest.run(index, part.fetched(), context.with(externals(part), part.block().block()));
        int[] slots = part.results();
        for (int i = 0; i < slots.length; i++) {
            computed[slots[i]] = results.values()[i];
            isOwn[slots[i]] = results.isOwn()[i];
        }
        for (int slot : part.last()) {
            free(slot);
        }
    }

    private @Nullable Object[] externals(Task.Rest.Part part) {
        @Nullable
        Object[] externals = new Object[part.externals().length];
        for (int i = 0; i < externals.length; i++) {
            if (part.earlier()[i] >= 0) {
                externals[i] = settled(computed[part.earlier()[i]]);
            } else if (part.externals()[i] >= 0) {
                externals[i] = settled(given.apply(part.externals()[i]));
            } else {
                externals[i] = part.constants().get(part.block().values().get(part.block().externals()[i]).name());
            }
        }
        return externals;
    }

    /** Declares that all uses of a value have ended: the threads of the next plan did not observe it. */
    private static @Nullable Object settled(@Nullable Object value) {
        if (value instanceof Tensor tensor) {
            tensor.buffer().settle();
        }
        return value;
    }

    /** Frees the memory of a value, unless another one has it too: a part may give what it was given. */
    private void free(int slot) {
        Object value = computed[slot];
        computed[slot] = null;
        if (!isOwn[slot] || !(value instanceof Tensor tensor) || !tensor.buffer().isOpen()) {
            return;
        }
        for (Object other : computed) {
            if (other instanceof Tensor that && that.buffer().equals(tensor.buffer())) {
                return;
            }
        }
        tensor.close();
    }
}
