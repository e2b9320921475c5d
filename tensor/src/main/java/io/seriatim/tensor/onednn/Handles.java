package io.seriatim.tensor.onednn;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.tensor.internal.ffi.Dnnl;
import java.util.ArrayDeque;
import java.util.Deque;

/** What a kernel has made in the library, released in the opposite order when the kernel is closed or no one can reach it. */
final class Handles implements Runnable {
    @GuardedBy("this")
    private final Deque<Runnable> releases = new ArrayDeque<>();
    @GuardedBy("this")
    private boolean released;

    /** Keeps a release for the end. */
    synchronized void onEnd(Runnable release) {
        if (released) {
            throw new IllegalStateException("The kernel is closed: prepare it again");
        }
        releases.push(release);
    }

    long description(Dnnl dnnl, long handle) {
        onEnd(() -> dnnl.destroyDescription(handle));
        return handle;
    }

    long memory(Dnnl dnnl, long handle) {
        onEnd(() -> dnnl.destroyMemory(handle));
        return handle;
    }

    @Override
    public synchronized void run() {
        released = true;
        while (!releases.isEmpty()) {
            releases.pop().run();
        }
    }
}
