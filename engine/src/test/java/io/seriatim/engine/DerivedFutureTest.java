package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** A future derived from one of ours, by any method of CompletableFuture, is waited for as its source is. */
@EveryEngine
class DerivedFutureTest extends EngineContract {
    private static final Executor SAME_THREAD = Runnable::run;

    /** The ways to wait for a stage. */
    private enum Wait {
        GET, TIMED_GET, JOIN, AWAIT;

        void on(Engine engine, CompletionStage<?> stage) throws Exception {
            try {
                switch (this) {
                    case GET -> stage.toCompletableFuture().get();
                    case TIMED_GET -> stage.toCompletableFuture().get(1, TimeUnit.DAYS);
                    case JOIN -> stage.toCompletableFuture().join();
                    case AWAIT -> engine.await(stage);
                }
            } catch (ExecutionException | CompletionException e) {
                Throwable cause = e;
                while (cause instanceof ExecutionException || cause instanceof CompletionException) {
                    cause = cause.getCause();
                }
                assertTrue(cause instanceof Planted, e::toString);
            }
        }
    }

    /** Pushes an operation; a third of them fail if {@code random} is given. */
    private static CompletableFuture<?> source(Engine engine, Var v, @Nullable SplittableRandom random) {
        if (random == null) {
            return engine.op("source").mutates(v).call(() -> 1);
        }
        return switch (random.nextInt(3)) {
            case 0 -> engine.op("fails").overwrites(v).submit(TestSupport.failing(new Planted("source")));
            case 1 -> engine.op("submit").overwrites(v).submit(TestSupport.nothing());
            default -> engine.op("call").overwrites(v).call(() -> 1);
        };
    }

    private static Executor executor(SplittableRandom random) {
        return random.nextBoolean() ? SAME_THREAD : ForkJoinPool.commonPool();
    }

    /** Every method, with every way to wait, outside operations and inside. */
    @Test
    void everyMethod() throws Exception {
        SplittableRandom random = new SplittableRandom(EngineUnderTest.SEED);
        Engine engine = open();
        Var v = engine.newVar("v");
        Var w = engine.newVar("w");
        for (Derivation derivation : Derivation.all()) {
            for (Wait wait : Wait.values()) {
                Body waits = () -> wait.on(engine, derivation.of(source(engine, v, null), source(engine, w, null),
                        executor(random)));
                waits.run();
                engine.op("outer").submit(waits).get();
            }
        }
        engine.waitForAll();
        assertTrue(Derivation.all().size() >= 47, () -> "CompletableFuture has more methods: " + Derivation.all());
    }

    /** A random graph of futures: each is an operation's or derived from earlier ones. */
    private void randomGraph(Engine engine, long seed, int size) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        Var[] vars = TestSupport.vars(engine, 3);
        List<CompletionStage<?>> stages = new ArrayList<>();
        stages.add(source(engine, vars[0], random));
        for (int i = 0; i < size; i++) {
            CompletionStage<?> made;
            if (random.nextInt(3) == 0) {
                made = source(engine, vars[random.nextInt(vars.length)], random);
            } else {
                Derivation derivation = Derivation.all().get(random.nextInt(Derivation.all().size()));
                CompletionStage<?> source = stages.get(random.nextInt(stages.size()));
                if (derivation.method().getDeclaringClass() == CompletableFuture.class && random.nextInt(3) > 0) {
                    source = source.toCompletableFuture();
                }
                CompletableFuture<?> future = source instanceof CompletableFuture<?> f ? f : new CompletableFuture<>();
                made = onlyStage(future, derivation)
                        ? future
                        : derivation.of(future, stages.get(random.nextInt(stages.size())), executor(random));
            }
            stages.add(made);
        }
        for (int i = 0; i < 5; i++) {
            CompletionStage<?> stage = stages.get(stages.size() - 1 - random.nextInt(Math.min(10, stages.size())));
            Wait.values()[random.nextInt(Wait.values().length)].on(engine, stage);
        }
    }

    /** Whether the future is a minimal stage, which has the methods of CompletionStage only. */
    private static boolean onlyStage(CompletableFuture<?> future, Derivation derivation) {
        boolean minimal;
        try {
            minimal = future.isDone() && !future.isDone();
        } catch (UnsupportedOperationException e) {
            minimal = true;
        }
        String name = derivation.method().getName();
        return minimal && (derivation.completes() || name.equals("orTimeout"));
    }

    @Test
    void randomGraphs() throws Exception {
        long seeds = TestSupport.scaled(3_000, 60);
        for (long seed = EngineUnderTest.SEED; seed < EngineUnderTest.SEED + seeds; seed++) {
            long own = seed;
            Engine engine = open();
            try {
                randomGraph(engine, own, 30);
                engine.op("outer").submit(() -> randomGraph(engine, own, 30)).get();
            } catch (Exception | AssertionError e) {
                throw new AssertionError("with seed " + seed + " at " + engine.snapshot(), e);
            }
            engine.close();
        }
    }

    /** Inside an operation, a wait for what stands behind the operation is refused, through every method. */
    @Test
    void everyMethodNamesACycle() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Var w = engine.newVar("w");
        for (Derivation derivation : Derivation.all()) {
            if (derivation.completes()) {
                continue;
            }
            for (Wait wait : Wait.values()) {
                engine.op("outer").mutates(v).submit(() -> {
                    CompletionStage<?> behind = engine.op("behind").mutates(v).submit(TestSupport.nothing());
                    CompletionStage<?> free = engine.op("free").mutates(w).submit(TestSupport.nothing());
                    assertAll(derivation.toString(), () -> {
                        CompletionStage<?> derived = derivation.of(behind, free, SAME_THREAD);
                        if (derivation.isEither()) {
                            wait.on(engine, derived);
                        } else {
                            refused(engine, wait, derived);
                        }
                    }, () -> {
                        CompletionStage<?> derived = derivation.of(free, behind, SAME_THREAD);
                        boolean needs = (derivation.takesStage() && !derivation.isEither())
                                || derivation.method().getName().startsWith("thenCompose");
                        if (needs) {
                            refused(engine, wait, derived);
                        } else {
                            wait.on(engine, derived);
                        }
                    }, () -> {
                        if (derivation.isEither()) {
                            CompletionStage<?> last = engine.op("last").mutates(v).submit(TestSupport.nothing());
                            refused(engine, wait, derivation.of(behind, last, SAME_THREAD));
                        }
                    });
                }).get();
            }
        }
        engine.op("outer").mutates(v).submit(() -> {
            CompletableFuture<Void> fails = engine.op("fails").submit(TestSupport.failing(new Planted("planted")));
            CompletableFuture<Void> behind = engine.op("behind").mutates(v).submit(TestSupport.nothing());
            refused(engine, Wait.JOIN, fails.exceptionallyCompose(t -> behind));
            refused(engine, Wait.GET, fails.exceptionallyComposeAsync(t -> behind.minimalCompletionStage()));
        }).get();
        assertThrows(OperationFailedException.class, engine::waitForAll);
    }

    private static void refused(Engine engine, Wait wait, CompletionStage<?> stage) {
        TestSupport.assertThrowsMentioning(IllegalStateException.class, () -> wait.on(engine, stage), "outer",
                "behind", "can never end");
    }

    /** The composed stage is not known when the wait begins. */
    @Test
    void aCycleThroughAStageThatIsReturnedLater() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        Var w = engine.newVar("w");
        for (Wait wait : Wait.values()) {
            Held held = Held.push(engine.op("held").mutates(w)).untilStarted();
            CompletableFuture<Thread> waiter = new CompletableFuture<>();
            CompletableFuture<Void> outer = engine.op("outer").mutates(v).submit(() -> {
                CompletableFuture<Integer> derived = engine.op("slow").mutates(w).submit(TestSupport.nothing())
                        .thenComposeAsync(x -> engine.op("behind").mutates(v).submit(TestSupport.nothing()))
                        .thenApply(x -> 1);
                waiter.complete(Thread.currentThread());
                refused(engine, wait, derived);
            });
            TestSupport.untilParked(waiter.get());
            held.release();
            outer.get();
        }
        engine.waitForAll();
    }

    @Test
    void twoOperationsThatWaitForEachOthersDerivedFutures() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        for (int round = 0; round < TestSupport.scaled(200, 10); round++) {
            Engine engine = open();
            Var a = engine.newVar("a");
            Var b = engine.newVar("b");
            CountDownLatch both = new CountDownLatch(2);
            AtomicInteger refused = new AtomicInteger();
            CompletableFuture<Void> one = engine.op("one").mutates(a).on(Lane.of("cpu:1"))
                    .submit(() -> waitForTheOther(engine, b, both, refused));
            CompletableFuture<Void> two = engine.op("two").mutates(b).on(Lane.of("cpu:2"))
                    .kind(OpKind.COPY_IN).submit(() -> waitForTheOther(engine, a, both, refused));
            one.get();
            two.get();
            assertEquals(1, refused.get(), "of two that wait for each other, one is told");
            engine.close();
        }
    }

    private static void waitForTheOther(Engine engine, Var other, CountDownLatch both, AtomicInteger refused)
            throws Exception {
        both.countDown();
        TestSupport.await(both);
        CompletableFuture<Integer> behind = engine.op("behind").mutates(other).call(() -> 1);
        CompletableFuture<Integer> last = engine.op("last").mutates(other).call(() -> 2);
        try {
            behind.thenApply(x -> x + 1).applyToEither(last.thenApply(x -> x), x -> x)
                    .thenCombine(engine.op("free").call(() -> 3), Integer::sum).orTimeout(1, TimeUnit.DAYS).join();
        } catch (IllegalStateException e) {
            TestSupport.assertMentions(e, "one", "two");
            refused.incrementAndGet();
        }
    }

    /** Results and exceptions are those of CompletableFuture. */
    @Test
    void resultsAreThoseOfCompletableFuture() throws Exception {
        Engine engine = open();
        for (boolean fails : new boolean[]{false, true}) {
            for (Derivation first : Derivation.all()) {
                for (Derivation second : Derivation.all()) {
                    if (first.isEither() || second.isEither() || first.completes() || second.completes()) {
                        continue;
                    }
                    CompletableFuture<Object> plain = new CompletableFuture<>();
                    CompletableFuture<Object> other = new CompletableFuture<>();
                    CompletionStage<?> expected = derived(first, second, plain, other);
                    CompletableFuture<Object> ours = call(engine, fails);
                    CompletableFuture<Object> ourOther = call(engine, false);
                    CompletionStage<?> actual = derived(first, second, ours, ourOther);
                    if (fails) {
                        plain.completeExceptionally(new Planted("planted"));
                    } else {
                        plain.complete(1);
                    }
                    other.complete(1);
                    assertEquals(outcome(expected), outcome(actual), first + " and " + second);
                }
            }
        }
        try {
            engine.waitForAll();
        } catch (OperationFailedException e) {
            TestSupport.assertMentions(e, "planted");
        }
    }

    private static CompletableFuture<Object> call(Engine engine, boolean fails) {
        return engine.op("call").call(() -> {
            if (fails) {
                throw new Planted("planted");
            }
            return 1;
        });
    }

    private static CompletionStage<?> derived(Derivation first, Derivation second, CompletableFuture<?> source,
            CompletableFuture<?> other) {
        CompletionStage<?> middle = first.of(source, other, SAME_THREAD);
        CompletableFuture<?> future = (CompletableFuture<?>) middle;
        return onlyStage(future, second) ? middle : second.of(future, other, SAME_THREAD);
    }

    private static String outcome(CompletionStage<?> stage) throws Exception {
        StringBuilder text = new StringBuilder();
        CompletableFuture<?> future = stage.toCompletableFuture();
        try {
            text.append(future.get(60, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            text.append(e.getClass()).append(e.getCause());
        }
        try {
            text.append(future.join());
        } catch (CompletionException e) {
            text.append(e.getClass()).append(e.getCause());
        }
        text.append(future.isCompletedExceptionally()).append(future.isCancelled());
        text.append(future.handle((value, t) -> value + " " + t).join());
        return text.toString();
    }

    @Test
    void theyCanBeCompletedTimedOutAndCancelled() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Held held = Held.push(engine.op("held").mutates(engine.newVar("v"))).untilStarted();
        Var v = engine.newVar("w");
        Held first = Held.push(engine.op("first").mutates(v)).untilStarted();
        CompletableFuture<Integer> derived = engine.op("behind").mutates(v).call(() -> 1).thenApply(x -> x + 1);
        assertThrows(TimeoutException.class, () -> derived.get(0, TimeUnit.SECONDS));
        assertThrows(TimeoutException.class, () -> derived.get(1, TimeUnit.MILLISECONDS));
        CompletionException late = assertThrows(CompletionException.class,
                () -> derived.copy().orTimeout(1, TimeUnit.MILLISECONDS).join());
        assertTrue(late.getCause() instanceof TimeoutException, late::toString);
        assertEquals(7, derived.copy().completeOnTimeout(7, 1, TimeUnit.MILLISECONDS).join());
        CompletableFuture<Integer> completed = derived.thenApply(x -> x);
        Task join = Task.start("join", () -> assertEquals(9, completed.join()));
        TestSupport.untilParked(join.thread);
        join.thread.interrupt();
        assertTrue(completed.complete(9));
        join.join();
        CompletableFuture<Integer> cancelled = derived.thenApply(x -> x);
        assertTrue(cancelled.cancel(true));
        assertTrue(cancelled.isCancelled());
        Task waiting = Task.start("waiting", () -> assertThrows(InterruptedException.class, derived::get));
        TestSupport.untilParked(waiting.thread);
        waiting.thread.interrupt();
        waiting.join();
        first.release();
        held.release();
        assertEquals(2, derived.join());
    }

    /** On the shuffled engine nobody runs operations outside its waits: the snapshot says so. */
    @Test
    void whyNobodyRunsReadyOperations() throws Exception {
        Engine engine = open();
        assertEquals("", engine.snapshot().note());
        CompletableFuture<Void> future = engine.op("op").submit(TestSupport.nothing());
        EngineSnapshot snapshot = engine.snapshot();
        assertEquals(kind == EngineUnderTest.SHUFFLED, snapshot.note().contains("Engine.await"), snapshot::toString);
        assertTrue(snapshot.toString().contains(snapshot.note()));
        engine.await(CompletableFuture.allOf(future));
        assertEquals("", engine.snapshot().note());
        engine.op("looks").submit(() -> assertEquals("", engine.snapshot().note())).get();
    }

    /** The futures of several engines that run operations only in waits: the waiting thread runs those of each. */
    @Test
    void severalEngines() throws Exception {
        Engine one = open();
        Engine two = open();
        Engine three = open();
        for (int round = 0; round < 20; round++) {
            Var v = one.newVar("v");
            CompletableFuture<Integer> a = one.op("a").mutates(v).call(() -> 1);
            CompletableFuture<Integer> b = two.op("b").mutates(two.newVar("w")).call(() -> 2);
            CompletableFuture<Integer> later = a.thenCompose(x -> three.op("c").call(() -> x + 2));
            assertEquals(6, a.thenCombine(b, Integer::sum).thenCombine(later, Integer::sum).join());
            CompletableFuture<Integer> c = two.op("c").call(() -> 1);
            CompletableFuture<Integer> d = one.op("d").mutates(v).call(() -> 1);
            assertEquals(4, one.op("outer").mutates(v).call(() -> c.thenCombine(b, Integer::sum).get() + 1).get());
            assertEquals(1, d.join());
            two.await(one.op("e").call(() -> 1).thenApply(x -> x));
        }
    }

    /** A minimal stage has the methods of CompletionStage only; its future is one of ours again. */
    @Test
    void minimalStages() throws Exception {
        Engine engine = open();
        CompletionStage<Integer> minimal = engine.op("op").call(() -> 1).minimalCompletionStage();
        assertEquals(2, minimal.thenApply(x -> x + 1).toCompletableFuture().join());
        assertEquals(1, minimal.toCompletableFuture().get());
        CompletableFuture<Integer> future = (CompletableFuture<Integer>) minimal.thenApply(x -> x);
        assertThrows(UnsupportedOperationException.class, future::join);
        assertThrows(UnsupportedOperationException.class, () -> future.complete(1));
        CompletableFuture<Integer> own = minimal.toCompletableFuture();
        CompletionStage<Integer> other = engine.op("other").call(() -> 3).minimalCompletionStage();
        assertTrue(own.complete(5) || own.isDone());
        assertEquals(3, other.toCompletableFuture().join(), "the completion of its future leaves the stage alone");
    }

    /** A stage function that waits for a stage which the same pool of one thread has to run. */
    @Test
    void aPoolOfOneForkJoinThread() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        ForkJoinPool pool = new ForkJoinPool(1);
        try {
            CompletableFuture<Integer> outer = CompletableFuture.supplyAsync(
                    () -> engine.op("op").mutates(v).call(() -> 1).thenApplyAsync(x -> x + 1, pool)
                            .thenComposeAsync(x -> engine.op("op").mutates(v).call(() -> x + 1), pool).join(),
                    pool);
            assertEquals(3, outer.get(30, TimeUnit.SECONDS));
        } finally {
            pool.shutdown();
        }
    }

    /** A long chain of derived futures does not keep those that are done, nor does its walk need stack. */
    @Test
    void longChains() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        int length = 20_000;
        engine.op("outer").submit(() -> {
            CompletableFuture<Integer> first = engine.op("first").mutates(v).call(() -> 0);
            CompletableFuture<Integer> last = first;
            for (int i = 0; i < length; i++) {
                last = i % 3 == 0 ? last.thenCombine(first, (x, y) -> x + 1) : last.thenApply(x -> x + 1);
            }
            assertEquals(length, last.get());
        }).get();
        List<WeakReference<CompletableFuture<?>>> sources = new ArrayList<>();
        CompletableFuture<Integer> last = chain(engine, v, sources);
        assertEquals(1_001, last.get());
        engine.waitForAll();
        engine.op("idle").mutates(v).submit(TestSupport.nothing()).get();
        TestSupport.eventually(() -> {
            System.gc();
            return sources.stream().allMatch(source -> source.get() == null);
        }, () -> "the future " + last + " keeps those that it was derived from");
    }

    private static CompletableFuture<Integer> chain(Engine engine, Var v,
            List<WeakReference<CompletableFuture<?>>> sources) {
        CompletableFuture<byte[]> big = engine.op("big").mutates(v).call(() -> new byte[1_000]);
        CompletableFuture<Integer> derived = big.thenApply(bytes -> bytes.length);
        sources.add(new WeakReference<>(big));
        sources.add(new WeakReference<>(derived));
        return derived.thenCombine(big, (x, y) -> x).thenCompose(x -> engine.op("next").mutates(v).call(() -> x))
                .thenApply(x -> x + 1);
    }
}
