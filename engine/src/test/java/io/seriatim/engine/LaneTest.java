package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lanes that operations run on, with the per-device and the pooled engine. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LaneTest {
    private static final Lane COPY = new Lane("cpu", Lane.Queue.COPY);
    private static final Lane CUDA = Lane.of("cuda:0");
    private static final Lane SIM = Lane.of("sim:1");

    private final OpenEngines engines = new OpenEngines();

    @AfterEach
    void closeAndCheck() throws Exception {
        engines.closeAndCheck();
    }

    private Engine perDevice() {
        return engines.open(Engine.builder().perDevice());
    }

    /** Blocks one worker until the latch opens. */
    private static void block(OpBuilder op, CountDownLatch open) throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        op.push(() -> {
            running.countDown();
            TestSupport.await(open);
        });
        TestSupport.await(running);
    }

    /** Pushes operations that can end only if the given number of them run at the same time. */
    private static void assertTogether(int n, Engine engine, Lane lane, OpKind kind) throws Exception {
        CountDownLatch all = new CountDownLatch(n);
        List<CompletableFuture<Void>> futures = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            futures.add(engine.op("meet").on(lane).kind(kind).submit(() -> {
                all.countDown();
                TestSupport.await(all);
            }));
        }
        for (CompletableFuture<Void> future : futures) {
            future.get();
        }
    }

    /** Returns the maximum number of operations that ran at the same time. */
    private static int mostAtOnce(Engine engine, Lane lane, OpKind kind) throws Exception {
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        for (int i = 0; i < 300; i++) {
            engine.op("count").on(lane).kind(kind).push(() -> {
                most.accumulateAndGet(now.incrementAndGet(), Math::max);
                TestSupport.spin(20_000);
                now.decrementAndGet();
            });
        }
        engine.waitForAll();
        return most.get();
    }

    private static String threadOf(Engine engine, Lane lane, OpKind kind)
            throws InterruptedException, ExecutionException {
        return engine.op("where").on(lane).kind(kind).call(() -> Thread.currentThread().getName()).get();
    }

    @Test
    void theKindPicksTheQueueOfThePlace() throws Exception {
        Engine engine = perDevice();
        for (Lane lane : List.of(Lane.CPU, CUDA, SIM, Lane.of("cpu:1"))) {
            assertEquals(lane, engine.op("normal").on(lane).call(() -> RunContext.current().lane()).get());
            for (OpKind kind : List.of(OpKind.COPY_IN, OpKind.COPY_OUT)) {
                assertEquals(new Lane(lane.place(), Lane.Queue.COPY),
                        engine.op("copy").on(lane).kind(kind).call(() -> RunContext.current().lane()).get());
            }
            assertEquals(lane.place(),
                    engine.op("urgent").on(lane).kind(OpKind.PRIORITIZED)
                            .call(() -> RunContext.current().lane().place()).get());
        }
    }

    @Test
    void eachPlaceHasWorkersOfItsOwn() throws Exception {
        Engine engine = perDevice();
        List<String> threads = new ArrayList<>();
        for (Lane lane : List.of(Lane.CPU, COPY, CUDA, new Lane("cuda:0", Lane.Queue.COPY), Lane.of("cuda:1"), SIM,
                Lane.of("cpu:1"))) {
            String thread = threadOf(engine, lane, OpKind.NORMAL);
            assertTrue(thread.startsWith(engines.nameOf(engine)) && thread.contains(lane.place()), thread);
            threads.add(thread);
        }
        assertEquals(threads.size(), threads.stream().distinct().count(), threads::toString);
    }

    @Test
    void aBlockedPlaceHoldsUpNoOther() throws Exception {
        Engine engine = perDevice();
        CountDownLatch open = new CountDownLatch(1);
        block(engine.op("blocks compute").on(CUDA), open);
        block(engine.op("blocks copies").on(CUDA).kind(OpKind.COPY_IN), open);
        for (Lane lane : List.of(Lane.CPU, SIM, Lane.of("cuda:1"), COPY)) {
            assertNotEquals("", threadOf(engine, lane, OpKind.NORMAL));
        }
        assertNotEquals("", threadOf(engine, Lane.CPU, OpKind.PRIORITIZED));
        open.countDown();
    }

    @Test
    void threadsStartAtTheFirstPushOfTheirLane() throws Exception {
        Engine engine = perDevice();
        assertEquals(0, engine.stats().workers());
        engine.op("copy").on(SIM).kind(OpKind.COPY_OUT).submit(TestSupport.nothing()).get();
        List<String> names = OpenEngines.threadsOf(engines.nameOf(engine)).stream().map(Thread::getName).toList();
        assertEquals(1, names.size(), names::toString);
        assertTrue(names.get(0).contains("sim:1/copy"), names::toString);
        assertEquals(1, engine.stats().workers());
    }

    @Test
    void defaultSizes() throws Exception {
        Engine engine = perDevice();
        assertTogether(Runtime.getRuntime().availableProcessors(), engine, Lane.CPU, OpKind.NORMAL);
        assertTogether(4, engine, Lane.CPU, OpKind.PRIORITIZED);
        assertEquals(1, mostAtOnce(engine, Lane.CPU, OpKind.COPY_IN));
        assertEquals(1, mostAtOnce(engine, CUDA, OpKind.COPY_OUT));
        assertTrue(mostAtOnce(engine, Lane.CPU, OpKind.NORMAL) <= Runtime.getRuntime().availableProcessors());
    }

    @Test
    void givenSizes() throws Exception {
        Engine engine = engines
                .open(Engine.builder().workers(Lane.CPU, 3).workers(COPY, 2).workers(CUDA, 5).workers(SIM, 1));
        assertTogether(3, engine, Lane.CPU, OpKind.NORMAL);
        assertTogether(2, engine, Lane.CPU, OpKind.COPY_IN);
        assertTogether(5, engine, CUDA, OpKind.NORMAL);
        assertEquals(1, mostAtOnce(engine, SIM, OpKind.NORMAL));
        assertTrue(mostAtOnce(engine, Lane.CPU, OpKind.NORMAL) <= 3);
    }

    @Test
    void copiesShareOneLaneInBothDirections() throws Exception {
        Engine engine = perDevice();
        assertEquals(threadOf(engine, CUDA, OpKind.COPY_IN), threadOf(engine, CUDA, OpKind.COPY_OUT));
    }

    @Test
    void thePriorityLaneIsSharedByTheProcessorsPlaces() throws Exception {
        Engine engine = engines.open(Engine.builder().workers(new Lane("cpu", Lane.Queue.PRIORITY), 1));
        assertEquals(threadOf(engine, Lane.CPU, OpKind.PRIORITIZED),
                threadOf(engine, Lane.of("cpu:1"), OpKind.PRIORITIZED));
        assertEquals(threadOf(engine, CUDA, OpKind.NORMAL), engine.op("urgent").on(CUDA).kind(OpKind.PRIORITIZED)
                .call(() -> Thread.currentThread().getName()).get(), "elsewhere it is the place's compute lane");
    }

    @Test
    void aPooledEngineHasOnePoolAndOneThreadForCopies() throws Exception {
        Engine engine = engines.open(Engine.builder().pooled(2));
        assertTogether(2, engine, Lane.CPU, OpKind.NORMAL);
        CountDownLatch open = new CountDownLatch(1);
        block(engine.op("one").on(Lane.CPU), open);
        block(engine.op("two").on(CUDA), open);
        CompletableFuture<Void> third = engine.op("three").on(SIM).submit(TestSupport.nothing());
        String copier = threadOf(engine, Lane.CPU, OpKind.COPY_IN);
        assertEquals(copier, threadOf(engine, CUDA, OpKind.COPY_OUT));
        assertEquals(List.of("three"),
                TestSupport.namesOf(engine.snapshot()).stream().filter("three"::equals).toList());
        open.countDown();
        third.get();
        assertEquals(3, OpenEngines.threadsOf(engines.nameOf(engine)).size());
    }

    @Test
    void dependenciesCrossLanes() throws Exception {
        Engine engine = perDevice();
        Var v = engine.newVar("v");
        List<Integer> order = new ArrayList<>();
        List<Lane> lanes = List.of(Lane.CPU, COPY, CUDA, SIM, new Lane("sim:1", Lane.Queue.COPY),
                new Lane("cpu", Lane.Queue.PRIORITY));
        for (int i = 0; i < 1_000; i++) {
            int at = i;
            engine.op("hop").mutates(v).on(lanes.get(i % lanes.size())).push(() -> order.add(at));
        }
        engine.waitToRead(v);
        assertEquals(1_000, order.size());
        assertEquals(order.stream().sorted().toList(), order);
    }

    @Test
    void aReadyAsyncOperationRunsOnThePushingThread() throws Exception {
        Engine engine = perDevice();
        Var v = engine.newVar("v");
        CompletableFuture<Thread> runner = new CompletableFuture<>();
        engine.op("inline").mutates(v).kind(OpKind.ASYNC).push(() -> runner.complete(Thread.currentThread()));
        assertSame(Thread.currentThread(), runner.getNow(null));
    }

    @Test
    void otherwiseItRunsOnTheThreadThatCompletesItsLastPredecessor() throws Exception {
        Engine engine = perDevice();
        Var a = engine.newVar("a");
        Var b = engine.newVar("b");
        Held one = Held.push(engine.op("one").mutates(a)).untilStarted();
        Held two = Held.push(engine.op("two").mutates(b)).untilStarted();
        CompletableFuture<Thread> runner = new CompletableFuture<>();
        engine.op("inline").mutates(a, b).kind(OpKind.ASYNC).push(() -> runner.complete(Thread.currentThread()));
        one.release();
        Task completer = Task.start("completer", two::release);
        completer.join();
        assertSame(completer.thread, runner.get());
        engine.waitToRead(b);
    }

    @Test
    void whatAnAsyncOperationMakesReadyRunsOnItsOwnLane() throws Exception {
        Engine engine = perDevice();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        engine.op("inline").mutates(v).kind(OpKind.ASYNC).push(TestSupport.nothing());
        CompletableFuture<String> after = engine.op("after").mutates(v).on(SIM)
                .call(() -> Thread.currentThread().getName());
        held.release();
        assertTrue(after.get().contains("sim:1"));
    }

    /**
     * Returns whether workers must interrupt their batches, which slows every operation; called after an operation that
     * rechecks the reasons.
     */
    private static boolean attends(Engine engine) throws Exception {
        return attends(engine, Lane.CPU);
    }

    private static boolean attends(Engine engine, Lane lane) throws Exception {
        for (int i = 0; i < 3; i++) {
            engine.op("tiny").on(lane).submit(TestSupport.nothing()).get();
        }
        return TestSupport.coreOf(engine).preemption.isRequested();
    }

    @Test
    void onlyOperationsOfOtherLanesThatStillWaitKeepWorkersAttentive() throws Exception {
        Engine engine = perDevice();
        Var v = engine.newVar("v");
        for (OpKind kind : List.of(OpKind.COPY_IN, OpKind.PRIORITIZED, OpKind.ASYNC)) {
            engine.op("other lane").kind(kind).submit(TestSupport.nothing()).get();
            assertFalse(attends(engine), () -> "after an operation of kind " + kind);
        }
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        CompletableFuture<Void> copy = engine.op("copy").reads(v).kind(OpKind.COPY_OUT).submit(TestSupport.nothing());
        assertTrue(attends(engine), "a copy waits for what an operation here writes");
        held.release();
        copy.get();
        assertFalse(attends(engine));
        CountDownLatch open = new CountDownLatch(1);
        block(engine.op("copies").kind(OpKind.COPY_IN), open);
        engine.op("queued").kind(OpKind.COPY_IN).push(TestSupport.nothing());
        assertFalse(attends(engine), "a copy that is in its own lane's queue needs no one here");
        open.countDown();
    }

    /**
     * Which lane works in the fast way depends on what is pushed: the one that everything goes to, whichever it is and
     * whatever was pushed before.
     */
    @Test
    void theLaneThatAllGoesToNeedsNoAttention() throws Exception {
        Engine engine = perDevice();
        Var v = engine.newVar("v");
        for (Lane lane : List.of(Lane.of("cpu:1"), Lane.CPU, Lane.of("cpu:2"), Lane.of("cpu:1"))) {
            Lane other = lane.equals(Lane.CPU) ? Lane.of("cpu:2") : Lane.CPU;
            for (int i = 0; i < 2_000; i++) {
                engine.op("op").on(lane).mutates(v).push(TestSupport.nothing());
            }
            engine.waitForAll();
            Held held = Held.push(engine.op("held").on(lane).mutates(v)).untilStarted();
            CompletableFuture<Void> behind = engine.op("behind").on(lane).reads(v).submit(TestSupport.nothing());
            assertFalse(attends(engine, lane), () -> "everything goes to " + lane);
            CompletableFuture<Void> elsewhere = engine.op("elsewhere").on(other).reads(v)
                    .submit(TestSupport.nothing());
            assertTrue(attends(engine, lane), () -> "an operation for " + other + " waits");
            held.release();
            behind.get();
            elsewhere.get();
            assertFalse(attends(engine, lane), () -> "everything that waits goes to " + lane);
        }
    }

    @Test
    void skippedOperationsOfOtherLanesAreForgottenToo() throws Exception {
        Engine engine = perDevice();
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v)).untilStarted();
        CompletableFuture<Void> skipped = engine.op("skipped").reads(v).kind(OpKind.COPY_OUT)
                .submit(TestSupport.nothing());
        held.fail(new Planted("planted"));
        assertThrows(ExecutionException.class, skipped::get);
        assertFalse(attends(engine));
    }
}
