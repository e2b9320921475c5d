package io.seriatim.benchmarks.engine;

import io.seriatim.benchmarks.common.Printer;
import java.util.List;

/**
 * The options of the engine benchmark.
 *
 * @param ops
 *            the number of operations of a workload, over all pushing threads
 * @param spin
 *            the number of extra loop iterations of each operation
 * @param reps
 *            the number of measured rounds
 * @param warmUps
 *            the number of warm-up rounds
 * @param workloads
 *            the names of workloads
 * @param engines
 *            the kinds of engine
 * @param workers
 *            the numbers of workers
 * @param pushers
 *            the numbers of pushing threads
 */
record BenchOptions(int ops, int spin, int reps, int warmUps, List<String> workloads, List<EngineSetting> engines,
        List<Integer> workers,
        List<Integer> pushers) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException
     *             if a value is out of range; the message names the option
     */
    BenchOptions {
        atLeast("--ops", 1, ops);
        atLeast("--spin", 0, spin);
        atLeast("--reps", 1, reps);
        atLeast("--warmup", 0, warmUps);
        workers.forEach(n -> atLeast("--workers", 1, n));
        pushers.forEach(n -> atLeast("--pushers", 1, n));
        int most = pushers.stream().mapToInt(n -> n).max().orElse(1);
        if (ops < most) {
            throw new IllegalArgumentException(
                    "--ops must be at least the number of pushing threads, " + most + ", but is " + ops);
        }
        for (String workload : workloads) {
            if (!Workload.NAMES.contains(workload)) {
                String names = String.join(", ", Workload.NAMES);
                throw new IllegalArgumentException("--workload must be of " + names + ", but is '" + workload + "'");
            }
        }
        workloads = List.copyOf(workloads);
        engines = List.copyOf(engines);
        workers = List.copyOf(workers);
        pushers = List.copyOf(pushers);
    }

    static void atLeast(String option, int least, int value) {
        if (value < least) {
            throw new IllegalArgumentException(option + " must be at least " + least + ", but is " + value);
        }
    }

    /** Returns a description of the amount of work, for titles. */
    String extent() {
        return Printer.count(ops) + " operations" + (spin == 0 ? "" : " of " + spin + " extra turns") + ", " + reps
                + " rounds";
    }

    List<Work> works(int pushingThreads, int turns) {
        return workloads.stream().map(name -> Work.of(name, ops, turns, pushingThreads)).toList();
    }
}
