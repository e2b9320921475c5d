package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.metg.TaskGraph.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * A fork-join pool on the explicit graph: each task has a count of inputs that are missing; the task that brings the
 * last one runs or forks it. Nothing is derived from reads and writes, and each task of the whole run has a place for
 * its value. Tasks without dependencies are split recursively.
 */
final class ForkJoinSystem extends ThreadSystem {
    private final ForkJoinPool pool;

    ForkJoinSystem(int workers) {
        super("forkjoin", "ForkJoin", Kind.JVM, workers);
        pool = new ForkJoinPool(workers);
    }

    /** The root task forks the others inside the pool. */
    @Override
    public boolean pusherRunsTasks() {
        return true;
    }

    @Override
    public long run(TaskGraph graph, int steps, int iterations) throws WrongValueException {
        TaskRun run = new TaskRun(graph, steps, iterations);
        long start = System.nanoTime();
        pool.invoke(graph.hasDependencies() ? new Root(new Counts(run)) : new Split(run, 0, steps * graph.columns()));
        long nanos = System.nanoTime() - start;
        run.finish();
        return nanos;
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }

    /** The missing inputs, the values and the successors of all tasks of a run. */
    private static final class Counts {
        private final TaskRun run;
        private final TaskGraph graph;
        private final AtomicIntegerArray missing;
        private final long[] values;
        private final int[][][] successors;

        Counts(TaskRun run) {
            this.run = run;
            graph = run.graph();
            int columns = graph.columns();
            successors = new int[graph.rows()][columns][];
            int[][] inputs = new int[graph.rows()][columns];
            for (int row = 0; row < graph.rows(); row++) {
                for (int column = 0; column < columns; column++) {
                    Task task = graph.at(row, column);
                    inputs[row][column] = task == null ? 0 : task.inputs().length;
                    successors[row][column] = graph.successors(row, column);
                }
            }
            int[] all = new int[run.steps() * columns];
            for (int step = 0; step < run.steps(); step++) {
                System.arraycopy(inputs[graph.row(step)], 0, all, step * columns, columns);
            }
            missing = new AtomicIntegerArray(all);
            values = new long[all.length];
        }
    }

    /** Starts the tasks that have no inputs, and ends when no task is left. */
    private static final class Root extends RecursiveAction {
        private static final long serialVersionUID = 1L;
        private final transient Counts counts;

        Root(Counts counts) {
            this.counts = counts;
        }

        @Override
        protected void compute() {
            TaskGraph graph = counts.graph;
            for (int step = 0; step < counts.run.steps(); step++) {
                for (int column = 0; column < graph.columns(); column++) {
                    Task task = graph.at(graph.row(step), column);
                    if (task != null && task.inputs().length == 0) {
                        new Node(counts, step, column).fork();
                    }
                }
            }
            helpQuiesce();
        }
    }

    /** A task of the graph. */
    private static final class Node extends RecursiveAction {
        private static final long serialVersionUID = 1L;
        private final transient Counts counts;
        private final int step;
        private final int column;

        Node(Counts counts, int step, int column) {
            this.counts = counts;
            this.step = step;
            this.column = column;
        }

        @Override
        protected void compute() {
            Node next = this;
            while (next != null) {
                next = next.execute();
            }
        }

        /** Runs the task, forks the successors that became ready, and returns one of them, or null. */
        private @Nullable Node execute() {
            TaskGraph graph = counts.graph;
            int columns = graph.columns();
            int row = graph.row(step);
            Task task = graph.at(row, column);
            if (task == null) {
                throw new IllegalStateException("step " + step + " has no task " + column);
            }
            for (int input : task.inputs()) {
                counts.run.input(step, column, input, counts.values[(step - 1) * columns + input]);
            }
            counts.values[step * columns + column] = counts.run.execute(step, column, task);
            Node next = null;
            if (step + 1 < counts.run.steps()) {
                for (int successor : counts.successors[row][column]) {
                    if (counts.missing.decrementAndGet((step + 1) * columns + successor) == 0) {
                        if (next != null) {
                            next.fork();
                        }
                        next = new Node(counts, step + 1, successor);
                    }
                }
            }
            return next;
        }
    }

    /** A range of tasks without dependencies. */
    private static final class Split extends RecursiveAction {
        private static final long serialVersionUID = 1L;
        private static final int BRANCHES = 16;
        private final transient TaskRun run;
        private final int from;
        private final int to;

        Split(TaskRun run, int from, int to) {
            this.run = run;
            this.from = from;
            this.to = to;
        }

        @Override
        protected void compute() {
            if (to - from == 1) {
                TaskGraph graph = run.graph();
                int step = from / graph.columns();
                int column = from % graph.columns();
                Task task = graph.at(graph.row(step), column);
                if (task != null) {
                    run.execute(step, column, task);
                }
                return;
            }
            int part = Math.max(1, (to - from) / BRANCHES);
            List<ForkJoinTask<?>> parts = new ArrayList<>();
            for (int begin = from; begin < to; begin += part) {
                parts.add(new Split(run, begin, Math.min(to, begin + part)));
            }
            invokeAll(parts);
        }
    }
}
