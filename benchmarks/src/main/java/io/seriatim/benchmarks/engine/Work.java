package io.seriatim.benchmarks.engine;

import java.util.List;
import java.util.stream.Stream;

/**
 * What a contender has to do in one lap: one or more copies of a program, each pushed by a thread of its own.
 *
 * <p>
 * Between pushing threads there is no order, so programs pushed by several threads have one right result only if they
 * share no variable: hence copies, each with its own variables, rather than one program cut into parts.
 *
 * @param program
 *            the program of each pushing thread
 * @param spin
 *            the extra loop turns of each operation
 * @param pushers
 *            the number of pushing threads and copies
 * @param checksum
 *            what each copy must end with
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

    /** Judges a lap of a contender that ran the operations themselves. */
    Lap lap(long nanos, List<WorkloadRun> runs) {
        boolean same = runs.stream().allMatch(run -> run.checksum() == checksum);
        return Lap.of((double) nanos / operations(), same ? ResultCheck.SAME : ResultCheck.WRONG);
    }
}
