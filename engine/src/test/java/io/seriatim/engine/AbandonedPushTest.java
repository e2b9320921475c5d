package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A push that fails between two steps has no effect, and the next push succeeds. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class AbandonedPushTest {
    /** Fails every third push. */
    private static final class Fails extends Rules {
        private int pushes;

        @Override
        public void beforeAppend(Operation op) {
            if (++pushes % 3 == 0) {
                throw new StackOverflowError("planted");
            }
        }
    }

    private static EngineBuilder failing() {
        return ((EngineBuilder) Engine.builder().pooled(1)).rules(new Fails());
    }

    private static void aFailedPushIsNeverTakenIn(boolean forgotten) {
        EngineCore core = failing().buildCore();
        List<Operation> failed = new ArrayList<>();
        List<Operation> pushed = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            Operation op = new Operation(core, "op" + i);
            op.mutates(new Variable(core, "v" + i));
            op.seal(TestSupport.nothing());
            core.dispatcher.route(op);
            try {
                core.log.append(op, false);
                pushed.add(op);
            } catch (StackOverflowError e) {
                failed.add(op);
                if (forgotten) {
                    op.flags &= ~Operation.ABANDONED;
                }
            }
        }
        assertEquals(10, failed.size());
        ReadyQueue atHand = new ReadyQueue(0);
        for (int i = 0; i < 12; i++) {
            atHand.add(new Operation(core, "at hand"));
            core.lock.enter();
            core.logReader.next(atHand, LogReader.MAX_OVERTAKEN, false);
            core.lock.exit();
        }
        core.lock.enter();
        core.logReader.admitAll();
        core.lock.exit();
        assertEquals(pushed.size(), core.counts.position);
        assertEquals(0, core.counts.early);
        failed.forEach(
                op -> assertFalse(op.has(Operation.TAKEN_EARLY), () -> op + " was taken in, but its push has failed"));
        pushed.forEach(op -> assertTrue(op.epoch != null, () -> op + " was not taken in"));
    }

    @Test
    void aFailedPushIsNeverTakenIn() {
        aFailedPushIsNeverTakenIn(false);
    }

    @Test
    void theTestDetectsALogThatForgetsThatAPushHasFailed() {
        assertThrows(AssertionError.class, () -> aFailedPushIsNeverTakenIn(true));
    }

    @Test
    void anEngineGoesOnAfterFailedPushes() throws Exception {
        try (Engine engine = failing().build()) {
            Var v = engine.newVar("v");
            int[] ran = new int[1];
            int pushed = 0;
            for (int i = 0; i < 3_000; i++) {
                try {
                    engine.op("op").mutates(v).on(i % 5 == 0 ? Lane.of("sim:0") : Lane.CPU).push(() -> ran[0]++);
                    pushed++;
                } catch (StackOverflowError e) {
                    assertEquals("planted", e.getMessage());
                }
            }
            engine.waitForAll();
            assertEquals(2_000, pushed);
            assertEquals(pushed, ran[0]);
        }
    }

    /** An error inside the tracker: no thread hangs, and every later call reports the error. */
    @Test
    void aBrokenEngineSaysSo() throws Exception {
        EngineCore core = ((EngineBuilder) Engine.builder().pooled(1)).buildCore();
        Engine engine = new DependencyEngine(core);
        Var v = engine.newVar("v");
        Held.push(engine.op("held").mutates(v)).untilStarted();
        Task waiting = Task.start("waiting", () -> {
            IllegalStateException thrown = assertThrows(IllegalStateException.class, engine::waitForAll);
            assertEquals("planted", String.valueOf(thrown.getCause()).replaceAll(".*: ", ""));
        });
        TestSupport.untilParked(waiting.thread);
        core.markBroken(new Planted("planted"));
        waiting.join();
        TestSupport.assertThrowsMentioning(IllegalStateException.class,
                () -> engine.op("late").push(TestSupport.nothing()), "broken");
        TestSupport.assertThrowsMentioning(IllegalStateException.class, engine::close, "broken");
    }
}
