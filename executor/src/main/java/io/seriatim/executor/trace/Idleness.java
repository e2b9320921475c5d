package io.seriatim.executor.trace;

import java.util.List;

/**
 * What a lane did during a run.
 *
 * @param lane
 *            its number
 * @param busy
 *            when it ran instructions
 * @param dependency
 *            when it was idle since nothing that it may run was ready
 * @param queue
 *            when it was idle though something that it may run was ready and had not started
 */
record Idleness(int lane, Intervals busy, Intervals dependency, Intervals queue) {
    /** Of each lane that took part in a run. */
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
        Intervals idle = worked.complement(run.begun(), run.ended());
        Intervals queue = idle.and(waiting.build());
        return new Idleness(number, worked, idle.and(queue.complement(run.begun(), run.ended())), queue);
    }
}
