package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Chains of operations that complete each other do not grow the stack. */
@EveryEngine
class TrampolineTest extends EngineContract {
    private static final int LENGTH = (int) TestSupport.scaled(1_000_000, 100_000);

    private Engine openWide() {
        return open(builder -> builder.maxPending(2 * LENGTH));
    }

    @Test
    void aChainOfAsyncOperationsBehindOne() throws Exception {
        Engine engine = openWide();
        Var v = engine.newVar("v");
        int[] plain = {0};
        // Pushed inside an operation, so that the naive engine does not run them at once.
        engine.op("first").mutates(v).push(() -> {
            for (int i = 0; i < LENGTH; i++) {
                engine.op("inline").mutates(v).kind(OpKind.ASYNC).push(() -> plain[0]++);
            }
        });
        engine.waitForAll();
        engine.waitToRead(v);
        assertEquals(LENGTH, plain[0]);
    }

    @Test
    void asyncOperationsThatPushTheNext() throws Exception {
        Engine engine = open();
        CountDownLatch all = new CountDownLatch(LENGTH);
        pushNext(engine, all);
        while (all.getCount() > 0) {
            engine.waitForAll();
        }
    }

    private static void pushNext(Engine engine, CountDownLatch all) {
        engine.op("inline").kind(OpKind.ASYNC).push(() -> {
            all.countDown();
            if (all.getCount() > 0) {
                pushNext(engine, all);
            }
        });
    }

    @Test
    void ordinaryOperationsThatPushTheNext() throws Exception {
        Engine engine = open();
        AtomicInteger left = new AtomicInteger(LENGTH);
        pushOrdinary(engine, left);
        while (left.get() > 0) {
            engine.waitForAll();
        }
    }

    private static void pushOrdinary(Engine engine, AtomicInteger left) {
        engine.op("next").push(() -> {
            if (left.decrementAndGet() > 0) {
                pushOrdinary(engine, left);
            }
        });
    }

    @Test
    void bodiesThatCompleteAtOnce() throws Exception {
        Engine engine = openWide();
        Var v = engine.newVar("v");
        int[] plain = {0};
        engine.op("first").mutates(v).push(() -> {
            for (int i = 0; i < LENGTH; i++) {
                engine.op("async").mutates(v).kind(i % 2 == 0 ? OpKind.NORMAL : OpKind.ASYNC).pushAsync(done -> {
                    plain[0]++;
                    done.complete();
                });
            }
        });
        engine.waitForAll();
        engine.waitToRead(v);
        assertEquals(LENGTH, plain[0]);
    }
}
