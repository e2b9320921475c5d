package io.seriatim.device;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a device's memory. Closing frees it once what was launched with it is done: there is no need to wait first. One that becomes unreachable without being closed is
 * freed too, at one of the next allocations.
 */
public final class Buffer implements AutoCloseable {
    private final CachingAllocator allocator;
    private final Lease lease;
    private final Block block;
    private final long bytes;
    // Made once: kernels ask for it at every run, and are to allocate nothing.
    private final MemorySegment view;

    Buffer(CachingAllocator allocator, Block block, long bytes) {
        this.allocator = allocator;
        this.block = block;
        this.bytes = bytes;
        this.view = block.segment.asSlice(0, bytes);
        this.lease = new Lease(this, block, allocator.unreachable(), bytes);
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
     * The bytes themselves. On a device with its own address space this works only inside work that was launched there and declared the buffer; there it works also after the buffer was
     * closed, since the memory waits for that work.
     *
     * @return a segment of {@link #bytes()} bytes, to be used no longer than the buffer is open
     * @throws IllegalStateException
     *             if it is closed, or host code touches an accelerator's memory
     */
    public MemorySegment segment() {
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
        return allocator.memory().address(this);
    }

    /**
     * Tells the race detector, if this memory has ever been used by a device that has one, that host code now reads or writes these bytes. Work that is launched later must have heard of it: from this
     * thread, or by an event.
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
     * Asks the race detector, if this memory has ever been used by a device that has one, whether host code may now read or write these bytes. Unlike {@link #hostAccess} the access is not
     * remembered: for callers that order it with later work themselves, as an engine does.
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
     * Makes the race detector, if this memory has ever been used by a device that has one, forget the accesses that the calling thread has waited for: other threads that get the buffer from this one need
     * not wait for the same events again. For callers who hand memory from thread to thread, as at the end of a run.
     */
    public void settle() {
        Shadow shadow = block.shadow;
        if (shadow != null) {
            shadow.settle();
        }
    }

    /**
     * Says that work on a stream uses it, so that closing it waits for that work. {@link Stream#launch} and {@link Stream#copy} do this.
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
