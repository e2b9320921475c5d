package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** A delete runs once, after all earlier operations on the variable, whether they succeeded or not. */
@EveryEngine
class DeleteTest extends EngineContract {

    @Test
    void deleteComesAfterAllEarlierOperations() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        List<String> order = new ArrayList<>();
        AtomicInteger readers = new AtomicInteger();
        engine.op("write").mutates(v).push(() -> order.add("write"));
        engine.op("read1").reads(v).push(readers::incrementAndGet);
        engine.op("read2").reads(v).push(readers::incrementAndGet);
        engine.delete(v, () -> order.add("deleted after " + readers));
        engine.waitForAll();
        assertEquals(List.of("write", "deleted after 2"), order);
    }

    @Test
    void deleteWaitsForTwoPendingReaders() throws Exception {
        Assumptions.assumeTrue(kind.hasWorkers());
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger deleted = new AtomicInteger();
        Held one = Held.push(engine.op("r1").reads(v)).untilStarted();
        Held two = Held.push(engine.op("r2").reads(v)).untilStarted();
        engine.delete(v, deleted::incrementAndGet);
        two.release();
        engine.op("other").submit(TestSupport.nothing()).get();
        assertEquals(0, deleted.get());
        one.release();
        engine.waitForAll();
        assertEquals(1, deleted.get());
    }

    @Test
    void allFormsOfDelete() throws Exception {
        Engine engine = open();
        Lane lane = Lane.of("sim:3");
        CompletableFuture<Lane> where = new CompletableFuture<>();
        CompletableFuture<Boolean> ran = new CompletableFuture<>();
        engine.delete(engine.newVar("a"));
        engine.delete(engine.newVar("b"), () -> ran.complete(true));
        engine.delete(engine.newVar("c"), lane, () -> where.complete(RunContext.current().lane()));
        engine.waitForAll();
        assertEquals(true, ran.getNow(false));
        assertEquals(lane, where.get());
        assertEquals(3, engine.stats().completed());
    }

    @Test
    void aPoisonedVariableIsDeletedToo() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger deleted = new AtomicInteger();
        engine.op("fails").mutates(v).push(TestSupport.failing(new Planted("planted")));
        engine.op("skipped").mutates(v).push(TestSupport.nothing());
        engine.delete(v, deleted::incrementAndGet);
        OperationFailedException thrown = assertThrows(OperationFailedException.class, engine::waitForAll);
        assertEquals("fails", thrown.operation());
        assertEquals(0, thrown.getSuppressed().length);
        assertEquals(1, deleted.get());
        assertEquals(1, engine.stats().skipped());
    }

    @Test
    void deletesOfManyPoisonedVariablesLeaveTheOthersWell() throws Exception {
        Engine engine = open();
        for (int i = 0; i < 1_000; i++) {
            Var v = engine.newVar("v");
            engine.op("fails").mutates(v).push(TestSupport.failing(new Planted("planted")));
            engine.delete(v);
        }
        Var w = engine.newVar("w");
        engine.op("well").mutates(w).push(TestSupport.nothing());
        TestSupport.assertHealthy(engine, w);
        assertThrows(OperationFailedException.class, engine::waitForAll);
    }

    @Test
    void everyLaterUseNamesTheVariable() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("gone");
        Var other = engine.newVar("other");
        engine.op("before").mutates(v).push(TestSupport.nothing());
        PreparedOp prepared = engine.op("prepared").reads(v).prepare(TestSupport.nothing());
        engine.delete(v);
        List<Executable> uses = List.of(() -> engine.op("late").reads(v).push(TestSupport.nothing()),
                () -> engine.op("late").mutates(other, v).push(TestSupport.nothing()),
                () -> engine.op("late").overwrites(v).submit(TestSupport.nothing()).isDone(),
                () -> engine.op("late").reads(other, v).pushAsync(Completion::complete), prepared::push,
                () -> engine.waitToRead(v),
                () -> engine.waitToWrite(v), () -> engine.delete(v), () -> engine.delete(v, () -> order("twice")),
                () -> engine.clearFailure(v), () -> engine.trace(v, event -> order("traced")));
        for (Executable use : uses) {
            TestSupport.assertThrowsMentioning(IllegalStateException.class, use, "gone", "deleted");
        }
        engine.op("other").mutates(other).push(TestSupport.nothing());
        engine.waitForAll();
        assertEquals(1, other.version(), "a refused push has changed nothing");
        assertEquals(3, engine.stats().pushed());
    }

    private static void order(String what) {
        throw new AssertionError(what);
    }

    @Test
    void aDeletedVariablesFailureCanBeAsked() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        Planted planted = new Planted("planted");
        engine.op("fails").mutates(v).push(TestSupport.failing(planted));
        engine.delete(v);
        assertThrows(OperationFailedException.class, engine::waitForAll);
        Throwable told = engine.failure(v);
        assertEquals(planted, told == null ? null : told.getCause());
    }

    @Test
    void aDeleteThatThrowsIsAFailure() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("vvv");
        engine.delete(v, () -> {
            throw new Planted("in the delete");
        });
        OperationFailedException thrown = assertThrows(OperationFailedException.class, engine::waitForAll);
        TestSupport.assertMentions(thrown, "vvv", "in the delete");
    }

    @Test
    void operationsOfKindDeleteRunEvenIfPoisoned() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger ran = new AtomicInteger();
        engine.op("fails").mutates(v).push(TestSupport.failing(new Planted("planted")));
        engine.op("frees").mutates(v).kind(OpKind.DELETE).push(ran::incrementAndGet);
        engine.waitToWrite(v);
        assertEquals(1, ran.get());
    }

    @Test
    void anOperationMayDeleteTheVariableThatItHolds() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        List<String> order = new ArrayList<>();
        engine.op("last user").mutates(v).push(() -> {
            engine.delete(v, () -> order.add("deleted"));
            order.add("user");
        });
        engine.waitForAll();
        engine.waitForAll();
        assertEquals(List.of("user", "deleted"), order);
    }
}
