package io.seriatim.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.util.AccumulatorV2;
import org.jspecify.annotations.Nullable;

/**
 * The latest events of rank 0. Spark sends accumulators of running tasks to the driver with each heartbeat of their
 * executor, and shows their values.
 *
 * <p>
 * Heartbeats send the whole value again each time, so that it is limited: events that no heartbeat has brought to the
 * driver are lost if {@value #MOST} others follow them. The task adds events while the thread of heartbeats writes this
 * object, which therefore has nothing but a reference to an immutable value.
 *
 * <p>
 * While a task reads this object from a stream, Spark registers it with the task before the reference is set, and that
 * thread may call it: the reference is null until then. A failure would end all heartbeats of the executor.
 */
final class RankEvents extends AccumulatorV2<RankEvent, RankEvents.Latest> {
    static final int MOST = 2000;

    private static final long serialVersionUID = 1;
    private static final Latest NONE = new Latest(new ArrayList<>());

    private volatile @Nullable Latest latest = NONE;

    /**
     * A value.
     *
     * @param events
     *            the oldest first; never changed
     */
    record Latest(ArrayList<RankEvent> events) implements Serializable {
        private static final long serialVersionUID = 1;

        Latest with(List<RankEvent> more) {
            ArrayList<RankEvent> all = new ArrayList<>(events);
            all.addAll(more);
            return new Latest(all.size() <= MOST ? all : new ArrayList<>(all.subList(all.size() - MOST, all.size())));
        }

        /** For Spark's pages and logs. */
        @Override
        public String toString() {
            return events.isEmpty() ? "nothing yet" : events.getLast().toString();
        }
    }

    @Override
    public boolean isZero() {
        return value().events().isEmpty();
    }

    @Override
    public RankEvents copy() {
        RankEvents copy = new RankEvents();
        copy.latest = value();
        return copy;
    }

    @Override
    public void reset() {
        latest = NONE;
    }

    @Override
    public synchronized void add(RankEvent event) {
        latest = value().with(List.of(event));
    }

    /** Only rank 0 has events. */
    @Override
    public synchronized void merge(AccumulatorV2<RankEvent, Latest> other) {
        latest = value().with(other.value().events());
    }

    @Override
    public Latest value() {
        Latest now = latest;
        return now == null ? NONE : now;
    }
}
