package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What a future waits for, while it changes. */
class DependenciesTest {
    private static final int ROUNDS = 20;
    /** So many that the other thread is done before the walk is. */
    private static final int CHAIN = 20_000;

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whoever waits learns of the stage, or is woken to look again; else the wait would never end. */
    @Test
    void aStageThatIsReturnedMeanwhileIsNotMissed() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (Engine engine = Engine.builder().pooled(2).build()) {
            CompletableFuture<Void> behind = engine.op("behind").submit(() -> await(end));
            CompletableFuture<Void> last = engine.op("first").submit(() -> await(end));
            for (int i = 0; i < CHAIN; i++) {
                last = last.thenRun(() -> {
                });
            }
            try {
                for (int round = 0; round < ROUNDS; round++) {
                    Composition composition = new Composition();
                    DerivedFuture<Void> composed = new DerivedFuture<>((EngineFuture<?>) last);
                    composed.needs(composition);
                    AtomicReference<CompletableFuture<Void>> stage = new AtomicReference<>();
                    CountDownLatch begun = new CountDownLatch(1);
                    Thread other = new Thread(() -> {
                        await(begun);
                        stage.set(composition.<Integer, CompletableFuture<Void>>observe(any -> behind).apply(1));
                    });
                    other.start();
                    begun.countDown();
                    Dependencies on = new Dependencies(composed);
                    other.join();
                    assertSame(behind, stage.get());
                    Waiter waiter = new Waiter();
                    on.addWaiter(waiter, composed.engine());
                    assertTrue(on.describe().contains("'behind'") || waiter.done, "round " + round);
                }
            } finally {
                end.countDown();
            }
        }
    }
}
