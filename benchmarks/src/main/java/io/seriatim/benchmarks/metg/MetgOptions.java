package io.seriatim.benchmarks.metg;

import java.util.List;

/**
 * The options of the benchmark.
 *
 * @param patterns
 *            the patterns
 * @param workers
 *            the number of threads that run tasks, of every system
 * @param tasksPerWorker
 *            the widths, in tasks a worker
 * @param seconds
 *            the approximate time of a run
 * @param leastSteps
 *            the least number of steps of a run
 * @param repetitions
 *            the number of sweeps of each system
 */
record MetgOptions(List<TaskPattern> patterns, int workers, List<Integer> tasksPerWorker, double seconds,
        int leastSteps, int repetitions) {
    MetgOptions {
        patterns = List.copyOf(patterns);
        tasksPerWorker = List.copyOf(tasksPerWorker);
    }
}
