package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** 32-bit counters wrap around correctly, and 64-bit counters exceed the range of an int. */
@EveryEngine
class CounterTest extends EngineContract {
    private static final int NEAR = 40;

    private Engine open(int firstIndex, long firstOrder) {
        return open(builder -> ((EngineBuilder) builder).firstCounters(firstIndex, firstOrder));
    }

    /** Operations of some microseconds, so that several workers use batches. */
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
}
