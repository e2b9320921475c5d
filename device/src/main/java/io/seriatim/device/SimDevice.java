package io.seriatim.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** A simulated accelerator: memory that host code cannot access, and one thread for each stream. */
final class SimDevice implements Device {
    private final Place place;
    private final SimOptions options;
    private final RaceDetector detector;
    private final CachingAllocator allocator;
    private final SimStream defaultStream;
    @GuardedBy("streams")
    private final List<SimStream> streams = new ArrayList<>();
    @GuardedBy("streams")
    private boolean closed;

    SimDevice(Place place, SimOptions options, RaceDetector detector) {
        this.place = place;
        this.options = options;
        this.detector = detector;
        allocator = new CachingAllocator(this, new SimMemory(this), options.memory());
        defaultStream = newStream("default");
    }

    SimOptions options() {
        return options;
    }

    RaceDetector detector() {
        return detector;
    }

    @Override
    public Place place() {
        return place;
    }

    @Override
    public String description() {
        return String.format(Locale.ROOT, "simulated accelerator, %.1f GiB, race detection %s",
                options.memory() / (double) (1L << 30),
                options.raceDetection() ? "on" : "off");
    }

    @Override
    public Buffer allocate(long bytes, Stream on) {
        Objects.requireNonNull(on, "stream");
        if (!(on instanceof SimStream stream) || stream.device() != this) {
            throw new IllegalArgumentException(
                    "The stream '" + on.name() + "' is of " + on.device().place() + ", not of " + place);
        }
        requireOpen();
        return allocator.allocate(bytes, stream.cache());
    }

    @Override
    public Stream defaultStream() {
        return defaultStream;
    }

    @Override
    public SimStream newStream(String name) {
        SimStream stream = new SimStream(this, name);
        stream.open(allocator.newCache(stream));
        synchronized (streams) {
            requireOpen();
            streams.add(stream);
        }
        return stream;
    }

    private void requireOpen() {
        synchronized (streams) {
            if (closed) {
                throw new IllegalStateException("The device " + place + " is closed");
            }
        }
    }

    boolean isDefault(SimStream stream) {
        return stream == defaultStream;
    }

    /** Removes a stream that receives no more work; other streams may use its cached memory. */
    void forget(SimStream stream) {
        allocator.close(stream.cache());
        synchronized (streams) {
            streams.remove(stream);
        }
    }

    @Override
    public MemoryStats memory() {
        return allocator.stats();
    }

    @Override
    public void trim() {
        allocator.trim();
    }

    @Override
    public void close() {
        List<SimStream> all;
        synchronized (streams) {
            if (closed) {
                return;
            }
            closed = true;
            all = List.copyOf(streams);
        }
        allocator.close();
        all.forEach(SimStream::end);
        all.forEach(SimStream::join);
    }
}
