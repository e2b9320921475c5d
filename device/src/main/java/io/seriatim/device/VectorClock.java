package io.seriatim.device;

import java.util.Arrays;

/**
 * A vector clock: for each stream and host thread, the latest time that its owner is ordered after (Mattern, Virtual
 * Time and Global States of Distributed Systems, 1988). Guarded by the detector's lock.
 */
final class VectorClock {
    private long[] times;

    VectorClock() {
        this(new long[0]);
    }

    private VectorClock(long[] times) {
        this.times = times;
    }

    long time(int id) {
        return id < times.length ? times[id] : 0;
    }

    void tick(int id) {
        reach(id + 1);
        times[id]++;
    }

    void join(VectorClock other) {
        reach(other.times.length);
        for (int i = 0; i < other.times.length; i++) {
            times[i] = Math.max(times[i], other.times[i]);
        }
    }

    VectorClock copy() {
        return new VectorClock(times.clone());
    }

    private void reach(int length) {
        if (times.length < length) {
            times = Arrays.copyOf(times, length);
        }
    }
}
