package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import java.util.Arrays;
import java.util.List;

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

    public static Lifetimes of(List<Task> tasks, ValueTable values) {
        int n = values.size();
        int[] counts = new int[n];
        int[] seen = new int[n];
        Arrays.fill(seen, -1);
        for (int i = 0; i < tasks.size(); i++) {
            count(tasks.get(i).reads(), values, i, seen, counts);
            count(tasks.get(i).writes(), values, i, seen, counts);
        }
        int[][] users = new int[n][];
        Arrays.setAll(users, i -> counts[i] == 0 ? NONE : new int[counts[i]]);
        int[] first = new int[n];
        Arrays.fill(first, -1);
        int[] filled = new int[n];
        for (int i = 0; i < tasks.size(); i++) {
            for (int value : tasks.get(i).reads()) {
                fill(values.memory(value), i, users, filled);
            }
            for (int value : tasks.get(i).writes()) {
                int memory = values.memory(value);
                fill(memory, i, users, filled);
                if (first[memory] < 0 && values.origin(memory) == ValueNumbering.Origin.COMPUTED) {
                    first[memory] = i;
                }
            }
        }
        return new Lifetimes(first, users);
    }

    private static void count(int[] touched, ValueTable values, int task, int[] seen, int[] counts) {
        for (int value : touched) {
            int memory = values.memory(value);
            if (seen[memory] != task) {
                seen[memory] = task;
                counts[memory]++;
            }
        }
    }

    private static void fill(int memory, int task, int[][] users, int[] filled) {
        if (filled[memory] == 0 || users[memory][filled[memory] - 1] != task) {
            users[memory][filled[memory]++] = task;
        }
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
