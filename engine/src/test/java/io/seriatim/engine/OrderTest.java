package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Every run is equivalent to the serial one. Most of these tests are those of the reference engine. */
@EveryEngine
class OrderTest extends EngineContract {

    @Test
    void randomSumsAreThoseOfTheSerialRun() throws Exception {
        for (int round = 0; round < 5; round++) {
            SplittableRandom random = new SplittableRandom(round);
            int[] nanos = random.ints(10_000, 1_000, 10_000).toArray();
            new RandomSums(EngineUnderTest.SEED + round, 10_000).check(RandomSums.on(open()), i -> nanos[i]);
        }
    }

    @Test
    void anIdleEngineStartsAndStops() {
        for (int i = 0; i < 20; i++) {
            open().close();
        }
    }

    @Test
    void readsLeaveTheVersionAndMutationsRaiseIt() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        assertEquals(0, v.version());
        for (int i = 0; i < 10; i++) {
            engine.op("read").reads(v).push(TestSupport.nothing());
        }
        engine.waitForAll();
        assertEquals(0, v.version());
        for (int i = 0; i < 10; i++) {
            engine.op("write").mutates(v).push(TestSupport.nothing());
        }
        engine.waitToRead(v);
        assertEquals(10, v.version());
        engine.op("replace").overwrites(v).push(TestSupport.nothing());
        engine.waitToRead(v);
        assertEquals(11, v.version());
    }

    @Test
    void theVersionCountsFailedAndSkippedMutationsToo() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.op("fails").mutates(v).push(TestSupport.failing(new Planted("one")));
        engine.op("skipped").mutates(v).push(TestSupport.nothing());
        engine.waitToWrite(v);
        assertEquals(2, v.version());
        engine.clearFailure(v);
        engine.waitToRead(v);
        assertEquals(2, v.version(), "clearing is no mutation");
    }

    @Test
    void operationsWithoutVariablesRun() throws Exception {
        Engine engine = open();
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < 100; i++) {
            engine.op("sync").push(ran::incrementAndGet);
            engine.op("async").pushAsync(done -> {
                ran.incrementAndGet();
                done.complete();
            });
        }
        engine.waitForAll();
        assertEquals(200, ran.get());
    }

    @Test
    void repeatsInTheSetsAreOneAndReadWithMutateIsMutate() throws Exception {
        Engine engine = open();
        Var a = engine.newVar("a");
        Var b = engine.newVar("b");
        AtomicLong value = new AtomicLong();
        for (int i = 0; i < 100; i++) {
            engine.op("twice").reads(a, a).reads(a).mutates(b, b).mutates(b).push(TestSupport.nothing());
            engine.op("both").reads(a, b).mutates(b, a).reads(a).push(() -> value.set(value.get() + 1));
            engine.op("all").overwrites(a).reads(a).mutates(a).overwrites(a, b).push(() -> value.set(value.get() + 1));
        }
        engine.waitForAll();
        assertEquals(200, value.get());
        assertEquals(200, a.version(), "mutated by two of three");
        assertEquals(300, b.version());
    }

    @Test
    void moreVariablesThanAnyoneNeeds() throws Exception {
        Engine engine = open();
        Var[] vars = TestSupport.vars(engine, 3_000);
        long[] values = new long[vars.length];
        for (int round = 0; round < 5; round++) {
            engine.op("all").mutates(vars).reads(vars).push(() -> {
                for (int i = 0; i < values.length; i++) {
                    values[i] += i;
                }
            });
            for (int i = 0; i < values.length; i++) {
                int at = i;
                engine.op("one").mutates(vars[i]).push(() -> values[at] *= 3);
            }
        }
        engine.waitForAll();
        for (int i = 0; i < values.length; i++) {
            assertEquals(i * (3L + 9 + 27 + 81 + 243), values[i]);
            assertEquals(10, vars[i].version());
        }
    }

    @Test
    void workedExampleTwoReadersThenJoin() throws Exception {
        Engine engine = open();
        Var[] v = TestSupport.vars(engine, 4);
        long[] x = new long[4];
        engine.op("A=2").overwrites(v[0]).push(() -> x[0] = 2);
        engine.op("B=A+1").reads(v[0]).overwrites(v[1]).push(() -> x[1] = x[0] + 1);
        engine.op("C=A+2").reads(v[0]).overwrites(v[2]).push(() -> x[2] = x[0] + 2);
        engine.op("D=B*C").reads(v[1], v[2]).overwrites(v[3]).push(() -> x[3] = x[1] * x[2]);
        engine.waitToRead(v[3]);
        assertEquals(12, x[3]);
    }

    @Test
    void workedExampleAWriteWaitsForItsReaders() throws Exception {
        Engine engine = open();
        Var[] v = TestSupport.vars(engine, 4);
        long[] x = {2, 0, 0, 0};
        engine.op("B=A+1").reads(v[0]).overwrites(v[1]).push(() -> x[1] = x[0] + 1);
        engine.op("C=A+2").reads(v[0]).overwrites(v[2]).push(() -> x[2] = x[0] + 2);
        engine.op("A=C*2").reads(v[2]).overwrites(v[0]).push(() -> x[0] = x[2] * 2);
        engine.op("D=A+3").reads(v[0]).overwrites(v[3]).push(() -> x[3] = x[0] + 3);
        engine.waitForAll();
        assertEquals(List.of(8L, 3L, 4L, 11L), List.of(x[0], x[1], x[2], x[3]));
    }

    @Test
    void workedExampleOneVariable() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        List<String> order = new ArrayList<>();
        engine.op("w1").mutates(v).push(() -> order.add("w1"));
        engine.op("w2").mutates(v).push(() -> order.add("w2"));
        AtomicInteger readers = new AtomicInteger();
        engine.op("r1").reads(v).push(() -> readers.addAndGet(order.size()));
        engine.op("r2").reads(v).push(() -> readers.addAndGet(order.size()));
        engine.op("w3").mutates(v).push(() -> order.add("w3 after " + readers));
        engine.waitToRead(v);
        assertEquals(List.of("w1", "w2", "w3 after 4"), order);
    }

    @Test
    void workedExampleDrawsFromOneGenerator() throws Exception {
        SplittableRandom expected = new SplittableRandom(7);
        SplittableRandom random = new SplittableRandom(7);
        Engine engine = open();
        Var generator = engine.newVar("generator");
        Var[] v = TestSupport.vars(engine, 500);
        long[] drawn = new long[v.length];
        AtomicInteger inside = new AtomicInteger();
        for (int i = 0; i < v.length; i++) {
            int at = i;
            engine.op("draw").mutates(generator).overwrites(v[i]).push(() -> {
                assertEquals(1, inside.incrementAndGet());
                drawn[at] = random.nextLong();
                inside.decrementAndGet();
            });
        }
        engine.waitForAll();
        for (long number : drawn) {
            assertEquals(expected.nextLong(), number);
        }
    }

    @Test
    void everyUseOfAVariableSeesItsPredecessorsWrites() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        int[] plain = {0};
        AtomicInteger wrong = new AtomicInteger();
        for (int i = 0; i < 2_000; i++) {
            int before = i;
            engine.op("write").mutates(v).push(() -> plain[0]++);
            for (int r = 0; r < 3; r++) {
                engine.op("read").reads(v).push(() -> {
                    if (plain[0] != before + 1) {
                        wrong.incrementAndGet();
                    }
                });
            }
        }
        engine.waitForAll();
        assertEquals(0, wrong.get());
        assertEquals(2_000, plain[0]);
    }

    @Test
    void engineAndVariableNames() {
        Engine engine = open();
        Var a = engine.newVar();
        Var b = engine.newVar();
        assertTrue(!a.name().equals(b.name()), "generated names differ");
        assertEquals("x", engine.newVar("x").name());
        assertEquals("x", engine.newVar("x").toString(), "names need not be unique");
    }

    @Test
    void bodiesOfDifferentEnginesMayShareAThreadOrNot() throws Exception {
        Engine one = open();
        Engine two = open();
        Var a = one.newVar("a");
        Var b = two.newVar("b");
        CountDownLatch both = new CountDownLatch(2);
        one.op("one").mutates(a).push(() -> two.op("two").mutates(b).push(both::countDown));
        one.op("count").reads(a).push(both::countDown);
        one.waitForAll();
        two.waitForAll();
        TestSupport.await(both);
    }
}
