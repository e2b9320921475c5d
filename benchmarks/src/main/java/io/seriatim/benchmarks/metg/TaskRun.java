package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.metg.TaskGraph.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One execution of the first steps of a graph. Every task has a value of its own; a task that finds another value than
 * that of the task it should read fails the run. At the end the count and the checksum of the tasks that ran show that
 * each ran once.
 */
final class TaskRun {
    private static final ThreadLocal<Worker> WORKER = ThreadLocal.withInitial(Worker::new);

    private final TaskGraph graph;
    private final int steps;
    private final int iterations;
    private final AtomicReference<@Nullable String> wrong = new AtomicReference<>();
    private final List<Worker> workers = new ArrayList<>();

    /** What a thread needs for its tasks: the kernel's buffer, and its share of count and checksum. */
    private static final class Worker {
        private final double[] buffer = new double[FmaKernel.LENGTH];
        private @Nullable TaskRun run;
        private long count;
        private long checksum;
    }

    TaskRun(TaskGraph graph, int steps, int iterations) {
        this.graph = graph;
        this.steps = steps;
        this.iterations = iterations;
    }

    TaskGraph graph() {
        return graph;
    }

    int steps() {
        return steps;
    }

    int iterations() {
        return iterations;
    }

    /** Returns the value of a task, which no other task of the run has. */
    long value(int step, int column) {
        return (long) step * graph.columns() + column + 1;
    }

    /** Checks an input of a task. */
    void input(int step, int column, int input, long found) {
        long expected = value(step - 1, input);
        if (found != expected) {
            wrong.compareAndSet(null, "task " + column + " of step " + step + " read the value of " + name(found)
                    + " instead of that of task " + input + " of step " + (step - 1));
        }
    }

    private String name(long value) {
        return value == 0
                ? "no task"
                : "task " + (value - 1) % graph.columns() + " of step " + (value - 1) / graph.columns();
    }

    /** Runs the kernel of a task, whose inputs have been checked, and returns its value. */
    long execute(int step, int column, Task task) {
        Worker worker = WORKER.get();
        if (worker.run != this) {
            attach(worker);
        }
        FmaKernel.run(worker.buffer, TaskGraph.iterations(task, iterations));
        long value = value(step, column);
        worker.count++;
        worker.checksum += mixed(value);
        return value;
    }

    private void attach(Worker worker) {
        worker.run = this;
        worker.count = 0;
        worker.checksum = 0;
        synchronized (workers) {
            workers.add(worker);
        }
    }

    private static long mixed(long value) {
        return value * (value ^ 0x9e3779b97f4a7c15L);
    }

    /**
     * Checks that every task ran once and found the right values. The caller has waited for all tasks.
     *
     * @throws WrongValueException
     *             if not
     */
    void finish() throws WrongValueException {
        long count = 0;
        long checksum = 0;
        synchronized (workers) {
            for (Worker worker : workers) {
                count += worker.count;
                checksum += worker.checksum;
            }
        }
        String first = wrong.get();
        if (first != null) {
            throw new WrongValueException(first);
        }
        if (count != graph.tasks(steps)) {
            throw new WrongValueException(count + " tasks ran instead of " + graph.tasks(steps));
        }
        if (checksum != expected()) {
            throw new WrongValueException("a task ran twice and another one never");
        }
    }

    private long expected() {
        long sum = 0;
        for (int step = 0; step < steps; step++) {
            int row = graph.row(step);
            for (int column = 0; column < graph.columns(); column++) {
                sum += graph.at(row, column) == null ? 0 : mixed(value(step, column));
            }
        }
        return sum;
    }
}
