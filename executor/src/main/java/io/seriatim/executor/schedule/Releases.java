package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tasks after which memory outside of arenas is freed. Memory is free when all its last users have ended: the users
 * that are not known to run before another user, in most cases one.
 *
 * @param after
 *            for each task, the values whose memory it may be the last to use
 * @param counts
 *            for each value, the number of last users
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record Releases(int[][] after, int[] counts) {
    private static final int[] NONE = {};

    public static Releases of(TaskGraph graph, Lifetimes lifetimes, MemoryPlan memory, boolean inOrder) {
        ValueTable values = graph.values();
        boolean[] kept = new boolean[values.size()];
        for (int i = 0; i < kept.length; i++) {
            if (values.isWanted(i) || values.isPersistable(i)) {
                kept[values.memory(i)] = true;
            }
        }
        List<@Nullable List<Integer>> lists = new ArrayList<>(Collections.nCopies(graph.size(), null));
        int[] counts = new int[values.size()];
        Ancestors ancestors = null;
        for (int i = 0; i < kept.length; i++) {
            if (values.memory(i) == i && !kept[i] && memory.offsets()[i] < 0 && lifetimes.first()[i] >= 0
                    && values.constant(i) == null) {
                int[] last = {lifetimes.last(i)};
                if (!inOrder) {
                    ancestors = ancestors == null ? Ancestors.of(memory.before()) : ancestors;
                    last = lifetimes.lastUsers(i, ancestors);
                }
                counts[i] = last.length;
                for (int task : last) {
                    List<Integer> list = lists.get(task);
                    if (list == null) {
                        list = new ArrayList<>(2);
                        lists.set(task, list);
                    }
                    list.add(i);
                }
            }
        }
        int[][] after = new int[graph.size()][];
        Arrays.setAll(after, i -> {
            List<Integer> list = lists.get(i);
            return list == null ? NONE : list.stream().mapToInt(Integer::intValue).toArray();
        });
        return new Releases(after, counts);
    }

    /**
     * Returns for each value whether its memory may be closed when it is released. Instructions that only the
     * interpreter implements may keep references to their operands; lowered operations do not.
     */
    public static boolean[] closable(List<Task> tasks, ValueTable values) {
        boolean[] closable = new boolean[values.size()];
        Arrays.fill(closable, true);
        for (Task task : tasks) {
            if (task.isUnplanned() && task.needsInterpreter()) {
                for (int value : task.reads()) {
                    closable[values.memory(value)] = false;
                }
                for (int value : task.writes()) {
                    closable[values.memory(value)] = false;
                }
            }
        }
        return closable;
    }
}
