package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Operations that may run at the same time do so, on the engines with workers. */
@EveryEngineWithWorkers
class ConcurrencyTest extends EngineContract {

    private static Body meeting(CountDownLatch all) {
        return () -> {
            all.countDown();
            TestSupport.await(all);
        };
    }

    private boolean hasTwoWorkers() {
        return !kind.isSingle()
                && (kind != EngineUnderTest.PER_DEVICE || Runtime.getRuntime().availableProcessors() > 1);
    }

    @Test
    void consecutiveReadsRunTogether() throws Exception {
        Assumptions.assumeTrue(hasTwoWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        CountDownLatch both = new CountDownLatch(2);
        engine.op("w").mutates(v).push(TestSupport.nothing());
        engine.op("r1").reads(v).push(meeting(both));
        engine.op("r2").reads(v).push(meeting(both));
        engine.waitToWrite(v);
    }

    @Test
    void operationsWithoutACommonVariableRunTogether() throws Exception {
        Assumptions.assumeTrue(hasTwoWorkers());
        Engine engine = open();
        CountDownLatch both = new CountDownLatch(2);
        engine.op("a").mutates(engine.newVar("a")).push(meeting(both));
        engine.op("b").mutates(engine.newVar("b")).push(meeting(both));
        engine.waitForAll();
    }

    @Test
    void successorsOfOneOperationAreSpreadOverTheWorkers() throws Exception {
        Assumptions.assumeTrue(hasTwoWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        for (int i = 0; i < 200; i++) {
            CountDownLatch both = new CountDownLatch(2);
            engine.op("w").mutates(v).push(TestSupport.nothing());
            engine.op("r1").reads(v).push(meeting(both));
            engine.op("r2").reads(v).push(meeting(both));
        }
        engine.waitForAll();
    }

    @Test
    void startedAsynchronousReadsOverlapEvenOnOneWorker() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Held one = Held.push(engine.op("r1").reads(v)).untilStarted();
        Held two = Held.push(engine.op("r2").reads(v)).untilStarted();
        AtomicBoolean written = new AtomicBoolean();
        CompletableFuture<Void> write = engine.op("w").mutates(v).submit(() -> written.set(true));
        CompletableFuture<Void> late = engine.op("r3").reads(v).submit(TestSupport.nothing());
        two.release();
        engine.op("other").submit(TestSupport.nothing()).get();
        assertFalse(written.get(), "r1 still reads");
        assertFalse(late.isDone(), "no reader overtakes a writer");
        one.release();
        write.get();
        late.get();
    }

    @Test
    void anOperationWithoutVariablesDoesNotRunInThePusher() throws Exception {
        Engine engine = open();
        Thread runner = engine.op("alone").call(Thread::currentThread).get();
        assertNotSame(Thread.currentThread(), runner);
    }

    @Test
    void aBlockedLaneDoesNotHoldUpTheOthers() throws Exception {
        Engine engine = open();
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch blocked = new CountDownLatch(8);
        for (int i = 0; i < 8; i++) {
            engine.op("blocker").push(() -> {
                blocked.countDown();
                TestSupport.await(release);
            });
        }
        assertEquals("copied", engine.op("copy").kind(OpKind.COPY_IN).call(() -> "copied").get());
        release.countDown();
        TestSupport.await(blocked);
        engine.waitForAll();
    }
}
