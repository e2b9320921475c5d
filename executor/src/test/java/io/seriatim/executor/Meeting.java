package io.seriatim.executor;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** A barrier. If all threads arrive, they run at the same time. */
final class Meeting {
    private static final int PATIENCE_SECONDS = 20;

    private final AtomicInteger held = new AtomicInteger();
    private final CyclicBarrier barrier;

    Meeting(int threads) {
        barrier = new CyclicBarrier(threads, held::incrementAndGet);
    }

    void await() throws InterruptedException {
        try {
            barrier.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (BrokenBarrierException | TimeoutException e) {
            throw new IllegalStateException("Only " + barrier.getNumberWaiting() + " of " + barrier.getParties()
                    + " threads came: the others do not run at the same time", e);
        }
    }

    int held() {
        return held.get();
    }
}
