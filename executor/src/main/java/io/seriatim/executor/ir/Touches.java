package io.seriatim.executor.ir;

import java.util.Arrays;

/**
 * Which tasks read and write each value's memory, and where in the order of the program they are, while a pass moves
 * some of them.
 */
public final class Touches {
    private static final int[] NONE = {};

    private final ValueTable values;
    private final int[][] readers;
    private final int[][] writers;
    private final int[] sharing;
    private final int[] positions;

    public Touches(Task[] tasks, ValueTable values) {
        this.values = values;
        this.readers = new int[values.size()][];
        this.writers = new int[values.size()][];
        this.sharing = new int[values.size()];
        this.positions = new int[tasks.length];
        Arrays.fill(readers, NONE);
        Arrays.fill(writers, NONE);
        Arrays.setAll(positions, i -> i);
        int[] read = new int[values.size()];
        int[] written = new int[values.size()];
        for (Task task : tasks) {
            count(task.reads(), read);
            count(task.writes(), written);
        }
        for (int i = 0; i < values.size(); i++) {
            sharing[values.memory(i)]++;
            readers[i] = read[i] == 0 ? NONE : new int[read[i]];
            writers[i] = written[i] == 0 ? NONE : new int[written[i]];
        }
        for (int i = tasks.length - 1; i >= 0; i--) {
            for (int value : tasks[i].reads()) {
                readers[values.memory(value)][--read[values.memory(value)]] = i;
            }
            for (int value : tasks[i].writes()) {
                writers[values.memory(value)][--written[values.memory(value)]] = i;
            }
        }
    }

    private void count(int[] touched, int[] counts) {
        for (int value : touched) {
            counts[values.memory(value)]++;
        }
    }

    /** The tasks that read a value's memory. Not to be changed. */
    public int[] readers(int value) {
        return readers[values.memory(value)];
    }

    /** The tasks that write a value's memory. Not to be changed. */
    public int[] writers(int value) {
        return writers[values.memory(value)];
    }

    /** Whether it is computed by a run for this run only, in memory that no other value has. */
    public boolean isTemporary(int value) {
        return values.memory(value) == value && sharing[value] == 1
                && values.origin(value) == ValueNumbering.Origin.COMPUTED
                && !values.isPersistable(value) && !values.isWanted(value) && values.constant(value) == null;
    }

    public int position(int task) {
        return positions[task];
    }

    public void move(int task, int position) {
        positions[task] = position;
    }

    /** Whether no other task writes a value between where a task is and another position. */
    public boolean isUnwrittenBetween(int value, int task, int position) {
        return !isAnyBetween(writers(value), task, position);
    }

    /** Whether no other task touches a value between where a task is and another position. */
    public boolean isUntouchedBetween(int value, int task, int position) {
        return isUnwrittenBetween(value, task, position) && !isAnyBetween(readers(value), task, position);
    }

    private boolean isAnyBetween(int[] tasks, int task, int position) {
        int from = Math.min(positions[task], position);
        int to = Math.max(positions[task], position);
        return Arrays.stream(tasks)
                .anyMatch(other -> other != task && positions[other] >= from && positions[other] <= to);
    }
}
