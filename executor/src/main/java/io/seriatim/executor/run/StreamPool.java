package io.seriatim.executor.run;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.device.Devices;
import io.seriatim.device.Stream;
import io.seriatim.executor.schedule.Streams;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A thread-safe pool of an executor's idle streams. Streams are pooled because opening one starts a thread or more. A
 * stream in the pool has no pending work.
 */
public final class StreamPool implements AutoCloseable {
    private final Devices devices;
    @GuardedBy("this")
    private final Map<Streams.Key, Deque<Stream>> idle = new HashMap<>();
    @GuardedBy("this")
    private boolean closed;

    public StreamPool(Devices devices) {
        this.devices = devices;
    }

    Stream take(Streams.Key key) {
        synchronized (this) {
            Deque<Stream> there = idle.get(key);
            if (there != null && !there.isEmpty()) {
                return there.pop();
            }
        }
        return devices.get(key.place()).newStream("plan " + key);
    }

    void giveBack(Streams.Key key, Stream stream) {
        synchronized (this) {
            if (!closed) {
                idle.computeIfAbsent(key, _ -> new ArrayDeque<>()).push(stream);
                return;
            }
        }
        stream.close();
    }

    /** Closes all idle streams. Streams that are returned later are closed then. */
    @Override
    public void close() {
        List<Stream> all = new ArrayList<>();
        synchronized (this) {
            closed = true;
            idle.values().forEach(all::addAll);
            idle.clear();
        }
        all.forEach(Stream::close);
    }
}
