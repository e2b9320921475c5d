package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Options;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The priorities of tasks, with the semantics of Paddle: of all ready tasks, the one with the lowest
 * {@code scheduling_priority} starts first. The default is 0; for communication it is 1, so that computations that can
 * overlap with it start before it. A task of several operations has the lowest value of its operations.
 */
public final class Priorities {
    static final String ATTRIBUTE = "scheduling_priority";
    private static final int COMMUNICATION = 1;

    private Priorities() {
    }

    public static int of(Task task) {
        return task.operations().stream().mapToInt(access -> of(access.op())).min().orElse(0);
    }

    private static int of(OpDesc op) {
        return switch (op.attribute(ATTRIBUTE)) {
            case Attribute.Int(int priority) -> priority;
            case Attribute.Int64(long priority) -> Math.clamp(priority, Integer.MIN_VALUE, Integer.MAX_VALUE);
            case null, default -> communicates(op) ? COMMUNICATION : 0;
        };
    }

    /** Returns whether a task waits for other ranks. */
    static boolean communicates(Task task) {
        return task.operations().stream().anyMatch(access -> communicates(access.op()));
    }

    private static boolean communicates(OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        return schema != null && schema.effects().contains(Effect.COMMUNICATION);
    }

    /** Sorts tasks into the order in which one thread runs them: by priority, then by program order. */
    public static void order(TaskGraph graph, Block block, Options options) {
        List<Task> tasks = graph.tasks();
        int[] priorities = tasks.stream().mapToInt(Priorities::of).toArray();
        if (areEqual(priorities)) {
            return;
        }
        int[][] before = Dependencies.of(graph, block, options).before();
        int[][] after = Dependencies.after(before);
        int[] waiting = new int[before.length];
        PriorityQueue<Integer> ready = new PriorityQueue<>(
                Comparator.comparingInt((Integer task) -> priorities[task]).thenComparingInt(task -> task));
        for (int i = 0; i < waiting.length; i++) {
            waiting[i] = before[i].length;
            if (waiting[i] == 0) {
                ready.add(i);
            }
        }
        List<Task> ordered = new ArrayList<>(tasks.size());
        for (Integer next = ready.poll(); next != null; next = ready.poll()) {
            ordered.add(tasks.get(next));
            for (int successor : after[next]) {
                if (--waiting[successor] == 0) {
                    ready.add(successor);
                }
            }
        }
        graph.replaceAll(ordered);
    }

    /** Returns whether all priorities are equal. */
    static boolean areEqual(int[] priorities) {
        for (int priority : priorities) {
            if (priority != priorities[0]) {
                return false;
            }
        }
        return true;
    }
}
