package io.seriatim.executor.pass;

import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import java.util.Arrays;

/** Drops tasks whose results no one reads. Tasks that do more than compute, such as printing, stay. */
final class DropUnreadTasks {
    static final RewritePass PASS = RewritePass.of(PassName.SIMPLIFICATION, (graph, _) -> rewrite(graph));

    private DropUnreadTasks() {
    }

    private static void rewrite(TaskGraph graph) {
        // Backwards: a task that only dropped tasks read is dropped too.
        for (int i = graph.size() - 1; i >= 0; i--) {
            if (graph.get(i) instanceof Task.Compute task && task.isPure() && isUnread(task, graph)) {
                graph.remove(i);
            }
        }
    }

    private static boolean isUnread(Task task, TaskGraph graph) {
        return Arrays.stream(task.writes())
                .allMatch(value -> graph.values().isTemporary(value) && graph.readers(value).isEmpty());
    }
}
