package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.metg.TaskGraph.Task;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * {@link CompletableFuture}s on a fixed pool: a future of each task carries its value, and a task is a dependent stage
 * of its inputs' futures.
 */
final class FutureSystem extends ThreadSystem {
    /** The number of futures that the pushing thread may be ahead of the tasks. */
    private static final int AHEAD = 16_384;

    private final ExecutorService pool;

    FutureSystem(int workers) {
        super("futures", "CompletableFuture", Kind.JVM, workers);
        pool = Executors.newFixedThreadPool(workers, Thread.ofPlatform().daemon().name("metg-futures-", 0).factory());
    }

    @Override
    public long run(TaskGraph graph, int steps, int iterations) throws WrongValueException {
        TaskRun run = new TaskRun(graph, steps, iterations);
        long start = System.nanoTime();
        push(run);
        long nanos = System.nanoTime() - start;
        run.finish();
        return nanos;
    }

    /** Pushes all tasks and waits for them. The futures of the last steps are in a ring. */
    private void push(TaskRun run) {
        TaskGraph graph = run.graph();
        int ring = Math.max(2, AHEAD / graph.columns());
        CompletableFuture<?>[][] rows = new CompletableFuture<?>[Math.min(ring, run.steps())][];
        @SuppressWarnings("unchecked") // Arrays of a generic type cannot be created.
        CompletableFuture<Long>[] before = (CompletableFuture<Long>[]) new CompletableFuture<?>[graph.columns()];
        for (int step = 0; step < run.steps(); step++) {
            if (step >= ring) {
                CompletableFuture.allOf(rows[step % ring]).join();
            }
            @SuppressWarnings("unchecked")
            CompletableFuture<Long>[] now = (CompletableFuture<Long>[]) new CompletableFuture<?>[graph.columns()];
            for (int column = 0; column < graph.columns(); column++) {
                Task task = graph.at(graph.row(step), column);
                now[column] = task == null
                        ? CompletableFuture.completedFuture(0L)
                        : stage(run, step, column, task, before);
            }
            rows[step % ring] = now;
            before = now;
        }
        for (CompletableFuture<?>[] row : rows) {
            CompletableFuture.allOf(row).join();
        }
    }

    private CompletableFuture<Long> stage(TaskRun run, int step, int column, Task task,
            CompletableFuture<Long>[] before) {
        int[] inputs = task.inputs();
        if (inputs.length == 0) {
            return CompletableFuture.supplyAsync(() -> run.execute(step, column, task), pool);
        }
        if (inputs.length == 1) {
            return before[inputs[0]].thenApplyAsync(value -> {
                run.input(step, column, inputs[0], value);
                return run.execute(step, column, task);
            }, pool);
        }
        if (inputs.length == 2) {
            return before[inputs[0]].thenCombineAsync(before[inputs[1]], (first, second) -> {
                run.input(step, column, inputs[0], first);
                run.input(step, column, inputs[1], second);
                return run.execute(step, column, task);
            }, pool);
        }
        CompletableFuture<?>[] awaited = new CompletableFuture<?>[inputs.length];
        for (int i = 0; i < inputs.length; i++) {
            awaited[i] = before[inputs[i]];
        }
        return CompletableFuture.allOf(awaited).thenApplyAsync(ignored -> {
            for (int input : inputs) {
                run.input(step, column, input, before[input].join());
            }
            return run.execute(step, column, task);
        }, pool);
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }
}
