package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Operations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Drops tasks whose results no one reads. Tasks that do more than compute, such as printing, stay. */
final class DropUnreadTasks {
    static final RewritePass PASS = RewritePass.of(PassName.SIMPLIFICATION, DropUnreadTasks::rewrite);

    private DropUnreadTasks() {
    }

    private static List<Task> rewrite(List<Task> tasks, PassContext context) {
        ValueTable values = context.values();
        Set<Integer> read = new HashSet<>();
        List<Task> kept = new ArrayList<>();
        for (Task task : tasks.reversed()) {
            if (!isPure(task, context) || Arrays.stream(task.writes()).anyMatch(v -> isNeeded(v, values, read))) {
                kept.addFirst(task);
                Arrays.stream(task.reads()).map(values::memory).forEach(read::add);
            }
        }
        return kept;
    }

    private static boolean isPure(Task task, PassContext context) {
        boolean stateful = context.options().paddleRandom() != null;
        for (Access access : task.operations()) {
            if (!Operations.system().isPure(access.op(), context.program(), stateful)) {
                return false;
            }
        }
        return task instanceof Task.Compute;
    }

    /** Whether a later task reads it, or it outlives the run. */
    private static boolean isNeeded(int value, ValueTable values, Set<Integer> read) {
        int memory = values.memory(value);
        return read.contains(memory) || values.isWanted(value) || values.isPersistable(value)
                || values.origin(memory) != ValueNumbering.Origin.COMPUTED;
    }
}
