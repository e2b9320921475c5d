package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Engines that are never closed. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@Tag("slow")
class LifeTest {

    /** Uses an engine and drops the reference to it. */
    private static WeakReference<Engine> leak(EngineUnderTest kind, String name) throws Exception {
        Engine engine = kind.builder().name(name).build();
        Var v = engine.newVar("v");
        for (int i = 0; i < 100; i++) {
            engine.op("op").mutates(v).push(TestSupport.nothing());
            engine.op("copy").reads(v).kind(OpKind.COPY_IN).push(TestSupport.nothing());
        }
        engine.waitForAll();
        return new WeakReference<>(engine);
    }

    @ParameterizedTest
    @EnumSource
    void aLeakedEngineIsCollectedAndItsThreadsEnd(EngineUnderTest kind) throws Exception {
        String name = "leaked-" + kind;
        WeakReference<Engine> leaked = leak(kind, name);
        TestSupport.eventually(() -> {
            System.gc();
            return leaked.get() == null;
        }, () -> "the engine is held");
        TestSupport.eventually(() -> OpenEngines.threadsOf(name).isEmpty(),
                () -> "left: " + OpenEngines.threadsOf(name));
    }

    /** An object that bodies refer to and that must become unreachable. */
    private static final class Value {
        private int uses;

        synchronized void use() {
            uses++;
        }

        synchronized int uses() {
            return uses;
        }
    }

    /** Uses a value in an operation and drops the reference to it, while the engine and the variable stay reachable. */
    private static WeakReference<Value> use(Engine engine, Var v) throws Exception {
        Value value = new Value();
        engine.op("sync").mutates(v).push(value::use);
        engine.op("async").mutates(v).pushAsync(done -> {
            value.use();
            done.complete();
        });
        PreparedOp prepared = engine.op("prepared").reads(v).prepare(value::use);
        prepared.push();
        prepared.delete();
        engine.delete(engine.newVar("deleted"), value::use);
        engine.waitForAll();
        assertEquals(4, value.uses());
        // Replaces the last operation that any component may still refer to.
        engine.op("other").mutates(v).push(TestSupport.nothing());
        engine.waitForAll();
        return new WeakReference<>(value);
    }

    @ParameterizedTest
    @EnumSource
    void whatHasCompletedIsNotRetained(EngineUnderTest kind) throws Exception {
        try (Engine engine = kind.builder().build()) {
            Var v = engine.newVar("v");
            WeakReference<Value> used = use(engine, v);
            TestSupport.eventually(() -> {
                System.gc();
                return used.get() == null;
            }, () -> "a completed body is held");
            engine.op("still works").mutates(v).push(TestSupport.nothing());
        }
    }

    private static WeakReference<Var> idle(Engine engine) throws Exception {
        Var v = engine.newVar("idle");
        engine.op("op").mutates(v).push(TestSupport.nothing());
        engine.waitToRead(v);
        engine.op("other").mutates(engine.newVar("other")).push(TestSupport.nothing());
        engine.waitForAll();
        return new WeakReference<>(v);
    }

    @ParameterizedTest
    @EnumSource
    void anIdleVariableIsNotHeld(EngineUnderTest kind) throws Exception {
        try (Engine engine = kind.builder().build()) {
            WeakReference<Var> idle = idle(engine);
            TestSupport.eventually(() -> {
                System.gc();
                return idle.get() == null;
            }, () -> "an idle variable is held");
        }
    }

    @Test
    void aLeakedEngineFirstDoesItsWork() throws Exception {
        CompletableFuture<Void> all = pushAndLeak("leaked-busy");
        TestSupport.eventually(() -> {
            System.gc();
            return all.isDone();
        }, () -> "pending work of a leaked engine was lost");
        TestSupport.eventually(() -> {
            System.gc();
            return OpenEngines.threadsOf("leaked-busy").isEmpty();
        }, () -> "threads left");
    }

    private static CompletableFuture<Void> pushAndLeak(String name) {
        Engine engine = Engine.builder().name(name).build();
        Var v = engine.newVar("v");
        for (int i = 0; i < 200; i++) {
            engine.op("op").mutates(v).push(() -> TestSupport.spin(100_000));
        }
        CompletableFuture<Void> all = new CompletableFuture<>();
        engine.op("last").mutates(v).push(() -> all.complete(null));
        return all;
    }

    @ParameterizedTest
    @EnumSource
    void theJvmExitsWhateverStateAnEngineIsIn(ExitProgram.State state, @TempDir Path folder) throws Exception {
        String output = ForkedJvm.run(60, folder.resolve("output"), List.of("-Xshare:auto"), ExitProgram.class,
                state.name());
        assertTrue(output.contains("left open: " + state), output);
        assertEquals(-1, output.indexOf("Exception"), output);
    }

    @Test
    void unobservedFailuresAreLoggedByDefaultAndIfTheHandlerThrows(@TempDir Path folder) throws Exception {
        String output = ForkedJvm.run(60, folder.resolve("output"), List.of("-Xshare:auto"), LoggingProgram.class);
        for (String part : List.of("'default'", "'fails'", "planted in default", "'throwing'", "planted in throwing",
                "handler",
                "closed both")) {
            assertTrue(output.contains(part), () -> part + " is not in" + output);
        }
    }
}
