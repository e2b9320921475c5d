package io.seriatim.benchmarks.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Measures the time from the first push of one or more threads to the end of a wait for all operations. */
final class Pushers {
    /** Waits until all pushed operations have ended. */
    @FunctionalInterface
    interface Ending {
        void await() throws InterruptedException;
    }

    private Pushers() {
    }

    /** A single pusher runs on the calling thread, because the start of another thread would be measured too. */
    static long time(List<Runnable> pushers, Ending ending) throws InterruptedException {
        if (pushers.size() == 1) {
            long start = System.nanoTime();
            pushers.getFirst().run();
            ending.await();
            return System.nanoTime() - start;
        }
        return timeThreads(pushers, ending);
    }

    private static long timeThreads(List<Runnable> pushers, Ending ending) throws InterruptedException {
        CountDownLatch ready = new CountDownLatch(pushers.size());
        CountDownLatch go = new CountDownLatch(1);
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (Runnable pusher : pushers) {
            threads.add(Thread.ofPlatform().name("pusher-", threads.size()).start(() -> {
                ready.countDown();
                try {
                    go.await();
                    pusher.run();
                } catch (Throwable t) {
                    failure.compareAndSet(null, t);
                }
            }));
        }
        ready.await();
        long start = System.nanoTime();
        go.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        ending.await();
        long nanos = System.nanoTime() - start;
        Throwable thrown = failure.get();
        if (thrown != null) {
            throw new IllegalStateException("A pushing thread failed with " + thrown, thrown);
        }
        return nanos;
    }
}
