package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.computation.Copy;
import java.util.Set;
import java.util.TreeSet;

/**
 * Computes results in their own memory. Where a task only copies a temporary value to a result, as the body of a loop
 * does with each variable that it passes on, the task that computes the value writes the result instead, and the tasks
 * that read the value read the result.
 */
final class DirectResults {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.of(PassName.SIMPLIFICATION, (tasks, context) -> {
        if (context.options().place().isHost()) {
            rewrite(tasks);
        }
    });

    /** With more readers, renaming them would take more time than a copy, and quadratic time in all. */
    private static final int MOST_READERS = 8;

    private DirectResults() {
    }

    private static void rewrite(TaskGraph tasks) {
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute copy && copy.stages().size() == 1 && isOnlyACopy(tasks, i)) {
                rewrite(tasks, i, copy.stages().getFirst());
            }
        }
    }

    /** Returns whether nobody needs what else a task writes, such as the shape that a gradient of a reshape reads. */
    private static boolean isOnlyACopy(TaskGraph tasks, int index) {
        for (int value : tasks.compute(index).unwritten()) {
            if (tasks.isNeeded(value)) {
                return false;
            }
        }
        return true;
    }

    private static void rewrite(TaskGraph tasks, int index, Stage copy) {
        ValueTable values = tasks.values();
        Arg in = copy.inputs().isEmpty() ? null : copy.inputs().getFirst();
        Arg out = copy.onlyOutput();
        if (!(copy.computation() instanceof Copy) || in == null || out == null || !in.isAll(values)
                || !out.isAll(values) || in.spec().dtype() != out.spec().dtype()
                || in.spec().bytes() != out.spec().bytes()) {
            return;
        }
        int value = in.value();
        int result = out.value();
        TaskSet writers = tasks.writers(value);
        if (!tasks.isTemporaryOfOne(value) || tasks.readers(value).size() > MOST_READERS || writers.first() >= index
                || !values.isSeparate(result)
                || !tasks.writers(result).isOnly(index)) {
            return;
        }
        if (tasks.readers(value).contains(writers.first())) {
            // It changes what it has written itself.
            return;
        }
        Set<Integer> users = new TreeSet<>();
        writers.stream().forEach(users::add);
        tasks.readers(value).stream().filter(reader -> reader != index).forEach(users::add);
        boolean canChange = users.stream().allMatch(user -> tasks.get(user) instanceof Task.Compute compute
                && compute.stages().size() <= Task.MOST_STAGES && compute.place().isHost());
        // A task before the copy may read what the variable held before.
        boolean isFirst = tasks.readers(result).isEmpty() || tasks.readers(result).first() > index;
        if (canChange && isFirst) {
            for (int user : users) {
                Task.Compute task = tasks.compute(user);
                tasks.put(user, task.with(task.operations(), task.stages().stream()
                        .map(stage -> stage.withValues(other -> other == value ? result : other)).toList()));
            }
            tasks.remove(index);
        }
    }
}
