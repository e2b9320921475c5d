package io.seriatim.device;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a device's memory. Closing frees it once what was launched with it is done: there is no need to wait
 * first. One that becomes unreachable without being closed is freed too, at one of the next allocations.
 */
public final class Buffer implements AutoCloseable {
    /** Instead of a number of changes. */
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
    // Made once: kernels ask for it at every run, and are to allocate nothing.
    private final MemorySegment view;
    /** Of a declared one the buffer that it stands for, which it keeps reachable; else null. */
    private final @Nullable Buffer whole;
    /**
     * Of a buffer itself. The bytes' readers are ordered with their writers by whoever has both, and so is this with
     * them: plain accesses but for the sum.
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
     * How often its bytes have been changed, for those who keep something that was made of them. Whoever is handed the
     * bytes by {@link #segment()} or {@link #address()} may keep them and write when they like: from then on it is
     * unknown for good.
     *
     * @return a number that grows with each change; {@link #UNKNOWN} if there may be changes that it does not count
     */
    public long changes() {
        return whole == null ? changes : whole.changes;
    }

    /** Counts a change. For those who write through {@link #declared()}, before others may look. */
    public void changed() {
        Buffer counted = whole == null ? this : whole;
        long seen = counted.changes;
        while (seen >= 0 && !CHANGES.compareAndSet(counted, seen, seen + 1)) {
            seen = (long) CHANGES.getVolatile(counted);
        }
    }

    /**
     * The same memory for code that hands its bytes to no one else, and either only reads them or calls
     * {@link #changed()} for what it writes: its uses leave {@link #changes()} known.
     *
     * @return open and closed with this one, which it keeps reachable
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
     * Its size.
     *
     * @return in bytes, as asked for
     */
    public long bytes() {
        return bytes;
    }

    /**
     * Where it is.
     *
     * @return the device
     */
    public Device device() {
        return allocator.device();
    }

    /**
     * Whether it may be used.
     *
     * @return false once it is closed
     */
    public boolean isOpen() {
        return lease.isOpen();
    }

    /**
     * Names it in messages about memory.
     *
     * @param label
     *            what it holds
     * @return this
     */
    public Buffer label(String label) {
        lease.label = label;
        return this;
    }

    /**
     * The bytes themselves. On a device with its own address space this works only inside work that was launched there
     * and declared the buffer; there it works also after the buffer was closed, since the memory waits for that work.
     *
     * <p>
     * The segment does not keep the buffer reachable, and an unreachable buffer's memory is given to others: code that
     * does not use the buffer after the segment ends with {@link java.lang.ref.Reference#reachabilityFence}.
     *
     * @return a segment of {@link #bytes()} bytes, to be used no longer than the buffer is open and reachable
     * @throws IllegalStateException
     *             if it is closed, or host code touches an accelerator's memory
     */
    public MemorySegment segment() {
        expose();
        return allocator.memory().view(this);
    }

    /**
     * Where the bytes begin, under the conditions of {@link #segment()}.
     *
     * @return an address, a multiple of 64
     * @throws IllegalStateException
     *             if it is closed, or host code touches an accelerator's memory
     */
    public long address() {
        expose();
        return allocator.memory().address(this);
    }

    /**
     * Tells the race detector, if this memory has ever been used by a device that has one, that host code now reads or
     * writes these bytes. Work that is launched later must have heard of it: from this thread, or by an event.
     *
     * @param operation
     *            a name for the message
     * @param offset
     *            the first byte
     * @param length
     *            how many
     * @param write
     *            whether they are written
     * @throws DataRaceException
     *             if a device's work on these bytes has not been waited for
     */
    public void hostAccess(String operation, long offset, long length, boolean write) {
        Shadow shadow = block.shadow;
        if (shadow != null) {
            shadow.hostAccess(operation, offset, length, write);
        }
    }

    /**
     * Asks the race detector, if this memory has ever been used by a device that has one, whether host code may now
     * read or write these bytes. Unlike {@link #hostAccess} the access is not remembered: for callers that order it
     * with later work themselves, as an engine does.
     *
     * @param operation
     *            a name for the message
     * @param offset
     *            the first byte
     * @param length
     *            how many
     * @param write
     *            whether they are written
     * @throws DataRaceException
     *             if a device's work on these bytes has not been waited for
     */
    public void hostCheck(String operation, long offset, long length, boolean write) {
        Shadow shadow = block.shadow;
        if (shadow != null) {
            shadow.hostCheck(operation, offset, length, write);
        }
    }

    /**
     * Makes the race detector, if this memory has ever been used by a device that has one, forget the accesses that the
     * calling thread has waited for: other threads that get the buffer from this one need not wait for the same events
     * again. For callers who hand memory from thread to thread, as at the end of a run.
     */
    public void settle() {
        Shadow shadow = block.shadow;
        if (shadow != null) {
            shadow.settle();
        }
    }

    /**
     * Says that work on a stream uses it, so that closing it waits for that work. {@link Stream#launch} and
     * {@link Stream#copy} do this.
     *
     * @param stream
     *            of any device
     */
    public void usedOn(Stream stream) {
        requireOpen();
        allocator.usedOn(block, stream);
    }

    Block block() {
        return block;
    }

    /** Its bytes, whoever asks. */
    MemorySegment view() {
        return view;
    }

    Lease lease() {
        return lease;
    }

    void requireOpen() {
        if (!lease.isOpen()) {
            throw new IllegalStateException("The buffer " + this + " is closed: use it before closing it");
        }
    }

    /** Frees the memory after the work that uses it. Does nothing the second time. */
    @Override
    public void close() {
        allocator.free(lease);
    }

    /**
     * A readable form.
     *
     * @return its label, size and place
     */
    @Override
    public String toString() {
        @Nullable
        String label = lease.label;
        return (label == null ? "" : "'" + label + "' ") + "of " + bytes + " bytes at " + device().place();
    }
}
