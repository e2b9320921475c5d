package io.seriatim.executor.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The memory use of a run over time.
 *
 * @param times
 *            the times at which the memory use changed, in ascending order
 * @param bytes
 *            the memory use from each of these times on
 * @param peak
 *            the index of the maximum; −1 if no memory use was recorded
 * @param atPeak
 *            the values in memory at the maximum, in descending order of size; without memory that was not planned
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record MemoryUse(long[] times, long[] bytes, int peak, List<Held> atPeak) {
    /**
     * A value in memory.
     *
     * @param value
     *            the value
     * @param from
     *            the time at which it was allocated
     * @param to
     *            the time at which its last user ended
     */
    record Held(TracedPlan.Value value, long from, long to) {
    }

    private record Change(long time, long bytes) {
    }

    static MemoryUse of(RunTrace.Run run) {
        List<Held> held = new ArrayList<>();
        List<Change> changes = new ArrayList<>();
        collect(run, held, changes);
        held.forEach(each -> {
            changes.add(new Change(each.from(), each.value().bytes()));
            changes.add(new Change(each.to(), -each.value().bytes()));
        });
        // Of changes at the same time, memory is freed before other memory is allocated.
        changes.sort(Comparator.comparingLong(Change::time).thenComparingLong(Change::bytes));
        long[] times = new long[changes.size()];
        long[] bytes = new long[times.length];
        int count = 0;
        int peak = -1;
        long now = 0;
        for (int i = 0; i < times.length; i++) {
            now += changes.get(i).bytes();
            boolean same = count > 0 && times[count - 1] == changes.get(i).time();
            int place = same ? count - 1 : count++;
            times[place] = changes.get(i).time();
            bytes[place] = now;
            if (peak < 0 || now > bytes[peak]) {
                peak = place;
            }
        }
        long most = peak < 0 ? 0 : times[peak];
        List<Held> atPeak = held.stream().filter(each -> each.from() <= most && each.to() > most)
                .sorted(Comparator.comparingLong((Held each) -> each.value().bytes()).reversed()).toList();
        return new MemoryUse(Arrays.copyOf(times, count), Arrays.copyOf(bytes, count), peak, atPeak);
    }

    private static void collect(RunTrace.Run run, List<Held> held, List<Change> changes) {
        RunTrace.Span[] ran = new RunTrace.Span[run.plan().instructions().size()];
        for (RunTrace.Span span : run.spans()) {
            ran[span.instruction()] = span;
            if (span.allocated() > 0) {
                changes.add(new Change(span.started(), span.allocated()));
            }
            if (span.freed() > 0) {
                changes.add(new Change(span.ended(), -span.freed()));
            }
        }
        for (TracedPlan.Value value : run.plan().values()) {
            RunTrace.Span first = ran[value.computedBy()];
            if (first != null) {
                long to = value.wanted() ? run.ended() : first.ended();
                for (int user : value.usedBy()) {
                    to = Math.max(to, ran[user] == null ? 0 : ran[user].ended());
                }
                held.add(new Held(value, first.started(), to));
            }
        }
        run.nested().forEach(each -> collect(each, held, changes));
    }

    long peakBytes() {
        return peak < 0 ? 0 : bytes[peak];
    }
}
