package io.seriatim.tensor.onednn;

import io.seriatim.tensor.internal.ffi.Dnnl;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * The number of OpenMP threads that primitives use. OpenMP keeps it for each thread of the operating system. For a
 * platform thread the number is cached here and set only when it differs. A virtual thread may continue on another
 * carrier after it has blocked, and other virtual threads change the number of a carrier: nothing can be cached for it.
 * It sets the number directly before each primitive that it runs, without blocking in between. Creating primitives
 * takes locks, so that a platform thread does it for a virtual one.
 */
final class ThreadCount {
    private static final ThreadLocal<int[]> CURRENT = ThreadLocal.withInitial(() -> new int[1]);

    private ThreadCount() {
    }

    /** Sets the number before a run, unless it must be set before each primitive: then the result is true. */
    static boolean isSetEachTime(Dnnl dnnl, int threads) {
        if (Thread.currentThread().isVirtual()) {
            return true;
        }
        int[] current = CURRENT.get();
        if (current[0] != threads) {
            dnnl.setThreads(threads);
            current[0] = threads;
        }
        return false;
    }

    /**
     * Creates something with a number of threads: the library plans primitives for as many threads as the creating
     * thread may use.
     */
    static <T> T with(Dnnl dnnl, int threads, Supplier<T> made) {
        if (!isSetEachTime(dnnl, threads)) {
            return made.get();
        }
        CompletableFuture<T> result = CompletableFuture.supplyAsync(() -> {
            dnnl.setThreads(threads);
            return made.get();
        }, body -> Thread.ofPlatform().daemon().name("seriatim-onednn-make").start(body));
        try {
            return result.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw e.getCause() instanceof RuntimeException failure ? failure : e;
        }
    }
}
