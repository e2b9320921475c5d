package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Every invalid input causes an exception whose message names the error, and changes no state. */
@EveryEngine
class BadInputTest extends EngineContract {

    @Test
    void nullsNameTheArgument() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        PreparedOp prepared = engine.op("op").prepare(TestSupport.nothing());
        Map<String, List<Executable>> calls = Map.of("name",
                List.of(() -> engine.newVar(TestSupport.nil()), () -> engine.op(TestSupport.nil()),
                        () -> Engine.builder().name(TestSupport.nil()),
                        () -> Guarded.of(engine, TestSupport.nil(), 1)),
                "variable",
                List.of(() -> engine.op("op").reads(v, TestSupport.<Var>nil()),
                        () -> engine.op("op").mutates(TestSupport.<Var>nil(), v),
                        () -> engine.op("op").overwrites(v, TestSupport.<Var>nil()),
                        () -> engine.waitToRead(TestSupport.nil()),
                        () -> engine.waitToWrite(TestSupport.nil()), () -> engine.failure(TestSupport.nil()),
                        () -> engine.clearFailure(TestSupport.nil()), () -> engine.delete(TestSupport.nil()),
                        () -> engine.trace(TestSupport.nil(), event -> {
                        })),
                "lane",
                List.of(() -> engine.op("op").on(TestSupport.nil()), () -> prepared.push(TestSupport.nil(), 1),
                        () -> engine.delete(v, TestSupport.nil(), TestSupport.nothing()),
                        () -> Engine.builder().workers(TestSupport.nil(), 1),
                        () -> Engine.builder().workerState(TestSupport.nil(), Object::new)),
                "kind", List.of(() -> engine.op("op").kind(TestSupport.<OpKind>nil()),
                        () -> engine.op("op").kind(TestSupport.<String>nil())),
                "body",
                List.of(() -> engine.op("op").push(TestSupport.nil()),
                        () -> engine.op("op").pushAsync(TestSupport.nil()),
                        () -> engine.op("op").submit(TestSupport.nil()).isDone(),
                        () -> engine.op("op").call(TestSupport.nil()).isDone(),
                        () -> engine.op("op").prepare(TestSupport.nil()),
                        () -> engine.op("op").prepareAsync(TestSupport.nil())),
                "onDeleted",
                List.of(() -> engine.delete(v, TestSupport.nil()), () -> engine.delete(v, Lane.CPU, TestSupport.nil())),
                "listener",
                List.of(() -> engine.trace(v, TestSupport.nil())), "limit",
                List.of(() -> engine.waitToRead(v, TestSupport.nil()), () -> engine.waitToWrite(v, TestSupport.nil()),
                        () -> engine.waitForAll(TestSupport.nil()), () -> engine.close(TestSupport.nil())));
        assertAll(calls.entrySet().stream().flatMap(entry -> entry.getValue().stream().map(
                call -> () -> TestSupport.assertThrowsMentioning(NullPointerException.class, call, entry.getKey()))));
        engine.waitToRead(v);
        assertEquals(0, engine.stats().pushed(), "nothing was pushed");
    }

    @Test
    void nullsOfBuilderAndOthers() {
        Map<String, Executable> calls = Map.of("handler", () -> Engine.builder().onUnhandled(TestSupport.nil()),
                "recorder",
                () -> Engine.builder().recorder(TestSupport.nil()), "state",
                () -> Engine.builder().workerState(Lane.CPU, TestSupport.nil()),
                "engine", () -> Guarded.of(TestSupport.nil(), "x", 1), "place", () -> Lane.of(TestSupport.nil()),
                "queue",
                () -> new Lane("cpu", TestSupport.nil()), "file", () -> Recorder.trace(TestSupport.<Path>nil()));
        calls.forEach((name, call) -> TestSupport.assertThrowsMentioning(NullPointerException.class, call, name));
    }

    @Test
    void aForeignVariableIsNamedWithBothEngines() {
        Engine engine = open();
        Engine other = open();
        Var foreign = other.newVar("foreign");
        Var own = engine.newVar("own");
        List<Executable> calls = List.of(() -> engine.op("op").reads(own, foreign),
                () -> engine.op("op").mutates(foreign),
                () -> engine.op("op").overwrites(foreign), () -> engine.waitToRead(foreign),
                () -> engine.waitToWrite(foreign, Duration.ZERO),
                () -> engine.delete(foreign), () -> engine.failure(foreign), () -> engine.clearFailure(foreign),
                () -> engine.trace(foreign, e -> {
                }));
        for (Executable call : calls) {
            TestSupport.assertThrowsMentioning(IllegalArgumentException.class, call, "foreign",
                    engine.snapshot().engine(),
                    other.snapshot().engine());
        }
    }

    @Test
    void aVariableOfSomeoneElsesMaking() {
        Engine engine = open();
        Var strange = new Var() {
            @Override
            public String name() {
                return "strange";
            }

            @Override
            public long version() {
                return 0;
            }
        };
        TestSupport.assertThrowsMentioning(IllegalArgumentException.class, () -> engine.op("op").reads(strange),
                "strange",
                engine.snapshot().engine());
    }

    @Test
    void aBuilderIsForASingleUse() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        List<Body> uses = List.of(() -> use(engine, "once", 0), () -> use(engine, "once", 1),
                () -> use(engine, "once", 2),
                () -> use(engine, "once", 3), () -> use(engine, "once", 4), () -> use(engine, "once", 5));
        for (Body use : uses) {
            use.run();
        }
        engine.waitForAll();
        OpBuilder used = engine.op("once");
        used.push(TestSupport.nothing());
        List<Executable> calls = List.of(() -> used.reads(v), () -> used.mutates(v), () -> used.overwrites(v),
                () -> used.on(Lane.CPU),
                () -> used.kind(OpKind.ASYNC), () -> used.kind("group"), () -> used.priority(1), used::evenIfFailed,
                () -> used.recorded(false));
        for (Executable call : calls) {
            TestSupport.assertThrowsMentioning(IllegalStateException.class, call, "once");
        }
    }

    /** Uses a builder up in one of six ways, and then calls each of its methods. */
    private static void use(Engine engine, String name, int first) {
        OpBuilder op = engine.op(name);
        List<Executable> uses = List.of(() -> op.push(TestSupport.nothing()), () -> op.pushAsync(Completion::complete),
                () -> op.submit(TestSupport.nothing()).isDone(), () -> op.call(() -> 1).isDone(),
                () -> op.prepare(TestSupport.nothing()),
                () -> op.prepareAsync(Completion::complete));
        try {
            uses.get(first).execute();
        } catch (Throwable t) {
            throw new AssertionError("the first use is allowed", t);
        }
        for (Executable use : uses) {
            TestSupport.assertThrowsMentioning(IllegalStateException.class, use, name, "used");
        }
    }

    @Test
    void countsBelowOneSayRuleAndValue() {
        for (int bad : new int[]{0, -1, Integer.MIN_VALUE}) {
            TestSupport.assertThrowsMentioning(IllegalArgumentException.class, () -> Engine.builder().pooled(bad),
                    "at least 1", bad);
            TestSupport.assertThrowsMentioning(IllegalArgumentException.class, () -> Engine.builder().maxPending(bad),
                    "maxPending",
                    "at least 1",
                    bad);
            TestSupport.assertThrowsMentioning(IllegalArgumentException.class,
                    () -> Engine.builder().workers(Lane.of("cuda:0"), bad),
                    "cuda:0",
                    "at least 1", bad);
        }
    }

    @Test
    void placesWithoutAName() {
        for (String bad : List.of("", " ", "cu da", "cpu\n", "\tcpu")) {
            TestSupport.assertThrowsMentioning(IllegalArgumentException.class, () -> Lane.of(bad), "'" + bad + "'");
        }
    }

    @Test
    void strangeLimitsOfWaits() throws Exception {
        Engine engine = open();
        Var v = engine.newVar("v");
        for (Duration limit : List.of(Duration.ZERO, Duration.ofSeconds(-5), Duration.ofSeconds(Long.MIN_VALUE),
                Duration.ofSeconds(Long.MAX_VALUE), Duration.ofDays(365L * 400))) {
            engine.waitToRead(v, limit);
            engine.waitToWrite(v, limit);
            engine.waitForAll(limit);
        }
        engine.op("op").mutates(v).push(TestSupport.nothing());
        engine.waitToRead(v, Duration.ofSeconds(Long.MAX_VALUE));
        assertEquals(1, v.version());
    }

    @Test
    void emptySetsAreAllowed() throws Exception {
        Engine engine = open();
        engine.op("").reads().mutates().overwrites().submit(TestSupport.nothing()).get();
        engine.newVar("");
    }
}
