package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** Decides whether the threads of a run work together inside each kernel instead of on tasks side by side. */
public final class IntraOpChoice {
    /**
     * What all tasks may cost together, as {@link CriticalPaths} counts: some 2 ms. Longer plans gain by tasks that are
     * split.
     */
    private static final long MOST = 20_000_000;
    private static final int MOST_TASKS = 256;

    private IntraOpChoice() {
    }

    /**
     * Whether tasks are better left whole than split for threads that meet after each: short plans that are one chain
     * and change nothing that outlives a run, so that no training depends on the number of threads.
     */
    public static boolean suits(List<Task> tasks, ValueTable values, Supplier<int[][]> before, int threads) {
        if (tasks.size() > MOST_TASKS || changesScope(tasks, values)) {
            return false;
        }
        CriticalPaths urgency = CriticalPaths.of(tasks, Dependencies.after(before.get()), values);
        return urgency.sum() < MOST && urgency.gain(threads) == CriticalPaths.Gain.NONE;
    }

    /** Whether a task writes a variable that outlives the run. */
    public static boolean changesScope(List<Task> tasks, ValueTable values) {
        return tasks.stream().flatMapToInt(task -> Arrays.stream(task.writes())).anyMatch(values::isPersistable);
    }
}
