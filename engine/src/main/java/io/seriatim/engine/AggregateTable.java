package io.seriatim.engine;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Aggregates operations by {@linkplain OpBuilder#kind(String) kind}, by default the first word of their names: their
 * number, their total running time, and percentiles of it, accurate to one eighth of the value. Created by
 * {@link Recorder#aggregate}.
 */
public final class AggregateTable implements Recorder {
    /** Each power of two has this many buckets. */
    private static final int STEPS = 8;
    private static final int BUCKETS = 64 * STEPS;

    private final ConcurrentHashMap<String, Counts> byKind = new ConcurrentHashMap<>();

    AggregateTable() {
    }

    /**
     * The figures of the operations of one kind.
     *
     * @param name
     *            their kind
     * @param count
     *            the number of operations that have ended
     * @param totalNanos
     *            the sum of their running times, in nanoseconds
     * @param dependencyWaitNanos
     *            the total time, in nanoseconds, that they waited for other operations
     * @param queueWaitNanos
     *            the total time, in nanoseconds, that they waited for a worker
     * @param p50Nanos
     *            the median running time, in nanoseconds
     * @param p99Nanos
     *            the 99th percentile of the running time, in nanoseconds
     */
    public record Row(String name, long count, long totalNanos, long dependencyWaitNanos, long queueWaitNanos,
            long p50Nanos,
            long p99Nanos) {
    }

    /** The counters of one kind. */
    private static final class Counts {
        final LongAdder total = new LongAdder();
        final LongAdder dependencyWait = new LongAdder();
        final LongAdder queueWait = new LongAdder();
        final AtomicLongArray buckets = new AtomicLongArray(BUCKETS);

        long percentile(long count, double share) {
            long before = 0;
            for (int i = 0; i < BUCKETS; i++) {
                before += buckets.get(i);
                if (before >= Math.ceil(count * share)) {
                    return upperEnd(i);
                }
            }
            return 0;
        }

        Row row(String name) {
            long count = 0;
            for (int i = 0; i < BUCKETS; i++) {
                count += buckets.get(i);
            }
            return new Row(name, count, total.sum(), dependencyWait.sum(), queueWait.sum(), percentile(count, 0.5),
                    percentile(count, 0.99));
        }
    }

    private static int bucketOf(long nanos) {
        if (nanos < STEPS) {
            return (int) Math.max(0, nanos);
        }
        int power = 63 - Long.numberOfLeadingZeros(nanos);
        return (power - 2) * STEPS + (int) (nanos >>> (power - 3)) - STEPS;
    }

    private static long upperEnd(int bucket) {
        if (bucket < STEPS) {
            return bucket;
        }
        int power = bucket / STEPS + 2;
        long first = (long) (bucket % STEPS + STEPS) << (power - 3);
        return first + (1L << (power - 3)) - 1;
    }

    @Override
    public void ended(OpRecord op) {
        Counts counts = byKind.get(op.group());
        if (counts == null) {
            counts = byKind.computeIfAbsent(op.group(), kind -> new Counts());
        }
        long ran = op.ended() - op.started();
        counts.total.add(ran);
        counts.dependencyWait.add(op.ready() - op.pushed());
        counts.queueWait.add(op.started() - op.ready());
        counts.buckets.getAndIncrement(bucketOf(ran));
    }

    /**
     * Returns the figures up to now.
     *
     * @return one row for each kind, the greatest total running time first
     */
    public List<Row> rows() {
        return byKind.entrySet().stream().map(e -> e.getValue().row(e.getKey()))
                .sorted(Comparator.comparingLong(Row::totalNanos).reversed()).toList();
    }

    /**
     * Formats the figures as a table.
     *
     * @return a header line and one line for each kind; times are in microseconds
     */
    @Override
    public String toString() {
        StringBuilder table = new StringBuilder(
                String.format(Locale.ROOT, "%-32s %12s %14s %12s %12s %14s %14s", "kind", "count", "total µs",
                        "p50 µs", "p99 µs",
                        "waited deps µs", "in queue µs"));
        for (Row row : rows()) {
            table.append(System.lineSeparator())
                    .append(String.format(Locale.ROOT, "%-32s %12d %14.1f %12.2f %12.2f %14.1f %14.1f", row.name,
                            row.count,
                            row.totalNanos / 1e3, row.p50Nanos / 1e3, row.p99Nanos / 1e3, row.dependencyWaitNanos / 1e3,
                            row.queueWaitNanos / 1e3));
        }
        return table.toString();
    }
}
