package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counters of 32 bits go on past their end, and those of 64 bits past that of an int. */
@EveryEngine
class CounterTest extends EngineContract {
    private static final int NEAR = 40;

    private Engine open(int firstIndex, long firstOrder) {
        return open(builder -> {
            EngineBuilder description = (EngineBuilder) builder;
            description.firstIndex = firstIndex;
            description.firstOrder = firstOrder;
            return builder;
        });
    }

    /** Operations of some microseconds, so that several workers hand each other batches. */
    @Test
    void anEngineWhoseCountersWrapRound() throws Exception {
        for (int round = 0; round < 4; round++) {
            Engine engine = open(round % 2 == 0 ? Integer.MAX_VALUE - NEAR : -NEAR, (1L << (31 + round % 2)) - NEAR);
            new RandomSums(EngineUnderTest.SEED + round, 300).check(RandomSums.on(engine), i -> 2_000 + i % 3_000);
            Var v = engine.newVar("v");
            List<Integer> order = new ArrayList<>();
            engine.op("pushes").mutates(v).push(() -> {
                for (int i = 0; i < 2 * NEAR; i++) {
                    int at = i;
                    engine.op("op").mutates(v).priority(1).push(() -> order.add(at));
                }
            });
            engine.waitForAll();
            engine.waitForAll();
            assertEquals(order.stream().sorted().toList(), order);
            assertEquals(0, engine.stats().pending());
            closeAndCheck();
        }
    }

    @Test
    void randomProgramsPastTheEnd() throws Exception {
        SplittableRandom seeds = new SplittableRandom(EngineUnderTest.SEED);
        for (int i = 0; i < 4; i++) {
            int first = i % 2 == 0 ? Integer.MAX_VALUE - NEAR : -NEAR;
            new ProgramRun(open(first, 0), new RandomProgram(seeds.nextLong(), 400, RandomProgram.Mix.NARROW)).check();
            closeAndCheck();
        }
    }

    private Operation operation(EngineCore core, int i) {
        return new Operation(core, "op" + i);
    }

    /**
     * Random claims, hand-overs and takings back against a deque, begun close to where an index changes its sign or
     * wraps round.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, Integer.MAX_VALUE - 3, Integer.MAX_VALUE, Integer.MIN_VALUE, -3, -1})
    void aBatchIsADequeWhereverItsIndicesAre(int first) {
        EngineCore core = new EngineCore(new EngineBuilder());
        Batch batch = new Batch(first);
        Deque<Operation> model = new ArrayDeque<>();
        SplittableRandom random = new SplittableRandom(EngineUnderTest.SEED);
        int claimed = 0;
        for (int i = 0; i < 400; i++) {
            assertEquals(model.size(), batch.waiting());
            switch (random.nextInt(4)) {
                case 0 -> {
                    if (batch.room() > 0) {
                        Operation op = operation(core, i);
                        batch.put(0, op);
                        batch.publish(1);
                        model.addLast(op);
                    }
                }
                case 1 -> {
                    Operation op = batch.claim();
                    assertSame(model.pollFirst(), op);
                    if (op != null) {
                        op.flags |= Operation.ENDED;
                        batch.finish(null);
                        claimed++;
                    }
                }
                case 2 -> assertSame(model.pollLast(), batch.takeBack());
                default -> batch.harvest(core);
            }
        }
        assertEquals(true, claimed > 50, "claimed " + claimed);
        while (!model.isEmpty()) {
            assertSame(model.pollLast(), batch.takeBack());
        }
        assertNull(batch.takeBack());
        assertNull(batch.claim());
    }

    /** Equal priorities start in the order in which they became ready, also where the sequence number wraps round. */
    @ParameterizedTest
    @ValueSource(ints = {0, Integer.MAX_VALUE - 5, -5})
    void aReadyQueueKeepsItsOrderWhereverItsNumbersAre(int first) {
        EngineCore core = new EngineCore(new EngineBuilder());
        ReadyQueue queue = new ReadyQueue(first);
        List<Operation> added = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Operation op = operation(core, i);
            op.priority = 1;
            added.add(op);
            queue.add(op);
        }
        for (Operation op : added) {
            assertSame(op, queue.poll());
        }
        assertNull(queue.poll());
    }
}
