package io.seriatim.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An allocator that caches freed blocks for later requests, per stream.
 *
 * <p>
 * Each block belongs to the stream that it was allocated for (its home). A freed block enters that stream's free list
 * at once, even if work that uses it has not run yet: the stream executes in order, so its next use of the block
 * follows that work. If other streams have used the block ("visitors"), an event is recorded on each of them when the
 * block is freed, and the block enters the waiting list. A stream that takes a block from the waiting list, after the
 * events are done, also waits for the events. That wait costs nothing by then, and informs the race detector of the
 * order.
 *
 * <p>
 * On the host the cache holds at most the peak of the used memory plus {@link #KEPT}. Without this limit, blocks of
 * every size would accumulate when sizes vary from run to run. Beyond the limit, a quarter of it is released to the
 * system, beginning with the size classes that were least recently requested.
 *
 * <p>
 * When memory runs out, the allocator releases cached blocks, each after its stream's work, and then requests a garbage
 * collection, which frees unreachable buffers. Only then does the request fail. The allocator calls no stream, event or
 * raw memory while it holds the lock.
 *
 * <p>
 * A {@link Device} makes one allocator for its memory, and a {@link StreamCache} for each of its streams.
 */
public final class CachingAllocator {
    private static final int LISTED = 5;
    private static final int COLLECTIONS = 3;
    private static final long COLLECTION_MILLIS = 30;
    private static final long FIRST_COLLECTION = 256L << 20;
    /** The minimum of the cache limit, in bytes. */
    static final long KEPT = 32L << 20;
    /** After releasing this many bytes, the allocator asks the C library to trim its own caches. */
    private static final long TRIMMED = 32L << 20;

    private final Device device;
    private final DeviceMemory memory;
    private final long limit;
    private final ReferenceQueue<Buffer> unreachable = new ReferenceQueue<>();
    private final Object lock = new Object();
    /** All open buffers, the newest first. */
    @GuardedBy("lock")
    private @Nullable Lease open;
    @GuardedBy("lock")
    private final List<StreamCache> caches = new ArrayList<>();
    /** Blocks whose visitors may still be using them. */
    @GuardedBy("lock")
    private final List<Block> waiting = new ArrayList<>();
    @GuardedBy("lock")
    private long used;
    @GuardedBy("lock")
    private long taken;
    @GuardedBy("lock")
    private long peak;
    @GuardedBy("lock")
    private long buffers;
    @GuardedBy("lock")
    private long givenBack;
    /**
     * The number of used bytes from which the allocator requests a garbage collection before it takes more memory. The
     * collector does not know how much native memory its small objects hold.
     */
    @GuardedBy("lock")
    private long collectAt = FIRST_COLLECTION;

    /**
     * Makes an allocator that has allocated nothing yet.
     *
     * @param device
     *            the device of the memory; it need not be complete yet
     * @param memory
     *            the source of the memory
     * @param limit
     *            the maximum number of bytes in buffers and caches; {@link Long#MAX_VALUE} if only the source limits it
     */
    public CachingAllocator(Device device, DeviceMemory memory, long limit) {
        this.device = device;
        this.memory = memory;
        this.limit = limit;
    }

    Device device() {
        return device;
    }

    DeviceMemory memory() {
        return memory;
    }

    /**
     * Returns the bytes of a buffer without any check, for work that a stream has accepted: the buffer may be closed
     * meanwhile, because its memory is freed after that work. Only code of devices may call this, for instance to copy
     * between the host's memory and their own. Access to a segment of memory that the host cannot access ends the
     * process.
     *
     * @param buffer
     *            a buffer of any device
     * @return its bytes
     */
    public MemorySegment bytes(Buffer buffer) {
        return buffer.view();
    }

    ReferenceQueue<Buffer> unreachable() {
        return unreachable;
    }

    /**
     * Makes the cache of a new stream.
     *
     * @param stream
     *            a stream of this device
     * @return the cache, which the stream keeps for {@link #allocate}
     */
    public StreamCache newCache(Stream stream) {
        StreamCache cache = new StreamCache(stream);
        synchronized (lock) {
            caches.add(cache);
        }
        return cache;
    }

    /**
     * Closes the cache of a stream that receives no more work: other streams may use its blocks after that work.
     *
     * @param cache
     *            the cache of a stream that can still record an event
     */
    public void close(StreamCache cache) {
        List<Block> left = new ArrayList<>();
        synchronized (lock) {
            caches.remove(cache);
            cache.open = false;
            takeAll(cache, left);
        }
        if (!left.isEmpty()) {
            List<Event> end = List.of(cache.stream.mark());
            synchronized (lock) {
                for (Block block : left) {
                    block.pending = end;
                    waiting.add(block);
                }
            }
        }
    }

    /**
     * Allocates memory for work on a stream, as {@link Device#allocate(long, Stream)} specifies.
     *
     * @param bytes
     *            the size in bytes, at least 0
     * @param cache
     *            the cache of the stream
     * @return the buffer
     * @throws IllegalArgumentException
     *             if the size is negative
     * @throws DeviceMemoryException
     *             if not enough memory is available
     */
    public Buffer allocate(long bytes, StreamCache cache) {
        if (bytes < 0) {
            throw new IllegalArgumentException("The size of a buffer must be 0 bytes or more, but is " + bytes);
        }
        freeUnreachable();
        if (bytes > limit) {
            throw exhausted(bytes);
        }
        long size = SizeClass.round(bytes);
        if (size > limit) {
            size = bytes + 63 & -64L;
        }
        Buffer quick = cachedBuffer(bytes, size, cache);
        return quick != null ? quick : slowly(bytes, size, cache);
    }

    /** The fast path: reuses a block that this stream has freed. */
    private @Nullable Buffer cachedBuffer(long bytes, long size, StreamCache cache) {
        synchronized (lock) {
            Block block = cache.pop(SizeClass.index(size));
            if (block == null) {
                return null;
            }
            Buffer buffer = new Buffer(this, block, bytes);
            enlist(buffer.lease());
            return buffer;
        }
    }

    private Buffer slowly(long bytes, long size, StreamCache cache) {
        Block block = cached(size, cache);
        if (block == null) {
            block = fresh(size);
        }
        if (block == null) {
            block = afterCollecting(size, cache);
        }
        if (block == null) {
            throw exhausted(bytes);
        }
        List<Event> order = block.pending;
        for (Event event : order) {
            cache.stream.waitFor(event);
        }
        if (!order.isEmpty() && device.place().isHost()) {
            // All work on the block is done, but the thread that will use it may not have observed the events, and on
            // the host no stream passes that order on. So the accesses are forgotten.
            block.shadow = null;
        }
        synchronized (lock) {
            block.pending = List.of();
            block.home = cache;
            Buffer buffer = new Buffer(this, block, bytes);
            enlist(buffer.lease());
            return buffer;
        }
    }

    @GuardedBy("lock")
    private void enlist(Lease lease) {
        lease.next = open;
        if (open != null) {
            open.previous = lease;
        }
        open = lease;
        used += lease.bytes;
        peak = Math.max(peak, used);
        buffers++;
    }

    private @Nullable Block cached(long size, StreamCache cache) {
        synchronized (lock) {
            Block block = cache.pop(SizeClass.index(size));
            if (block == null && !waiting.isEmpty()) {
                block = fromWaiting(size);
            }
            return block;
        }
    }

    @GuardedBy("lock")
    private @Nullable Block fromWaiting(long size) {
        for (int i = 0; i < waiting.size(); i++) {
            Block block = waiting.get(i);
            if (block.size == size && block.pending.stream().allMatch(Event::isDone)) {
                waiting.remove(i);
                return block;
            }
        }
        return null;
    }

    private @Nullable Block fresh(long size) {
        synchronized (lock) {
            if (size > limit - taken || used > collectAt) {
                return null;
            }
            taken += size;
        }
        return take(size);
    }

    /** Takes memory that has already been counted in {@code taken}. */
    private @Nullable Block take(long size) {
        MemorySegment segment = memory.take(size);
        if (segment == null) {
            synchronized (lock) {
                taken -= size;
            }
            return null;
        }
        return new Block(segment, size);
    }

    private @Nullable Block afterCollecting(long size, StreamCache cache) {
        boolean full;
        synchronized (lock) {
            full = size > limit - taken;
        }
        if (full) {
            trim();
        }
        Block block = fresh(size);
        for (int i = 0; block == null && i < COLLECTIONS; i++) {
            collect();
            block = cached(size, cache);
            if (block == null) {
                trim();
                synchronized (lock) {
                    // The memory that is still in use is not garbage.
                    collectAt = Math.max(FIRST_COLLECTION, 2 * used);
                }
                block = fresh(size);
            }
        }
        return block;
    }

    /** Frees unreachable buffers, after a garbage collection and a short wait for its references. */
    private void collect() {
        boolean any;
        synchronized (lock) {
            any = open != null;
        }
        if (!any) {
            return;
        }
        System.gc();
        try {
            Reference<? extends Buffer> first = unreachable.remove(COLLECTION_MILLIS);
            if (first != null) {
                free((Lease) first);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        freeUnreachable();
    }

    private void freeUnreachable() {
        for (Reference<? extends Buffer> lease = unreachable.poll(); lease != null; lease = unreachable.poll()) {
            free((Lease) lease);
        }
    }

    void usedOn(Block block, Stream stream) {
        synchronized (lock) {
            StreamCache home = block.home;
            if (home == null || home.stream.equals(stream) || block.visitors.contains(stream)) {
                return;
            }
            if (block.visitors.isEmpty()) {
                block.visitors = new ArrayList<>(2);
            }
            block.visitors.add(stream);
        }
    }

    void free(Lease lease) {
        if (!lease.end()) {
            return;
        }
        Block block = lease.block;
        List<Block> excess = List.of();
        boolean cached = false;
        synchronized (lock) {
            unlink(lease);
            StreamCache home = block.home;
            if (block.visitors.isEmpty() && home != null && home.open) {
                home.push(block);
                cached = true;
                long most = KEPT + peak;
                if (home.bytes() > most && device.place().isHost()) {
                    excess = new ArrayList<>();
                    home.takeOldest(most - most / 4, excess);
                }
            }
        }
        if (!cached) {
            afterVisitors(block);
        }
        giveBack(excess);
    }

    /**
     * Releases blocks to the system. No work may use them any more; work on the host is done when its buffer is freed.
     */
    private void giveBack(List<Block> blocks) {
        long bytes = 0;
        for (Block block : blocks) {
            memory.giveBack(block.segment);
            bytes += block.size;
        }
        boolean trims = false;
        synchronized (lock) {
            taken -= bytes;
            givenBack += bytes;
            if (givenBack >= TRIMMED) {
                givenBack = 0;
                trims = true;
            }
        }
        if (trims) {
            memory.trim();
        }
    }

    private void afterVisitors(Block block) {
        List<Stream> streams;
        synchronized (lock) {
            streams = new ArrayList<>(block.visitors);
            if (block.home != null) {
                streams.add(block.home.stream);
            }
            block.visitors = List.of();
            block.home = null;
        }
        List<Event> events = new ArrayList<>(streams.size());
        for (Stream stream : streams) {
            events.add(stream.mark());
        }
        synchronized (lock) {
            block.pending = events;
            waiting.add(block);
        }
    }

    @GuardedBy("lock")
    private void unlink(Lease lease) {
        if (lease.previous == null) {
            open = lease.next;
        } else {
            lease.previous.next = lease.next;
        }
        if (lease.next != null) {
            lease.next.previous = lease.previous;
        }
        lease.previous = null;
        lease.next = null;
        used -= lease.bytes;
        buffers--;
    }

    /** Releases all blocks that are not in use, after the work that was launched with them. */
    public void trim() {
        List<Block> free = new ArrayList<>();
        List<StreamCache> streams;
        synchronized (lock) {
            streams = List.copyOf(caches);
            for (StreamCache cache : streams) {
                takeAll(cache, free);
            }
            free.addAll(waiting);
            waiting.clear();
        }
        if (free.isEmpty()) {
            return;
        }
        for (StreamCache cache : streams) {
            awaitDone(cache.stream.mark());
        }
        free.forEach(block -> block.pending.forEach(CachingAllocator::awaitDone));
        giveBack(free);
    }

    @GuardedBy("lock")
    private void takeAll(StreamCache cache, List<Block> into) {
        for (int i = 0; i < SizeClass.COUNT; i++) {
            for (Block block = cache.pop(i); block != null; block = cache.pop(i)) {
                into.add(block);
            }
        }
    }

    /** Waits until an event is done. Failed work is done too, and its memory can be reused. */
    private static void awaitDone(Event event) {
        boolean interrupted = false;
        while (!event.isDone()) {
            try {
                event.synchronize();
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (StreamFailedException e) {
                break;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Returns the memory use.
     *
     * @return the figures at this moment
     */
    public MemoryStats stats() {
        synchronized (lock) {
            long cached = 0;
            for (StreamCache cache : caches) {
                cached += cache.bytes();
            }
            for (Block block : waiting) {
                cached += block.size;
            }
            return new MemoryStats(used, cached, peak, limit, buffers);
        }
    }

    /** Frees all buffers, when their device is closed. Its streams must still execute work. */
    public void close() {
        List<Lease> all = new ArrayList<>();
        synchronized (lock) {
            for (Lease lease = open; lease != null; lease = lease.next) {
                all.add(lease);
            }
        }
        all.forEach(this::free);
        trim();
    }

    private DeviceMemoryException exhausted(long bytes) {
        List<Lease> largest = new ArrayList<>();
        long inUse;
        long count;
        synchronized (lock) {
            inUse = used;
            count = buffers;
            for (Lease lease = open; lease != null; lease = lease.next) {
                largest.add(lease);
                if (largest.size() > 4 * LISTED) {
                    keepLargest(largest);
                }
            }
        }
        keepLargest(largest);
        StringBuilder message = new StringBuilder(200);
        message.append(
                String.format(Locale.ROOT, "%s cannot allocate %,d bytes: %,d bytes of %s are in use, in %,d buffers.",
                        device.place(), bytes, inUse,
                        limit == Long.MAX_VALUE
                                ? "the memory that the system granted"
                                : String.format(Locale.ROOT, "%,d", limit),
                        count));
        if (!largest.isEmpty()) {
            message.append(" The largest:");
            for (Lease lease : largest) {
                message.append(
                        String.format(Locale.ROOT, " %s %,d;",
                                lease.label == null ? "(no label)" : "'" + lease.label + "'", lease.bytes));
            }
            message.setCharAt(message.length() - 1, '.');
        }
        message.append(" Close buffers that are not needed, or process smaller pieces.");
        return new DeviceMemoryException(message.toString());
    }

    private static void keepLargest(List<Lease> leases) {
        leases.sort(Comparator.comparingLong((Lease lease) -> lease.bytes).reversed());
        if (leases.size() > LISTED) {
            leases.subList(LISTED, leases.size()).clear();
        }
    }
}
