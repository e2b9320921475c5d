package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import java.util.Arrays;

/**
 * The lifetimes of memory, from the first task that writes it to its last uses. Memory is identified by the value that
 * owns it.
 *
 * @param first
 *            for each memory, the first task in program order that writes it; −1 if it exists before the run
 * @param users
 *            for each memory, all tasks that access it, in ascending order
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record Lifetimes(int[] first, int[][] users) {
    private static final int[] NONE = {};
    private static final int MOST_COMPARED = 64;

    /** Returns the lifetimes in a compiled plan. */
    public static Lifetimes of(CompiledPlan plan) {
        return of(new TaskGraph(plan.tasks(), plan.values()));
    }

    public static Lifetimes of(TaskGraph graph) {
        ValueTable values = graph.values();
        int[][] users = new int[values.size()][];
        int[] first = new int[users.length];
        Arrays.fill(users, NONE);
        Arrays.fill(first, -1);
        for (int i = 0; i < users.length; i++) {
            if (values.memory(i) == i) {
                users[i] = union(graph.readers(i), graph.writers(i));
                if (values.origin(i) == ValueNumbering.Origin.COMPUTED) {
                    first[i] = graph.writers(i).first();
                }
            }
        }
        return new Lifetimes(first, users);
    }

    private static int[] union(TaskSet readers, TaskSet writers) {
        if (readers.isEmpty() || writers.isEmpty()) {
            TaskSet all = readers.isEmpty() ? writers : readers;
            return all.isEmpty() ? NONE : all.toArray();
        }
        int[] some = readers.toArray();
        int[] others = writers.toArray();
        int[] all = new int[some.length + others.length];
        int count = 0;
        for (int i = 0, j = 0; i < some.length || j < others.length; count++) {
            boolean takes = j == others.length || (i < some.length && some[i] <= others[j]);
            boolean both = i < some.length && j < others.length && some[i] == others[j];
            all[count] = takes ? some[i] : others[j];
            i += takes ? 1 : 0;
            j += !takes || both ? 1 : 0;
        }
        return count == all.length ? all : Arrays.copyOf(all, count);
    }

    /** Returns the last task in program order that accesses some memory; −1 if there is none. */
    public int last(int memory) {
        return users[memory].length == 0 ? -1 : users[memory][users[memory].length - 1];
    }

    /**
     * Returns the tasks after which some memory is free: its users without those that are known ancestors of a later
     * user. Only the latest {@value #MOST_COMPARED} users are compared, so the result may contain more tasks than
     * necessary.
     */
    int[] lastUsers(int memory, Ancestors ancestors) {
        int[] all = users[memory];
        int[] last = new int[all.length];
        int count = 0;
        for (int i = 0; i < all.length; i++) {
            boolean followed = false;
            for (int j = all.length - 1; j > Math.max(i, all.length - 1 - MOST_COMPARED) && !followed; j--) {
                followed = ancestors.precedes(all[i], all[j]);
            }
            if (!followed) {
                last[count++] = all[i];
            }
        }
        return Arrays.copyOf(last, count);
    }
}
