package io.seriatim.tensor.onednn;

import io.seriatim.tensor.internal.ffi.Dnnl;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * How many OpenMP threads primitives use. OpenMP keeps that number for each thread of the operating system. A platform
 * thread is one of them, so the number is remembered here and set only when it differs. A virtual thread runs on one
 * carrier now and on another one after it has blocked, and other virtual threads set other numbers there meanwhile:
 * nothing can be remembered for it. It sets the number directly before each primitive that it runs, without anything in
 * between that blocks, and has primitives made, which takes locks, by a platform thread.
 */
final class ThreadCount {
    private static final ThreadLocal<int[]> CURRENT = ThreadLocal.withInitial(() -> new int[1]);

    private ThreadCount() {
    }

    /** Before a run. Whether the number must be set again before each of its primitives: then it is not set here. */
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
     * What is made with a number of threads: the library plans primitives for as many as the thread that makes them may
     * use.
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
