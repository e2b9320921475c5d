package io.seriatim.executor.trace;

import java.util.List;

/**
 * The time of one lane during a run, divided into busy and idle intervals.
 *
 * @param lane
 *            the lane's index in {@link RunTrace#lanes}
 * @param busy
 *            the intervals in which the lane ran instructions
 * @param dependency
 *            the idle intervals in which no instruction for this lane was ready
 * @param queue
 *            the idle intervals in which an instruction for this lane was ready but had not started
 */
record Idleness(int lane, Intervals busy, Intervals dependency, Intervals queue) {
    /** Returns the idleness of each lane that took part in the run. */
    static List<Idleness> of(RunTrace.Run run, List<Slice> slices, List<RunTrace.Lane> lanes) {
        return run.lanes().stream().map(lane -> of(run, slices, lane, lanes.get(lane))).toList();
    }

    private static Idleness of(RunTrace.Run run, List<Slice> slices, int number, RunTrace.Lane lane) {
        Intervals.Builder busy = new Intervals.Builder();
        Intervals.Builder waiting = new Intervals.Builder();
        for (Slice slice : slices) {
            RunTrace.Span span = slice.span();
            if (span.lane() == number) {
                busy.add(span.started(), span.ended());
            }
            if (lane.takes(slice.instruction())) {
                waiting.add(span.ready(), span.started());
            }
        }
        Intervals worked = busy.build();
        Intervals idle = worked.complement(run.started(), run.ended());
        Intervals queue = idle.and(waiting.build());
        return new Idleness(number, worked, idle.and(queue.complement(run.started(), run.ended())), queue);
    }
}
