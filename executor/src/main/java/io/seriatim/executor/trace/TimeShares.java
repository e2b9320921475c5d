package io.seriatim.executor.trace;

import java.util.List;

/**
 * The time of a run, divided by activity and averaged over its threads and streams. The sum of all shares is the
 * duration of the run.
 *
 * @param busy
 *            the time in which instructions ran, in nanoseconds
 * @param waiting
 *            the time in which an instruction was ready but had not started, in nanoseconds: the overhead of
 *            scheduling, or a thread that woke up late
 * @param idle
 *            the time in which no instruction was ready, in nanoseconds
 */
public record TimeShares(double busy, double waiting, double idle) {
    /** Counts threads that took no part as idle. */
    static TimeShares of(RunTrace.Run run, List<RunTrace.Lane> lanes, int threads) {
        List<Idleness> each = Idleness.of(run, Slice.of(run), lanes);
        int count = Math.max(threads, each.size());
        double busy = each.stream().mapToLong(lane -> lane.busy().length()).sum();
        double waiting = each.stream().mapToLong(lane -> lane.queue().length()).sum();
        return new TimeShares(busy / count, waiting / count, run.duration() - (busy + waiting) / count);
    }
}
