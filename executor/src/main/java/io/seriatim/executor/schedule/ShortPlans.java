package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** Decides which plans are too short for several threads. */
public final class ShortPlans {
    /**
     * The maximum cost of all tasks in the unit of {@link CriticalPaths}: about 0.3 ms. A second thread would save less
     * than its tasks and hand-overs cost.
     */
    private static final long MOST = 8_000_000;
    private static final int MOST_TASKS = 256;

    private ShortPlans() {
    }

    /**
     * Returns whether the tasks should stay whole and run on one thread. That is the case for short plans that are a
     * single chain of tasks and change no variable that outlives the run, unless they contain a recurrence, whose parts
     * need few hand-overs.
     */
    public static boolean contain(List<Task> tasks, ValueTable values, Supplier<int[][]> before, int threads) {
        if (tasks.size() > MOST_TASKS || changesScope(tasks, values) || tasks.stream().anyMatch(Tiling::recurs)) {
            return false;
        }
        CriticalPaths criticalPaths = CriticalPaths.of(tasks, Dependencies.after(before.get()), values);
        return criticalPaths.sum() < MOST && criticalPaths.gain(threads) == CriticalPaths.Gain.NONE;
    }

    /** Returns whether a task writes a variable that outlives the run. */
    private static boolean changesScope(List<Task> tasks, ValueTable values) {
        return tasks.stream().flatMapToInt(task -> Arrays.stream(task.writes())).anyMatch(values::isPersistable);
    }
}
