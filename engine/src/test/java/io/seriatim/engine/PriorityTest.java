package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * On a lane with one worker, operations start by descending priority, and equal priorities in the order in which they
 * became ready.
 */
@EveryEngineWithWorkers
class PriorityTest extends EngineContract {
    private static final Lane SIM = Lane.of("sim:0");

    private final List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch open = new CountDownLatch(1);

    /** The lanes of this engine with one worker. */
    private List<Lane> lanesOfOne() {
        List<Lane> lanes = new ArrayList<>(List.of(new Lane("cpu", Lane.Queue.COPY)));
        if (kind.isSingle()) {
            lanes.add(Lane.CPU);
        }
        if (kind == EngineUnderTest.PER_DEVICE || kind == EngineUnderTest.PER_DEVICE_1) {
            lanes.add(SIM);
        }
        return lanes;
    }

    /** Keeps the only worker of a lane busy until {@code open} is called. */
    private void block(Engine engine, Lane lane) throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        engine.op("blocker").on(lane).push(() -> {
            running.countDown();
            TestSupport.await(open);
        });
        TestSupport.await(running);
    }

    private List<Integer> orderAfterOpening(Engine engine) throws InterruptedException {
        open.countDown();
        engine.waitForAll();
        return List.copyOf(order);
    }

    @Test
    void aHigherNumberStartsFirstAndEqualOnesInPushOrder() throws Exception {
        for (Lane lane : lanesOfOne()) {
            PriorityTest fresh = new PriorityTest();
            fresh.kind = kind;
            fresh.checkOrder(open(), lane);
        }
    }

    private void checkOrder(Engine engine, Lane lane) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(EngineUnderTest.SEED);
        int[] priorities = random.ints(500, -3, 4).toArray();
        block(engine, lane);
        for (int i = 0; i < priorities.length; i++) {
            int at = i;
            engine.op("op" + i).on(lane).priority(priorities[i]).push(() -> order.add(at));
        }
        List<Integer> expected = IntStream.range(0, priorities.length).boxed()
                .sorted(Comparator.<Integer>comparingInt(i -> -priorities[i]))
                .toList();
        assertEquals(expected, orderAfterOpening(engine), () -> "on " + lane);
    }

    @Test
    void theWholeRangeOfNumbersCounts() throws Exception {
        Engine engine = open();
        Lane lane = lanesOfOne().get(0);
        block(engine, lane);
        int[] priorities = {0, Integer.MIN_VALUE, Integer.MAX_VALUE, -1, 1, Integer.MIN_VALUE + 1,
                Integer.MAX_VALUE - 1};
        for (int priority : priorities) {
            engine.op("op").on(lane).priority(priority).push(() -> order.add(priority));
        }
        List<Integer> expected = IntStream.of(priorities).boxed().sorted(Comparator.reverseOrder()).toList();
        assertEquals(expected, orderAfterOpening(engine));
    }

    @Test
    void equalOnesStartInTheOrderInWhichTheyBecameReady() throws Exception {
        for (int priority : new int[]{0, 5}) {
            Engine engine = open();
            Lane lane = lanesOfOne().get(0);
            PriorityTest fresh = new PriorityTest();
            fresh.block(engine, lane);
            Var[] v = TestSupport.vars(engine, 4);
            Held[] held = new Held[4];
            for (int i = 0; i < 4; i++) {
                int at = i;
                held[i] = Held.push(engine.op("held").mutates(v[i]).on(Lane.of("cpu:7")).kind(OpKind.ASYNC))
                        .untilStarted();
                engine.op("waits").reads(v[i]).on(lane).priority(priority).push(() -> fresh.order.add(at));
            }
            for (int i : new int[]{2, 0, 3, 1}) {
                held[i].release();
            }
            assertEquals(List.of(2, 0, 3, 1), fresh.orderAfterOpening(engine));
        }
    }

    @Test
    void aReadyOperationIsNotOvertakenByAWholeChain() throws Exception {
        Engine engine = open();
        Lane lane = lanesOfOne().get(0);
        Var v = engine.newVar("v");
        block(engine, lane);
        for (int i = 0; i < 1_000; i++) {
            int at = i;
            engine.op("chain").mutates(v).on(lane).push(() -> order.add(at));
        }
        engine.op("other").on(lane).push(() -> order.add(-1));
        int before = orderAfterOpening(engine).indexOf(-1);
        assertTrue(before <= 64 + 1, () -> before + " successors ran while another waited");
    }

    @Test
    void aHigherPriorityGoesBeforeASuccessor() throws Exception {
        Engine engine = open();
        Lane lane = lanesOfOne().get(0);
        Var v = engine.newVar("v");
        block(engine, lane);
        for (int i = 0; i < 100; i++) {
            int at = i;
            engine.op("chain").mutates(v).on(lane).push(() -> {
                order.add(at);
                if (at == 10) {
                    engine.op("pressing").on(lane).priority(1).push(() -> order.add(-1));
                }
            });
        }
        assertEquals(11, orderAfterOpening(engine).indexOf(-1));
    }

    @Test
    void urgentWorkGoesToTheHeadOfAPlacesLane() throws Exception {
        Assumptions.assumeTrue(lanesOfOne().contains(SIM));
        Engine engine = open();
        block(engine, SIM);
        engine.op("ordinary").on(SIM).push(() -> order.add(3));
        engine.op("high").on(SIM).priority(1_000).push(() -> order.add(2));
        engine.op("urgent").on(SIM).kind(OpKind.PRIORITIZED).push(() -> order.add(1));
        engine.op("more urgent").on(SIM).kind(OpKind.PRIORITIZED).priority(1).push(() -> order.add(0));
        assertEquals(List.of(0, 1, 2, 3), orderAfterOpening(engine));
    }

    @Test
    void aWaitingSuccessorKeepsItsPriority() throws Exception {
        Engine engine = open();
        Lane lane = lanesOfOne().get(0);
        Var v = engine.newVar("v");
        Held held = Held.push(engine.op("held").mutates(v).kind(OpKind.ASYNC)).untilStarted();
        block(engine, lane);
        for (int i = 0; i < 50; i++) {
            int at = i;
            engine.op("reader").reads(v).on(lane).priority(i).push(() -> order.add(at));
        }
        held.release();
        List<Integer> expected = IntStream.range(0, 50).map(i -> 49 - i).boxed().toList();
        assertEquals(expected, orderAfterOpening(engine));
    }
}
