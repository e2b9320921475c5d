package io.seriatim.device;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A range of a device's memory. After {@link #close} the memory is freed as soon as the work launched with it is done,
 * so the caller need not wait first. An unreachable buffer that was not closed is freed during a later allocation.
 */
public final class Buffer implements AutoCloseable {
    /** The value of {@link #changes()} if changes may not have been counted. */
    public static final long UNKNOWN = -1;

    private static final VarHandle CHANGES;

    static {
        try {
            CHANGES = MethodHandles.lookup().findVarHandle(Buffer.class, "changes", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final CachingAllocator allocator;
    private final Lease lease;
    private final Block block;
    private final long bytes;
    // Created once, because kernels request it in every run and must not allocate.
    private final MemorySegment view;
    /** For a buffer created by {@link #declared()}, the original buffer, which it keeps reachable; otherwise null. */
    private final @Nullable Buffer whole;
    /**
     * The counter of an original buffer. The code that reads and writes the bytes orders these accesses, and thereby
     * the accesses to this field, so plain accesses suffice except for the increment.
     */
    private long changes;

    Buffer(CachingAllocator allocator, Block block, long bytes) {
        this.allocator = allocator;
        this.block = block;
        this.bytes = bytes;
        this.view = block.segment.asSlice(0, bytes);
        this.lease = new Lease(this, block, allocator.unreachable(), bytes);
        this.whole = null;
    }

    private Buffer(Buffer whole) {
        this.allocator = whole.allocator;
        this.block = whole.block;
        this.bytes = whole.bytes;
        this.view = whole.view;
        this.lease = whole.lease;
        this.whole = whole;
    }

    /**
     * Returns how often the bytes have been changed, so that callers can cache data derived from them. A caller of
     * {@link #segment()} or {@link #address()} may write at any later time, so after such a call the number is unknown
     * for ever.
     *
     * @return a number that increases with each change, or {@link #UNKNOWN} if there may be uncounted changes
     */
    public long changes() {
        return whole == null ? changes : whole.changes;
    }

    /**
     * Counts a change. Code that writes through {@link #declared()} must call this before other code may read the
     * bytes.
     */
    public void changed() {
        Buffer counted = whole == null ? this : whole;
        long seen = counted.changes;
        while (seen >= 0 && !CHANGES.compareAndSet(counted, seen, seen + 1)) {
            seen = (long) CHANGES.getVolatile(counted);
        }
    }

    /**
     * Returns the same memory for code that passes its bytes to no other code, and that either only reads them or calls
     * {@link #changed()} after writes. Uses of the returned buffer leave {@link #changes()} known.
     *
     * @return a buffer that shares the state of this one and keeps it reachable
     */
    public Buffer declared() {
        return whole == null ? new Buffer(this) : this;
    }

    private void expose() {
        if (whole == null && changes != UNKNOWN) {
            CHANGES.setVolatile(this, UNKNOWN);
        }
    }

    /**
     * Returns the size.
     *
     * @return the requested number of bytes
     */
    public long bytes() {
        return bytes;
    }

    /**
     * Returns the device that the memory belongs to.
     *
     * @return the device
     */
    public Device device() {
        return allocator.device();
    }

    /**
     * Returns whether the buffer is open.
     *
     * @return false after {@link #close}
     */
    public boolean isOpen() {
        return lease.isOpen();
    }

    /**
     * Sets a label for messages about memory.
     *
     * @param label
     *            describes the contents
     * @return this
     */
    public Buffer label(String label) {
        lease.label = label;
        return this;
    }

    /**
     * Returns the bytes. On a device with its own address space this works only inside launched work that has declared
     * the buffer. Inside such work it also works after the buffer was closed, because the memory is freed after that
     * work.
     *
     * <p>
     * The segment does not keep the buffer reachable, and the memory of an unreachable buffer is reused. Code that uses
     * only the segment must call {@link java.lang.ref.Reference#reachabilityFence} on the buffer after the last use.
     *
     * @return a segment of {@link #bytes()} bytes, which is valid while the buffer is open and reachable
     * @throws IllegalStateException
     *             if the buffer is closed, or host code accesses an accelerator's memory
     */
    public MemorySegment segment() {
        expose();
        return allocator.memory().view(this, view);
    }

    /**
     * Returns the address of the index of the first byte, under the conditions of {@link #segment()}.
     *
     * @return the address, a multiple of 64
     * @throws IllegalStateException
     *             if the buffer is closed, or host code accesses an accelerator's memory
     */
    public long address() {
        expose();
        return allocator.memory().address(this, view);
    }

    /**
     * Reports an access of host code to the race detector, if a device with a race detector has ever used this memory.
     * Work that is launched later must be ordered after the access, by this thread or by an event.
     *
     * @param operation
     *            the name of the access in error messages
     * @param offset
     *            the index of the first byte
     * @param length
     *            the number of bytes
     * @param write
     *            whether the bytes are written
     * @throws DataRaceException
     *             if work of a device on these bytes is not ordered before this access
     */
    public void hostAccess(String operation, long offset, long length, boolean write) {
        Shadow shadow = block.shadow;
        if (shadow != null) {
            shadow.hostAccess(operation, offset, length, write);
        }
    }

    /**
     * Checks with the race detector, if a device with a race detector has ever used this memory, whether host code may
     * access these bytes now. Unlike {@link #hostAccess}, this does not record the access: it is for callers that order
     * the access with later work themselves, as an engine does.
     *
     * @param operation
     *            the name of the access in error messages
     * @param offset
     *            the index of the first byte
     * @param length
     *            the number of bytes
     * @param write
     *            whether the bytes are written
     * @throws DataRaceException
     *             if work of a device on these bytes is not ordered before this access
     */
    public void hostCheck(String operation, long offset, long length, boolean write) {
        Shadow shadow = block.shadow;
        if (shadow != null) {
            shadow.hostCheck(operation, offset, length, write);
        }
    }

    /**
     * Makes the race detector, if a device with a race detector has ever used this memory, forget the accesses that
     * happened before this call. Threads that receive the buffer from this one need not wait for the same events again.
     * For callers that pass memory between threads, as at the end of a run.
     */
    public void settle() {
        Shadow shadow = block.shadow;
        if (shadow != null) {
            shadow.settle();
        }
    }

    /**
     * Records that work on a stream uses the buffer, so that its memory is not reused before that work is done.
     * {@link Stream#launch} and {@link Stream#copy} call this.
     *
     * @param stream
     *            a stream of any device
     */
    public void usedOn(Stream stream) {
        requireOpen();
        allocator.usedOn(block, stream);
    }

    Block block() {
        return block;
    }

    /** The bytes, without a check of the caller. */
    MemorySegment view() {
        return view;
    }

    Lease lease() {
        return lease;
    }

    /**
     * Checks that the buffer is open. Streams call this when work is launched.
     *
     * @throws IllegalStateException
     *             if the buffer is closed
     */
    public void requireOpen() {
        if (!lease.isOpen()) {
            throw new IllegalStateException("The buffer " + this + " is closed: close it after its last use");
        }
    }

    /** Frees the memory, after the work that uses it. A second call has no effect. */
    @Override
    public void close() {
        allocator.free(lease);
    }

    /**
     * Describes the buffer.
     *
     * @return its label, size and device
     */
    @Override
    public String toString() {
        @Nullable
        String label = lease.label;
        return (label == null ? "" : "'" + label + "' ") + "of " + bytes + " bytes at " + device().place();
    }
}
