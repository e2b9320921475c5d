package io.seriatim.device;

import java.util.Locale;

/** The host. Its streams run work immediately in the calling thread. */
final class HostDevice implements Device {
    private final CachingAllocator allocator;
    private final HostStream stream;

    HostDevice(long memoryLimit) {
        allocator = new CachingAllocator(this, new HostMemory(), memoryLimit);
        stream = new HostStream(this, "cpu");
        stream.open(allocator.newCache(stream));
    }

    @Override
    public Place place() {
        return Place.CPU;
    }

    @Override
    public String description() {
        long limit = allocator.stats().limit();
        return String.format(Locale.ROOT, "%d processors, %s", Runtime.getRuntime().availableProcessors(),
                limit == Long.MAX_VALUE
                        ? "unlimited memory"
                        : String.format(Locale.ROOT, "%.1f GiB", limit / (double) (1L << 30)));
    }

    @Override
    public Buffer allocate(long bytes) {
        return allocator.allocate(bytes, stream.cache());
    }

    @Override
    public Buffer allocate(long bytes, Stream on) {
        if (!(on instanceof HostStream) || on.device() != this) {
            throw new IllegalArgumentException(
                    "The stream '" + on.name() + "' is of " + on.device().place() + ", not of " + place());
        }
        // Work is done when its launch returns, so all streams can share one cache.
        return allocate(bytes);
    }

    @Override
    public Stream defaultStream() {
        return stream;
    }

    @Override
    public Stream newStream(String name) {
        HostStream made = new HostStream(this, name);
        made.open(stream.cache());
        return made;
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
        trim();
    }
}
