package io.seriatim.benchmarks.engine;

import java.util.List;
import java.util.stream.Stream;

/**
 * The work of one lap: one or more copies of a program, each pushed by its own thread.
 *
 * <p>
 * Pushes of different threads are not ordered, so the result is deterministic only if the threads' programs share no
 * variables. So each thread pushes a copy of the program with its own variables, instead of a part of one program.
 *
 * @param program
 *            the program of each pushing thread
 * @param spin
 *            the number of extra loop iterations of each operation
 * @param pushers
 *            the number of pushing threads and copies
 * @param checksum
 *            the expected checksum of each copy
 */
record Work(Workload program, int spin, int pushers, long checksum) {

    /** Divides a number of operations among pushing threads. */
    static Work of(String workload, int ops, int spin, int pushers) {
        Workload program = Workload.of(workload, ops / pushers);
        return new Work(program, spin, pushers, WorkloadRun.serialChecksum(program, spin));
    }

    String name() {
        return program.name();
    }

    long operations() {
        return (long) program.size() * pushers;
    }

    List<WorkloadRun> begin() {
        return Stream.generate(() -> new WorkloadRun(program, spin)).limit(pushers).toList();
    }

    /** Checks a lap of a contender that ran the operations themselves. */
    Lap lap(long nanos, List<WorkloadRun> runs) {
        boolean same = runs.stream().allMatch(run -> run.checksum() == checksum);
        return Lap.of((double) nanos / operations(), same ? ResultCheck.SAME : ResultCheck.WRONG);
    }
}
