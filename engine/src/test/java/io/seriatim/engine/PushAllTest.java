package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Bulk pushes: each operation of the list is a push of its own, in order. */
@EveryEngine
class PushAllTest extends EngineContract {
    /** Prepared operations on some variables, each with its serial meaning: what it does to the values. */
    private static final class Operations {
        final long[] values;
        final long[] expected;
        final List<PreparedOp> prepared = new ArrayList<>();
        private final List<Runnable> serial = new ArrayList<>();

        Operations(Engine engine, SplittableRandom random, Var[] vars, int count) {
            values = new long[vars.length];
            expected = new long[vars.length];
            for (int i = 0; i < count; i++) {
                int from = random.nextInt(vars.length);
                int to = random.nextInt(vars.length);
                long add = random.nextLong();
                serial.add(() -> expected[to] = 31 * expected[to] + 17 * expected[from] + add);
                Body body = () -> values[to] = 31 * values[to] + 17 * values[from] + add;
                OpBuilder op = engine.op("op" + i).reads(vars[from]).mutates(vars[to]);
                prepared.add(switch (random.nextInt(6)) {
                    case 0 -> op.kind(OpKind.ASYNC).prepare(body);
                    case 1 -> op.kind(OpKind.COPY_IN).prepare(body);
                    case 2 -> op.priority(random.nextInt(3)).prepare(body);
                    case 3 -> op.prepareAsync(done -> {
                        body.run();
                        done.complete();
                    });
                    default -> op.prepare(body);
                });
            }
        }

        /** Chooses operations, in any order and several times, and performs them serially. */
        List<PreparedOp> choose(SplittableRandom random, int count) {
            List<PreparedOp> chosen = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int at = random.nextInt(prepared.size());
                serial.get(at).run();
                chosen.add(prepared.get(at));
            }
            return chosen;
        }
    }

    private void randomLists(Engine engine, long seed, int most) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        Operations operations = new Operations(engine, random, TestSupport.vars(engine, 5), 20);
        long pushed = engine.stats().pushed();
        for (int i = 0; i < 4; i++) {
            List<PreparedOp> chosen = operations.choose(random, random.nextInt(most));
            pushed += chosen.size();
            if (random.nextInt(3) == 0) {
                engine.op("outer").submit(() -> engine.pushAll(chosen)).get();
                pushed++;
            } else {
                engine.pushAll(chosen);
            }
        }
        engine.waitUntilIdle();
        assertArrayEquals(operations.expected, operations.values, "seed " + seed);
        assertEquals(pushed, engine.stats().pushed());
    }

    @Test
    void randomListsHaveTheSerialResult() throws Exception {
        Engine engine = open();
        for (long seed = EngineUnderTest.SEED; seed < EngineUnderTest.SEED + TestSupport.scaled(500, 15); seed++) {
            randomLists(engine, seed, 400);
        }
    }

    @Test
    void aListThatIsLongerThanTheRoom() throws Exception {
        for (int maxPending : new int[]{1, 2, 7, 100}) {
            Engine engine = open(builder -> builder.maxPending(maxPending));
            randomLists(engine, EngineUnderTest.SEED + maxPending, 1_000);
        }
    }

    /** Lists that name the same variables in opposite orders, by several threads, with single pushes between them. */
    @Test
    void severalThreads() throws Exception {
        Engine engine = open();
        Var a = engine.newVar("a");
        Var b = engine.newVar("b");
        int[] counts = new int[2];
        PreparedOp first = engine.op("first").mutates(a, b).prepare(() -> counts[0]++);
        PreparedOp second = engine.op("second").mutates(b, a).prepare(() -> counts[1]++);
        List<PreparedOp> forward = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            forward.add(i % 2 == 0 ? first : second);
        }
        List<PreparedOp> backward = new ArrayList<>(forward);
        Collections.reverse(backward);
        List<Task> tasks = new ArrayList<>();
        for (List<PreparedOp> list : List.of(forward, backward)) {
            for (int t = 0; t < 2; t++) {
                tasks.add(Task.start("pusher", () -> {
                    engine.pushAll(list);
                    first.push();
                }));
            }
        }
        for (Task task : tasks) {
            task.join();
        }
        engine.waitForAll();
        assertEquals(4 * 150 + 4, counts[0]);
        assertEquals(4 * 150, counts[1]);
    }

    /** With one worker, operations without variables of equal priority start in push order. */
    @Test
    void theOrderOfTheList() throws Exception {
        Assumptions.assumeTrue(kind.isSingle() || kind == EngineUnderTest.NAIVE);
        Engine engine = open();
        List<Integer> order = new ArrayList<>();
        List<PreparedOp> list = new ArrayList<>();
        List<Integer> expected = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            int at = i;
            expected.add(i);
            list.add(engine.op("op").prepare(() -> order.add(at)));
        }
        engine.pushAll(list);
        engine.waitForAll();
        assertEquals(expected, order);
    }

    @Test
    void onTheNaiveEngineTheyHaveEndedWhenThePushReturns() {
        Assumptions.assumeTrue(kind == EngineUnderTest.NAIVE);
        Engine engine = open();
        AtomicInteger ran = new AtomicInteger();
        PreparedOp op = engine.op("op").prepare(ran::incrementAndGet);
        engine.pushAll(Collections.nCopies(500, op));
        assertEquals(500, ran.get());
    }

    @Test
    void failuresAreThoseOfSinglePushes() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Planted planted = new Planted("planted");
        PreparedOp fails = engine.op("fails").mutates(v).prepare(TestSupport.failing(planted));
        PreparedOp skipped = engine.op("skipped").mutates(v).prepare(TestSupport.nothing());
        PreparedOp heals = engine.op("heals").overwrites(v).prepare(TestSupport.nothing());
        engine.pushAll(List.of(fails, skipped, skipped));
        TestSupport.assertPoisoned(engine, v, "fails", planted);
        engine.pushAll(List.of(fails, heals, heals));
        TestSupport.assertHealthy(engine, v);
        assertThrows(OperationFailedException.class, engine::waitForAll);
        assertEquals(3, engine.stats().skipped(), "the second failing one as well");
    }

    /** What cannot be pushed at all is found before the first push. */
    @Test
    void badLists() {
        Engine engine = open();
        Engine other = open();
        Var v = engine.newVar("v");
        PreparedOp good = engine.op("good").mutates(v).prepare(TestSupport.nothing());
        PreparedOp foreign = other.op("foreign").prepare(TestSupport.nothing());
        PreparedOp deleted = engine.op("deleted").prepare(TestSupport.nothing());
        deleted.delete();
        PreparedOp unknown = new PreparedOp() {
            @Override
            public void push() {
                throw new AssertionError("not called");
            }

            @Override
            public void push(int priority) {
                push();
            }

            @Override
            public void push(Lane lane, int priority) {
                push();
            }

            @Override
            public void delete() {
                push();
            }
        };
        assertThrows(NullPointerException.class, () -> engine.pushAll(TestSupport.nil()));
        TestSupport.assertThrowsMentioning(NullPointerException.class,
                () -> engine.pushAll(Arrays.asList(good, TestSupport.nil())), "operation");
        TestSupport.assertThrowsMentioning(IllegalArgumentException.class,
                () -> engine.pushAll(List.of(good, foreign)), "of engine '" + other.snapshot().engine() + "'",
                engine.snapshot().engine());
        TestSupport.assertThrowsMentioning(IllegalArgumentException.class,
                () -> engine.pushAll(List.of(good, unknown)), "no engine's");
        TestSupport.assertThrowsMentioning(IllegalStateException.class,
                () -> engine.pushAll(List.of(good, deleted)), "deleted");
        engine.pushAll(List.of());
        assertEquals(0, engine.stats().pushed());
        engine.close();
        engine.pushAll(List.of());
        TestSupport.assertThrowsMentioning(IllegalStateException.class, () -> engine.pushAll(List.of(good, good)),
                "closed", "good");
        assertEquals(0, engine.stats().pushed());
    }

    /** Operations before one on a deleted variable are pushed and run; those after it are not. */
    @Test
    void aDeletedVariableInTheMiddle() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Var gone = engine.newVar("gone");
        AtomicInteger ran = new AtomicInteger();
        PreparedOp good = engine.op("good").mutates(v).prepare(ran::incrementAndGet);
        PreparedOp async = engine.op("async").kind(OpKind.ASYNC).reads(gone).prepare(ran::incrementAndGet);
        PreparedOp bad = engine.op("bad").reads(gone).prepare(ran::incrementAndGet);
        engine.delete(gone);
        for (PreparedOp refused : List.of(bad, async)) {
            for (int before : new int[]{0, 1, 127, 128, 300}) {
                ran.set(0);
                List<PreparedOp> list = new ArrayList<>(Collections.nCopies(before, good));
                list.add(refused);
                list.add(good);
                TestSupport.assertThrowsMentioning(IllegalStateException.class, () -> engine.pushAll(list), "gone",
                        "deleted");
                if (kind.hasWorkers()) {
                    TestSupport.eventually(() -> ran.get() == before, () -> "they run without another call: " + ran);
                }
                engine.waitForAll();
                assertEquals(before, ran.get());
            }
        }
    }

    @Test
    void whileTheEngineCloses() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        PreparedOp op = engine.op("op").prepare(ran::incrementAndGet);
        engine.op("outer").push(() -> {
            started.countDown();
            TestSupport.await(go);
            engine.pushAll(Collections.nCopies(200, op));
        });
        TestSupport.await(started);
        Task closer = Task.start("closer", engine::close);
        TestSupport.untilParked(closer.thread);
        assertThrows(IllegalStateException.class, () -> engine.pushAll(List.of(op)));
        go.countDown();
        closer.join();
        assertEquals(200, ran.get());
    }
}
