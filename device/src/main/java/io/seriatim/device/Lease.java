package io.seriatim.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import org.jspecify.annotations.Nullable;

/** The phantom reference of a buffer, and a node of the allocator's list of open buffers. */
final class Lease extends PhantomReference<Buffer> {
    private static final VarHandle OPEN;

    static {
        try {
            OPEN = MethodHandles.lookup().findVarHandle(Lease.class, "open", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Block block;
    final long bytes;
    // The neighbours in the list, guarded by the allocator's lock.
    @Nullable
    Lease previous;
    @Nullable
    Lease next;
    volatile @Nullable String label;
    private volatile boolean open = true;

    Lease(Buffer buffer, Block block, ReferenceQueue<Buffer> unreachable, long bytes) {
        super(buffer, unreachable);
        this.block = block;
        this.bytes = bytes;
    }

    boolean isOpen() {
        return open;
    }

    /** Ends the lease; returns true for the first caller only. */
    boolean end() {
        return open && OPEN.compareAndSet(this, true, false);
    }
}
