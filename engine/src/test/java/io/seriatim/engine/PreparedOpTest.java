package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Operations that are described once and pushed many times. */
@EveryEngine
class PreparedOpTest extends EngineContract {

    @Test
    void eachPushIsAnOperation() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        int[] plain = {0};
        PreparedOp prepared = engine.op("prepared").mutates(v).prepare(() -> plain[0]++);
        for (int i = 0; i < 1_000; i++) {
            prepared.push();
        }
        engine.waitForAll();
        assertEquals(1_000, plain[0]);
        assertEquals(1_000, v.version());
        assertEquals(1_000, engine.stats().pushed());
    }

    @Test
    void manyThreadsPushItAtOnce() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        int[] plain = {0};
        PreparedOp prepared = engine.op("prepared").mutates(v).prepare(() -> plain[0]++);
        List<Task> pushers = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            pushers.add(Task.start("pusher", () -> {
                for (int i = 0; i < 500; i++) {
                    prepared.push(i % 3);
                }
            }));
        }
        for (Task pusher : pushers) {
            pusher.join();
        }
        engine.waitForAll();
        assertEquals(2_000, plain[0]);
    }

    @Test
    void laneAndPriorityOfEachPush() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        List<Lane> lanes = Collections.synchronizedList(new ArrayList<>());
        PreparedOp prepared = engine.op("prepared").mutates(v).on(Lane.of("cuda:0"))
                .prepare(() -> lanes.add(RunContext.current().lane()));
        prepared.push();
        prepared.push(Lane.of("sim:0"), 3);
        prepared.push(5);
        prepared.push(new Lane("sim:0", Lane.Queue.COPY), -1);
        prepared.push();
        engine.waitForAll();
        assertEquals(List.of("cuda:0", "sim:0", "cuda:0", "sim:0/copy", "cuda:0"),
                lanes.stream().map(Lane::toString).toList());
    }

    @Test
    void asynchronousOnesToo() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger started = new AtomicInteger();
        PreparedOp prepared = engine.op("prepared").mutates(v).prepareAsync(done -> {
            started.incrementAndGet();
            Task.start("completer", done::complete);
        });
        for (int i = 0; i < 100; i++) {
            prepared.push();
        }
        engine.waitToRead(v);
        assertEquals(100, started.get());
    }

    @Test
    void deleteTakesEffectAfterItsPushes() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        AtomicInteger ran = new AtomicInteger();
        PreparedOp prepared = engine.op("prepared").mutates(v).prepare(ran::incrementAndGet);
        for (int i = 0; i < 100; i++) {
            prepared.push();
        }
        prepared.delete();
        prepared.delete();
        List<Executable> pushes = List.of(prepared::push, () -> prepared.push(1), () -> prepared.push(Lane.CPU, 1));
        for (Executable push : pushes) {
            TestSupport.assertThrowsMentioning(IllegalStateException.class, push, "prepared", "deleted");
        }
        engine.waitForAll();
        assertEquals(100, ran.get());
    }

    @Test
    void failuresPoisonAsEver() throws Exception {
        Engine engine = open();
        Var in = engine.newVar("in");
        Var out = engine.newVar("out");
        Planted planted = new Planted("planted");
        AtomicInteger ran = new AtomicInteger();
        PreparedOp copies = engine.op("copies").reads(in).overwrites(out).prepare(ran::incrementAndGet);
        copies.push();
        engine.op("fails").mutates(in).push(TestSupport.failing(planted));
        copies.push();
        TestSupport.assertPoisoned(engine, out, "fails", planted);
        engine.clearFailure(in);
        copies.push();
        TestSupport.assertHealthy(engine, out);
        assertEquals(2, ran.get());
    }

    @Test
    void preparedKindsAndRecordedAndEvenIfFailedHold() throws Exception {
        List<String> recorded = Collections.synchronizedList(new ArrayList<>());
        Engine engine = open(builder -> builder.recorder(op -> recorded.add(op.name() + " " + op.kind())));
        Var v = engine.newVar("v");
        AtomicInteger ran = new AtomicInteger();
        engine.op("fails").mutates(v).recorded(false).push(TestSupport.failing(new Planted("planted")));
        PreparedOp even = engine.op("even").mutates(v).evenIfFailed().recorded(false).prepare(ran::incrementAndGet);
        PreparedOp copy = engine.op("copy").kind(OpKind.COPY_OUT).prepare(ran::incrementAndGet);
        even.push();
        copy.push();
        assertThrows(OperationFailedException.class, engine::waitForAll);
        assertEquals(2, ran.get());
        TestSupport.eventually(() -> !recorded.isEmpty(), () -> "nothing recorded");
        assertEquals(List.of("copy COPY_OUT"), List.copyOf(recorded));
    }

    @Test
    void anOperationMayPushItselfAgain() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        CompletableFuture<Void> enough = new CompletableFuture<>();
        AtomicInteger ran = new AtomicInteger();
        AtomicReference<Runnable> again = new AtomicReference<>(() -> {
        });
        PreparedOp prepared = engine.op("prepared").mutates(v).prepare(() -> {
            if (ran.incrementAndGet() < 100) {
                again.get().run();
            } else {
                enough.complete(null);
            }
        });
        again.set(prepared::push);
        prepared.push();
        while (!enough.isDone()) {
            engine.waitForAll();
        }
        assertEquals(100, ran.get());
    }
}
