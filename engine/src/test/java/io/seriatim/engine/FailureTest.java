package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The effect of a failure on variables, dependent operations and waiting threads. */
@EveryEngine
class FailureTest extends EngineContract {
    private final Planted planted = new Planted("planted");
    private final AtomicInteger ran = new AtomicInteger();
    private final Body counts = ran::incrementAndGet;

    @Test
    void nothingIsThrownBeforeAWait() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        for (int i = 0; i < 10; i++) {
            engine.op("fails").mutates(v).push(TestSupport.failing(planted));
        }
        TestSupport.assertPoisoned(engine, v, "fails", planted);
    }

    @Test
    void theOriginalThrowableIsCarriedWhateverItIs() throws Exception {
        Engine engine = open();
        for (Throwable t : List.of(planted, new Exception("checked"), new InterruptedException("interrupted"),
                new OutOfMemoryError("planted"),
                new StackOverflowError("planted"), new AssertionError("error"), new LinkageError("link"),
                new Throwable("bare"))) {
            Var v = engine.newVar("v");
            engine.op("throws").mutates(v).push(TestSupport.failing(t));
            TestSupport.assertPoisoned(engine, v, "throws", t);
        }
    }

    @Test
    void dependantsAreSkippedAndPassThePoisonOn() throws Exception {
        Engine engine = open();
        Var[] v = TestSupport.vars(engine, 5);
        engine.op("fails").mutates(v[0]).push(TestSupport.failing(planted));
        engine.op("reads it").reads(v[0]).mutates(v[1]).push(counts);
        engine.op("mutates it").mutates(v[0], v[2]).push(counts);
        engine.op("further").reads(v[2]).overwrites(v[3]).push(counts);
        engine.op("untouched").reads(v[4]).push(TestSupport.nothing());
        for (int i = 0; i < 4; i++) {
            TestSupport.assertPoisoned(engine, v[i], "fails", planted);
        }
        assertEquals(0, ran.get());
        assertEquals(3, engine.stats().skipped());
        assertEquals(1, engine.stats().failed());
        TestSupport.assertHealthy(engine, v[4]);
    }

    @Test
    void overwritingRunsAndHeals() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Var other = engine.newVar("other");
        engine.op("fails").mutates(v, other).push(TestSupport.failing(planted));
        engine.op("replaces").overwrites(v).push(counts);
        engine.op("reads").reads(v).push(counts);
        TestSupport.assertHealthy(engine, v);
        TestSupport.assertPoisoned(engine, other, "fails", planted);
        engine.waitToWrite(v);
        assertEquals(2, ran.get());
    }

    @Test
    void overwritingThatNeedsAPoisonedVariableIsSkippedAndDoesNotHeal() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Var needed = engine.newVar("needed");
        Planted second = new Planted("second");
        engine.op("one").mutates(v).push(TestSupport.failing(planted));
        engine.op("two").mutates(needed).push(TestSupport.failing(second));
        engine.op("replaces").reads(needed).overwrites(v).push(counts);
        OperationFailedException e = assertThrows(OperationFailedException.class, () -> engine.waitToRead(v));
        assertTrue(List.of("one", "two").contains(e.operation()), e.operation());
        assertEquals(0, ran.get());
    }

    @Test
    void failingToOverwriteIsAFailureOfItsOwn() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Planted second = new Planted("second");
        engine.op("one").mutates(v).push(TestSupport.failing(planted));
        engine.op("two").overwrites(v).push(TestSupport.failing(second));
        TestSupport.assertPoisoned(engine, v, "two", second);
    }

    @Test
    void evenIfFailedAlwaysRunsAndHealsOnlyWhatItOverwrites() throws Exception {
        Engine engine = open();
        Var mutated = engine.newVar("mutated");
        Var overwritten = engine.newVar("overwritten");
        Var clean = engine.newVar("clean");
        engine.op("fails").mutates(mutated, overwritten).push(TestSupport.failing(planted));
        engine.op("even").reads(clean).mutates(mutated).overwrites(overwritten).evenIfFailed().push(counts);
        TestSupport.assertHealthy(engine, overwritten);
        TestSupport.assertPoisoned(engine, mutated, "fails", planted);
        engine.op("even, reading").reads(mutated).mutates(clean).evenIfFailed().push(counts);
        TestSupport.assertHealthy(engine, clean);
        assertEquals(2, ran.get());
        Planted second = new Planted("second");
        engine.op("even, failing").mutates(mutated).evenIfFailed().push(TestSupport.failing(second));
        TestSupport.assertPoisoned(engine, mutated, "even, failing", second);
    }

    @Test
    void aSiblingsWaitDoesNotClearTheOthers() throws Exception {
        Engine engine = open();
        Var[] v = TestSupport.vars(engine, 3);
        engine.op("fails").mutates(v).push(TestSupport.failing(planted));
        for (int round = 0; round < 2; round++) {
            for (Var each : v) {
                TestSupport.assertPoisoned(engine, each, "fails", planted);
            }
        }
    }

    @Test
    void waitToWriteDoesNotThrow() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.op("fails").mutates(v).push(TestSupport.failing(planted));
        engine.waitToWrite(v);
        TestSupport.assertPoisoned(engine, v, "fails", planted);
    }

    @Test
    void failureTellsWithoutWaiting() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        assertNull(engine.failure(v));
        engine.op("fails").mutates(v).push(TestSupport.failing(planted));
        engine.waitToWrite(v);
        OperationFailedException told = assertInstanceOf(OperationFailedException.class, engine.failure(v));
        assertEquals("fails", told.operation());
        assertSame(v, told.var());
        assertSame(planted, told.getCause());
    }

    @Test
    void clearFailureTakesItsPlaceInTheOrder() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        List<String> order = new ArrayList<>();
        engine.op("fails").mutates(v).push(TestSupport.failing(planted));
        engine.op("before").mutates(v).push(() -> order.add("before"));
        engine.clearFailure(v);
        engine.op("after").mutates(v).push(() -> order.add("after"));
        TestSupport.assertHealthy(engine, v);
        assertEquals(List.of("after"), order);
        engine.clearFailure(v);
        TestSupport.assertHealthy(engine, v);
    }

    @Test
    void waitForAllThrowsOnceTheFirstWithTheOthersSuppressed() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Planted second = new Planted("second");
        engine.op("one").mutates(v).push(TestSupport.failing(planted));
        engine.op("skipped").mutates(v).push(counts);
        engine.op("two").overwrites(v).push(TestSupport.failing(second));
        OperationFailedException thrown = assertThrows(OperationFailedException.class, engine::waitForAll);
        assertEquals("one", thrown.operation());
        assertNull(thrown.var());
        assertSame(planted, thrown.getCause());
        TestSupport.assertMentions(thrown, "one", "planted");
        assertEquals(1, thrown.getSuppressed().length, "skipped operations are no failures of their own");
        OperationFailedException other = assertInstanceOf(OperationFailedException.class, thrown.getSuppressed()[0]);
        assertEquals("two", other.operation());
        assertSame(second, other.getCause());
        engine.waitForAll();
        TestSupport.assertPoisoned(engine, v, "two", second);
        engine.waitForAll();
    }

    @Test
    void atMostSixteenAreSuppressedThenThereIsACount() throws Exception {
        for (int failures : new int[]{17, 18, 40}) {
            Engine engine = open();
            Var v = engine.newVar("v");
            for (int i = 0; i < failures; i++) {
                engine.op("fails" + i).overwrites(v).push(TestSupport.failing(planted));
            }
            OperationFailedException thrown = assertThrows(OperationFailedException.class, engine::waitForAll);
            assertEquals("fails0", thrown.operation());
            Throwable[] others = thrown.getSuppressed();
            List<String> names = Arrays.stream(others).limit(16).map(t -> ((OperationFailedException) t).operation())
                    .toList();
            assertEquals(16, names.size());
            assertEquals("fails1", names.get(0));
            assertEquals("fails16", names.get(15));
            assertEquals(failures > 17 ? 17 : 16, others.length);
            if (failures > 17) {
                TestSupport.assertMentions(others[16], failures - 17);
            }
        }
    }

    @Test
    void waitForAllTellsOfOperationsThatMutateNothing() throws Exception {
        Engine engine = open();
        engine.op("alone").push(TestSupport.failing(planted));
        OperationFailedException thrown = assertThrows(OperationFailedException.class, engine::waitForAll);
        assertEquals("alone", thrown.operation());
    }

    @Test
    void aThrowElsewhereDoesNotConsumeTheFailureForWaitForAll() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        CompletableFuture<Void> future = engine.op("fails").mutates(v).submit(TestSupport.failing(planted));
        assertThrows(ExecutionException.class, future::get);
        TestSupport.assertPoisoned(engine, v, "fails", planted);
        assertNotNull(engine.failure(v));
        engine.clearFailure(v);
        OperationFailedException thrown = assertThrows(OperationFailedException.class, engine::waitForAll);
        assertSame(planted, thrown.getCause());
    }

    @Test
    void futuresTellWhatTheBodyThrew() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        CompletableFuture<Void> failed = engine.op("fails").mutates(v).submit(TestSupport.failing(planted));
        CompletableFuture<String> skipped = engine.op("skipped").reads(v).call(() -> "never");
        assertSame(planted, assertThrows(ExecutionException.class, failed::get).getCause());
        assertSame(planted, assertThrows(CompletionException.class, failed::join).getCause());
        OperationFailedException why = assertInstanceOf(OperationFailedException.class,
                assertThrows(ExecutionException.class, skipped::get).getCause());
        assertEquals("fails", why.operation());
        assertSame(v, why.var());
        assertSame(planted, why.getCause());
        assertFalse(skipped.isCancelled());
    }

    @Test
    void untouchedVariablesStayUsable() throws Exception {
        Engine engine = open();
        Var bad = engine.newVar("bad");
        Var good = engine.newVar("good");
        engine.op("fails").reads(good).mutates(bad).push(TestSupport.failing(planted));
        for (int i = 0; i < 100; i++) {
            engine.op("works").mutates(good).push(counts);
        }
        TestSupport.assertHealthy(engine, good);
        assertEquals(100, ran.get());
    }

    /** A user-defined operation of four steps, each of which may fail. */
    @Test
    void aFailureAtEachOfFourPointsOfAnOperation() throws Exception {
        for (int failing = 0; failing < 4; failing++) {
            Engine engine = open();
            Var in = engine.newVar("in");
            Var scratch = engine.newVar("scratch");
            Var out = engine.newVar("out");
            int point = failing;
            engine.op("step0").overwrites(in).push(failAt(0, point));
            engine.op("step1").reads(in).overwrites(scratch).pushAsync(done -> {
                failAt(1, point).run();
                done.complete();
            });
            engine.op("step2").reads(scratch).overwrites(out).pushAsync(done -> {
                try {
                    failAt(2, point).run();
                    done.complete();
                } catch (Planted e) {
                    done.fail(e);
                }
            });
            CompletableFuture<Void> last = engine.op("step3").mutates(out).submit(failAt(3, point));
            assertThrows(ExecutionException.class, last::get);
            TestSupport.assertPoisoned(engine, out, "step" + failing, planted);
            if (failing > 0) {
                TestSupport.assertHealthy(engine, in);
            }
            assertThrows(OperationFailedException.class, engine::waitForAll);
            engine.waitForAll();
        }
    }

    private Body failAt(int step, int failing) {
        return step == failing ? TestSupport.failing(planted) : TestSupport.nothing();
    }

    @Test
    void aLongChainOfSkippedOperations() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        engine.op("fails").mutates(v).push(TestSupport.failing(planted));
        for (int i = 0; i < 50_000; i++) {
            engine.op("skipped").mutates(v).push(counts);
        }
        TestSupport.assertPoisoned(engine, v, "fails", planted);
        assertEquals(50_001, v.version());
        assertEquals(0, ran.get());
    }

    @Test
    void aRealStackOverflowEndsNoWorker() throws Exception {
        Engine engine = open();
        for (int i = 0; i < 5; i++) {
            Var v = engine.newVar("v");
            engine.op("deep").mutates(v).push(() -> deep(0));
            OperationFailedException e = assertThrows(OperationFailedException.class, () -> engine.waitToRead(v));
            assertInstanceOf(StackOverflowError.class, e.getCause());
        }
        engine.op("fine").push(counts);
        assertThrows(OperationFailedException.class, engine::waitForAll);
        assertEquals(1, ran.get());
    }

    private static int deep(int n) {
        return n < 0 ? 0 : 1 + deeper(n + 1);
    }

    private static int deeper(int n) {
        return deep(n) + 1;
    }
}
