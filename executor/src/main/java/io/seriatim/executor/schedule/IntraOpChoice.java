package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** Decides whether the threads of a run cooperate within each kernel instead of running tasks in parallel. */
public final class IntraOpChoice {
    /**
     * The maximum cost of all tasks in the unit of {@link CriticalPaths}: about 2 ms. Longer plans benefit from tiling.
     */
    private static final long MOST = 20_000_000;
    private static final int MOST_TASKS = 256;

    private IntraOpChoice() {
    }

    /**
     * Returns whether tasks should stay whole, with threads that cooperate within each kernel and synchronise after it.
     * That is the case for short plans that are a single chain of tasks and change no variable that outlives the run.
     * So the results of training do not depend on the number of threads. Recurrences use one thread in each step, so
     * that threads gain only from parts of them.
     */
    public static boolean suits(List<Task> tasks, ValueTable values, Supplier<int[][]> before, int threads) {
        if (tasks.size() > MOST_TASKS || changesScope(tasks, values) || tasks.stream().anyMatch(Tiling::recurs)) {
            return false;
        }
        CriticalPaths criticalPaths = CriticalPaths.of(tasks, Dependencies.after(before.get()), values);
        return criticalPaths.sum() < MOST && criticalPaths.gain(threads) == CriticalPaths.Gain.NONE;
    }

    /** Returns whether a task writes a variable that outlives the run. */
    public static boolean changesScope(List<Task> tasks, ValueTable values) {
        return tasks.stream().flatMapToInt(task -> Arrays.stream(task.writes())).anyMatch(values::isPersistable);
    }
}
