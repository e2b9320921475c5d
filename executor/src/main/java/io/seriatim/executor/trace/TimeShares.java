package io.seriatim.executor.trace;

import java.util.List;

/**
 * Where the time of a run went, in nanoseconds of one thread on average: the parts amount to the run's duration.
 *
 * @param busy
 *            instructions ran
 * @param waiting
 *            nothing ran though something was ready: what scheduling costs, or a thread that came late
 * @param idle
 *            nothing was ready
 */
public record TimeShares(double busy, double waiting, double idle) {
    /** Threads that took no part were idle. */
    static TimeShares of(RunTrace.Run run, List<RunTrace.Lane> lanes, int threads) {
        List<Idleness> each = Idleness.of(run, Slice.of(run), lanes);
        int count = Math.max(threads, each.size());
        double busy = each.stream().mapToLong(lane -> lane.busy().length()).sum();
        double waiting = each.stream().mapToLong(lane -> lane.queue().length()).sum();
        return new TimeShares(busy / count, waiting / count, run.duration() - (busy + waiting) / count);
    }
}
