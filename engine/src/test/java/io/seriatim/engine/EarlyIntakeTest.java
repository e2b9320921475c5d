package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A wait at a late position in the log waits neither for operations that were pushed after it nor for unrelated
 * operations.
 */
@EveryEngineWithWorkers
class EarlyIntakeTest extends EngineContract {
    /** More operations than a wait admits at once. */
    private static final int MANY = 3_000;

    /** A wrong rule: admits operations that were pushed after a wait before the wait begins. */
    static final class LooksPastWaits extends Rules {
        @Override
        public long earlyBelow(long pushed, long cut) {
            return pushed;
        }
    }

    /** Operations of which only the first is ready, and which no worker runs: the test reads the log itself. */
    private static EngineCore withChain(Rules rules) {
        EngineCore core = ((EngineBuilder) Engine.builder().pooled(1)).rules(rules).buildCore();
        Variable chain = new Variable(core, "chain");
        for (int i = 0; i < MANY; i++) {
            append(core, "chained" + i, chain);
        }
        return core;
    }

    /** Appends an operation without waking a worker. */
    private static Operation append(EngineCore core, String name, Variable mutated) {
        Operation op = new Operation(core, name);
        op.mutates(mutated);
        op.seal(TestSupport.nothing());
        core.dispatcher.route(op);
        core.pushes.lock();
        core.log.append(op, false);
        core.pushes.unlock();
        return op;
    }

    /**
     * Behaves like a worker that is due to admit an operation early: it has a ready operation to run, and reads no more
     * of the log for it.
     */
    private static void takeEarly(EngineCore core) {
        ReadyQueue atHand = new ReadyQueue(0);
        atHand.add(new Operation(core, "at hand"));
        core.lock.enter();
        core.logReader.next(atHand, LogReader.MAX_OVERTAKEN, false);
        core.lock.exit();
    }

    private static void nothingBehindAWaitIsTakenBeforeIt(Rules rules) {
        EngineCore core = withChain(rules);
        Variable late = new Variable(core, "late");
        Waiter waiter = new Waiter();
        // The lock is released by exit, here and below, because leave would wake a worker.
        core.lock.enter();
        LogReader.Cut cut = core.logReader.whenAdmitted(() -> core.drain(new Drain(late, waiter)));
        core.lock.exit();
        assertTrue(cut != null && !LogReader.isPassed(cut), "the wait stands too far back in the log to begin at once");
        Operation before = append(core, "another", new Variable(core, "another"));
        Operation behind = append(core, "late", late);
        takeEarly(core);
        for (int i = 0; i < 3; i++) {
            takeEarly(core);
        }
        assertFalse(before.has(Operation.TAKEN_EARLY), "taken in before a wait that was pushed before it");
        assertFalse(behind.has(Operation.TAKEN_EARLY), "taken in before a wait that was pushed before it");
        core.lock.enter();
        core.logReader.admitAll();
        core.lock.exit();
        assertTrue(waiter.done, "nothing on the variable was pushed before the wait");
    }

    @Test
    void whatIsPushedAfterAWaitIsNotTakenInBeforeIt() {
        nothingBehindAWaitIsTakenBeforeIt(new Rules());
    }

    @Test
    void theTestDetectsARuleThatLooksPastWaits() {
        AssertionError error = assertThrows(AssertionError.class,
                () -> nothingBehindAWaitIsTakenBeforeIt(new LooksPastWaits()));
        String message = String.valueOf(error.getMessage());
        assertTrue(message.startsWith("taken in before a wait that was pushed before it"), message);
    }

    /**
     * An operation may be visible in the log before it is counted as pushed; a wait that begins in between does not
     * include it.
     */
    @Test
    void whatIsBeingPushedIsNotTakenInBeforeItCounts() {
        EngineCore core = withChain(new Rules());
        takeEarly(core);
        Operation op = append(core, "seen", new Variable(core, "seen"));
        assertNull(core.log.pollEarly(op.order));
        assertSame(op, core.log.pollEarly(op.order + 1));
    }

    /**
     * The wait stands behind thousands of operations of a slow chain; an operation that was pushed after it is ready
     * and does not end.
     */
    @Test
    void aWaitBehindALongLogEndsWithoutWhatComesAfter() throws Exception {
        Engine engine = open();
        Var chain = engine.newVar("chain");
        Var late = engine.newVar("late");
        CountDownLatch begin = new CountDownLatch(1);
        engine.op("gate").mutates(chain).push(begin::await);
        for (int i = 0; i < MANY; i++) {
            engine.op("chained").mutates(chain).push(TestSupport.nothing());
        }
        Task read = Task.start("read", () -> engine.waitToRead(late));
        Task write = Task.start("write", () -> engine.waitToWrite(late));
        Task all = Task.start("all", () -> engine.waitForAll());
        read.join();
        write.join();
        TestSupport.untilParked(all.thread);
        List<Held> held = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            held.add(Held.push(engine.op("late").mutates(late)));
        }
        begin.countDown();
        all.join();
        held.forEach(Held::release);
        engine.waitForAll();
        assertEquals(100, late.version());
    }

    /** Every worker runs a body that lasts until the waiting thread goes on, so only that thread can read the log. */
    @Test
    void aWaitForAnIdleVariableEndsThoughNoWorkerTakesTheLogIn() throws Exception {
        Engine engine = open();
        Var idle = engine.newVar("idle");
        CountDownLatch end = new CountDownLatch(1);
        for (int i = 0; i < 64; i++) {
            engine.op("busy").push(() -> assertTrue(end.await(60, TimeUnit.SECONDS), "hangs"));
        }
        Var chain = engine.newVar("chain");
        for (int i = 0; i < MANY; i++) {
            engine.op("chained").mutates(chain).push(TestSupport.nothing());
        }
        engine.waitToRead(idle);
        engine.waitToWrite(idle);
        engine.waitToRead(idle, Duration.ofSeconds(30));
        end.countDown();
        engine.waitForAll();
    }
}
