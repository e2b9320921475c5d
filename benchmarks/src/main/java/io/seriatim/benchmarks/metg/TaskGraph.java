package io.seriatim.benchmarks.metg;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A graph of tasks in steps of at most {@code columns} tasks. A task reads the values of some tasks of the step before
 * it. The dependencies are a table of rows: {@code prologue} rows for the first steps, then {@code period} rows that
 * repeat for ever.
 */
final class TaskGraph {
    /** The weight of a task that runs the kernel as often as the sweep says. */
    static final int FULL_WEIGHT = 1000;

    private final int columns;
    private final int prologue;
    private final @Nullable Task[][] rows;

    /**
     * A task of a row.
     *
     * @param inputs
     *            the columns of the tasks of the step before it whose values it reads, in ascending order
     * @param weight
     *            the share of the kernel's iterations that it runs, in thousandths
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared, and read in the measured loop.
    record Task(int[] inputs, int weight) {
    }

    /** The function that defines a graph. */
    @FunctionalInterface
    interface Definition {
        /** Returns the task of a step and a column, or null if the step has none there. */
        @Nullable
        Task task(int step, int column);
    }

    private TaskGraph(int columns, int prologue, @Nullable Task[][] rows) {
        this.columns = columns;
        this.prologue = prologue;
        this.rows = rows;
    }

    /**
     * Tabulates a definition.
     *
     * @param columns
     *            the greatest number of tasks of a step
     * @param prologue
     *            the number of first steps that do not repeat, at least 1, since the first step has no inputs
     * @param period
     *            the number of steps after which the definition repeats
     */
    static TaskGraph of(int columns, int prologue, int period, Definition definition) {
        @Nullable
        Task[][] rows = new Task[prologue + period][];
        for (int step = 0; step < rows.length; step++) {
            @Nullable
            Task[] row = new Task[columns];
            for (int column = 0; column < columns; column++) {
                row[column] = definition.task(step, column);
            }
            rows[step] = row;
        }
        return new TaskGraph(columns, prologue, rows);
    }

    /** Returns this graph without one input of one task; to show that the checks find a lost dependency. */
    TaskGraph without(int row, int column, int input) {
        @Nullable
        Task[][] fewer = new Task[rows.length][];
        for (int i = 0; i < rows.length; i++) {
            fewer[i] = rows[i].clone();
        }
        Task task = fewer[row][column];
        if (task == null || Arrays.stream(task.inputs).noneMatch(each -> each == input)) {
            throw new IllegalArgumentException(
                    "Row " + row + " has no task " + column + " that reads column " + input);
        }
        fewer[row][column] = new Task(Arrays.stream(task.inputs).filter(each -> each != input).toArray(), task.weight);
        return new TaskGraph(columns, prologue, fewer);
    }

    int columns() {
        return columns;
    }

    int prologue() {
        return prologue;
    }

    int period() {
        return rows.length - prologue;
    }

    /** Returns the number of rows of the table. */
    int rows() {
        return rows.length;
    }

    /** Returns the row of a step. */
    int row(int step) {
        return step < prologue ? step : prologue + (step - prologue) % period();
    }

    /** Returns the task of a row and a column, or null. */
    @Nullable
    Task at(int row, int column) {
        return rows[row][column];
    }

    /** Returns the columns of the row after it whose tasks read a task's value. */
    int[] successors(int row, int column) {
        List<Integer> readers = new ArrayList<>();
        int next = row(row + 1);
        for (int other = 0; other < columns; other++) {
            Task task = rows[next][other];
            if (task != null && Arrays.binarySearch(task.inputs, column) >= 0) {
                readers.add(other);
            }
        }
        return readers.stream().mapToInt(i -> i).toArray();
    }

    /** Returns whether a task reads anything. */
    boolean hasDependencies() {
        return Arrays.stream(rows).flatMap(Arrays::stream).anyMatch(task -> task != null && task.inputs.length > 0);
    }

    /** Returns the number of tasks of the first steps. */
    long tasks(int steps) {
        long sum = 0;
        for (int row = 0; row < rows.length; row++) {
            sum += times(row, steps) * Arrays.stream(rows[row]).filter(task -> task != null).count();
        }
        return sum;
    }

    /** Returns the number of iterations of the kernel in the first steps. */
    long iterations(int steps, int ofFullTask) {
        long sum = 0;
        for (int row = 0; row < rows.length; row++) {
            long inRow = 0;
            for (Task task : rows[row]) {
                inRow += task == null ? 0 : iterations(task, ofFullTask);
            }
            sum += times(row, steps) * inRow;
        }
        return sum;
    }

    static int iterations(Task task, int ofFullTask) {
        return (int) ((long) ofFullTask * task.weight / FULL_WEIGHT);
    }

    /** Returns how many of the first steps have a row. */
    private long times(int row, int steps) {
        if (row < prologue) {
            return row < steps ? 1 : 0;
        }
        return steps <= row ? 0 : (steps - 1 - row) / period() + 1L;
    }

    /** Returns the table as the programs of {@link ProgramSystem} read it. */
    String text() {
        StringBuilder text = new StringBuilder().append(columns).append(' ').append(prologue).append(' ')
                .append(period()).append('\n');
        for (Task[] row : rows) {
            for (Task task : row) {
                if (task == null) {
                    text.append("-1 ");
                } else {
                    text.append(task.weight).append(' ').append(task.inputs.length).append(' ');
                    Arrays.stream(task.inputs).forEach(input -> text.append(input).append(' '));
                }
            }
            text.append('\n');
        }
        return text.toString();
    }
}
