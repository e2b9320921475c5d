package io.seriatim.tensor.onednn;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.tensor.internal.ffi.Dnnl;
import io.seriatim.tensor.internal.ffi.MemoryDescriptor;
import io.seriatim.tensor.internal.ffi.MemoryObject;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The native objects of a kernel. They are destroyed in the opposite order of their creation, after the kernel is
 * closed or unreachable and the last use has ended. Each frame of a run is a use from its creation until it is retired,
 * and so is the creation of primitives. Closing refuses new uses, then has the idle frames retired. A run that ends
 * after that retires its frame itself: it gives the frame back first and then looks at {@code closed}, while closing
 * sets {@code closed} first and then looks for idle frames, so that one of the two finds the frame. The last use to end
 * releases everything.
 */
final class Handles implements Runnable {
    @GuardedBy("this")
    private final Deque<Runnable> releases = new ArrayDeque<>();
    @GuardedBy("this")
    private final List<Runnable> retirements = new ArrayList<>();
    @GuardedBy("this")
    private int uses;
    private volatile boolean closed;

    /** Registers a release for the end, or releases at once if the end has come already. */
    void onEnd(Runnable release) {
        synchronized (this) {
            if (!closed || uses > 0) {
                releases.push(release);
                return;
            }
        }
        release.run();
        throw closed();
    }

    /** Registers an action that ends idle uses when the kernel is closed. */
    synchronized void onClose(Runnable retirement) {
        retirements.add(retirement);
    }

    /**
     * A use began after the handles were released. It has done nothing; a kernel that is not closed creates new
     * handles.
     */
    static final class ClosedException extends IllegalStateException {
        private static final long serialVersionUID = 1;

        ClosedException() {
            super("The kernel is closed: prepare it again");
        }
    }

    private static ClosedException closed() {
        return new ClosedException();
    }

    boolean isClosed() {
        return closed;
    }

    /** Nothing is released before {@link #endUse}. */
    synchronized void use() {
        if (closed) {
            throw closed();
        }
        uses++;
    }

    synchronized void endUse() {
        uses--;
        releaseUnused();
    }

    @GuardedBy("this")
    private void releaseUnused() {
        while (closed && uses == 0 && !releases.isEmpty()) {
            releases.pop().run();
        }
    }

    /** Takes ownership of a descriptor. */
    MemoryDescriptor owned(Dnnl dnnl, MemoryDescriptor.Owned descriptor) {
        onEnd(() -> dnnl.destroy(descriptor));
        return descriptor;
    }

    /** Takes ownership of a memory object. */
    MemoryObject owned(Dnnl dnnl, MemoryObject memory) {
        onEnd(() -> dnnl.destroy(memory));
        return memory;
    }

    @Override
    public void run() {
        List<Runnable> idle;
        synchronized (this) {
            closed = true;
            idle = List.copyOf(retirements);
            retirements.clear();
        }
        idle.forEach(Runnable::run);
        synchronized (this) {
            releaseUnused();
        }
    }
}
