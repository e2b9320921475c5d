package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Eight threads push operations on overlapping sets of variables in opposite orders: no deadlock occurs, and one total
 * order explains the observed histories.
 */
@EveryEngine
class ManyPushersTest extends EngineContract {
    private static final int THREADS = 8;
    private static final int VARS = 12;
    private static final int PER_THREAD = (int) TestSupport.scaled(500_000, 5_000);

    @Test
    void oneTotalOrderExplainsTheRun() throws Exception {
        Engine engine = open(builder -> builder.maxPending(4_096));
        Var[] vars = TestSupport.vars(engine, VARS);
        Witness witness = new Witness(THREADS, PER_THREAD, 3, VARS);
        CyclicBarrier start = new CyclicBarrier(THREADS);
        List<Task> pushers = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            pushers.add(Task.start("pusher" + t, () -> {
                SplittableRandom random = new SplittableRandom(EngineUnderTest.SEED + thread);
                start.await();
                for (int i = 0; i < PER_THREAD; i++) {
                    push(engine, vars, witness, thread, i, random);
                }
            }));
        }
        for (Task pusher : pushers) {
            pusher.join();
        }
        engine.waitForAll();
        assertEquals((long) THREADS * PER_THREAD, engine.stats().completed());
        assertEquals("", witness.stuck(), () -> "seed " + EngineUnderTest.SEED);
    }

    private static void push(Engine engine, Var[] vars, Witness witness, int thread, int i, SplittableRandom random) {
        int[] picked = random.ints(0, VARS).distinct().limit(3).sorted().toArray();
        if (thread % 2 == 1) {
            picked = new int[]{picked[2], picked[1], picked[0]};
        }
        int a = picked[0];
        int b = picked[1];
        int c = picked[2];
        boolean reads = random.nextBoolean();
        OpBuilder op = engine.op("op").mutates(vars[a], vars[b]);
        if (reads) {
            op.reads(vars[c]);
        } else {
            op.mutates(vars[c]);
        }
        op.push(() -> {
            witness.mutate(thread, i, 0, a);
            witness.mutate(thread, i, 1, b);
            if (reads) {
                witness.read(thread, i, 2, c);
            } else {
                witness.mutate(thread, i, 2, c);
            }
        });
    }

    @Test
    void manyThreadsWaitWhileManyPush() throws Exception {
        Engine engine = open();
        Var[] vars = TestSupport.vars(engine, 4);
        int[] plain = new int[vars.length];
        List<Task> tasks = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int thread = t;
            tasks.add(Task.start("user" + t, () -> {
                for (int i = 0; i < 300; i++) {
                    int v = (thread + i) % vars.length;
                    engine.op("add").mutates(vars[v]).push(() -> plain[v]++);
                    switch (i % 3) {
                        case 0 -> engine.waitToRead(vars[v]);
                        case 1 -> engine.waitToWrite(vars[v]);
                        default -> engine.waitForAll();
                    }
                }
            }));
        }
        for (Task task : tasks) {
            task.join();
        }
        engine.waitForAll();
        assertEquals(THREADS * 300, IntStream.of(plain).sum());
    }
}
