package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The shuffled engine runs operations only inside waits, one at a time, in an order that depends on the seed alone. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShuffledTest {
    private static final int OPERATIONS = 50;

    private final OpenEngines engines = new OpenEngines();

    @AfterEach
    void closeAndCheck() throws Exception {
        engines.closeAndCheck();
    }

    private Engine shuffled(long seed) {
        return engines.open(Engine.builder().shuffled(seed));
    }

    /** Pushes operations that are all ready; they record the order in which they run. */
    private static List<Integer> push(Engine engine, int operations) {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < operations; i++) {
            int at = i;
            engine.op("op" + i).mutates(engine.newVar()).push(() -> order.add(at));
        }
        return order;
    }

    @Test
    void nothingRunsBeforeAWait() throws Exception {
        Engine engine = shuffled(1);
        List<Integer> order = push(engine, OPERATIONS);
        assertEquals(0, order.size());
        assertEquals(0, engine.stats().completed());
        assertEquals(OPERATIONS, engine.snapshot().operations().size());
        engine.waitForAll();
        assertEquals(OPERATIONS, order.size());
    }

    @Test
    void aWaitRunsTheOperationsInTheWaitingThread() throws Exception {
        Engine engine = shuffled(1);
        Var v = engine.newVar("v");
        CompletableFuture<Thread> runner = new CompletableFuture<>();
        engine.op("who").mutates(v).push(() -> runner.complete(Thread.currentThread()));
        engine.waitToRead(v);
        assertEquals(Thread.currentThread(), runner.get());
        assertEquals(0, engine.stats().workers());
    }

    @Test
    void getJoinAndCloseRunThemToo() throws Exception {
        Engine engine = shuffled(2);
        assertEquals(1, engine.op("one").call(() -> 1).get());
        assertEquals(2, engine.op("two").call(() -> 2).join());
        assertEquals(3, engine.op("three").call(() -> 3).get(60, TimeUnit.SECONDS));
        Var v = engine.newVar("v");
        engine.op("four").mutates(v).push(TestSupport.nothing());
        engine.waitToWrite(v);
        assertEquals(1, v.version());
        List<Integer> order = push(engine, OPERATIONS);
        engine.close();
        assertEquals(OPERATIONS, order.size());
    }

    @Test
    void aPushAtMaxPendingRunsThem() throws Exception {
        Engine engine = engines.open(Engine.builder().shuffled(3).maxPending(10));
        List<Integer> order = push(engine, OPERATIONS);
        assertTrue(order.size() >= OPERATIONS - 10 - 16, () -> "ran " + order.size());
        assertTrue(order.size() < OPERATIONS);
        engine.waitForAll();
        assertEquals(OPERATIONS, order.size());
    }

    private List<Integer> order(long seed) throws InterruptedException {
        Engine engine = shuffled(seed);
        Var[] v = TestSupport.vars(engine, 8);
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < OPERATIONS; i++) {
            int at = i;
            engine.op("op" + i).reads(v[i * 3 % 8]).mutates(v[i % 8]).push(() -> {
                order.add(at);
                engine.op("inner").reads(v[at % 8]).push(() -> order.add(1000 + at));
            });
            if (i % 20 == 0) {
                engine.waitToRead(v[0]);
            }
        }
        engine.waitForAll();
        engine.waitForAll();
        return order;
    }

    @Test
    void oneSeedGivesOneOrderAndSeedsDiffer() throws Exception {
        Set<List<Integer>> orders = new HashSet<>();
        for (long seed = 0; seed < 20; seed++) {
            List<Integer> order = order(seed);
            assertEquals(2 * OPERATIONS, order.size());
            assertEquals(order, order(seed), "seed " + seed);
            orders.add(order);
        }
        assertTrue(orders.size() > 10, () -> orders.size() + " orders of 20 seeds");
    }

    @Test
    void aDependencyThatWasNotDeclaredIsFound() throws Exception {
        int found = 0;
        for (long seed = 0; seed < 50; seed++) {
            Engine engine = shuffled(seed);
            int[] value = {0};
            engine.op("write").mutates(engine.newVar("declared")).push(() -> value[0] = 1);
            CompletableFuture<Integer> read = engine.op("read").reads(engine.newVar("forgotten")).call(() -> value[0]);
            engine.waitForAll();
            found += read.get() == 0 ? 1 : 0;
        }
        int times = found;
        assertTrue(times > 5 && times < 45, () -> times + " of 50 seeds");
    }

    @Test
    void twoWaitingThreadsNeverRunTwoAtOnce() throws Exception {
        Engine engine = shuffled(4);
        Var[] v = TestSupport.vars(engine, 50);
        int[] plain = {0};
        for (Var each : v) {
            engine.op("count").mutates(each).push(() -> plain[0]++);
        }
        List<Task> waiting = new ArrayList<>();
        for (Var each : v) {
            waiting.add(Task.start("waits", () -> engine.waitToRead(each)));
        }
        for (Task task : waiting) {
            task.join();
        }
        engine.waitForAll();
        assertEquals(50, plain[0]);
    }
}
