package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** The engines that one test has opened, and the invariants that are checked after it. */
final class OpenEngines {
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final List<Opened> opened = new ArrayList<>();

    /** An engine, its name, and the failures that its handler received. */
    private record Opened(String name, Engine engine, Queue<Throwable> unhandled) {
    }

    synchronized Engine open(Engine.Builder builder) {
        String name = "test" + NUMBER.getAndIncrement();
        Queue<Throwable> unhandled = new ConcurrentLinkedQueue<>();
        Engine engine = builder.name(name).onUnhandled(unhandled::add).build();
        opened.add(new Opened(name, engine, unhandled));
        return engine;
    }

    private synchronized Opened of(Engine engine) {
        return opened.stream().filter(o -> o.engine.equals(engine)).findFirst().orElseThrow();
    }

    Queue<Throwable> unhandled(Engine engine) {
        return of(engine).unhandled;
    }

    String nameOf(Engine engine) {
        return of(engine).name;
    }

    synchronized void closeAndCheck() throws Exception {
        for (Opened o : opened) {
            String pending = o.engine.stats().pending() == 0 ? "" : Objects.toString(o.engine.snapshot());
            if (!o.engine.close(Duration.ofSeconds(20))) {
                throw new AssertionError("the engine does not drain: " + pending);
            }
            check(o);
        }
        opened.clear();
    }

    private static void check(Opened o) {
        EngineStats stats = o.engine.stats();
        assertAll(() -> assertEquals(stats.pushed(), stats.completed(), "every operation ends: " + stats),
                () -> assertEquals(0, stats.pending(), "nothing is pending"),
                () -> assertTrue(o.engine.snapshot().operations().isEmpty(),
                        () -> "nothing is left: " + o.engine.snapshot()),
                () -> TestSupport.eventually(() -> threadsOf(o.name).isEmpty(),
                        () -> "threads left: " + threadsOf(o.name)),
                () -> o.unhandled.forEach(OpenEngines::noDefect));
    }

    /** Only failures that a test provokes may go to the handler. */
    private static void noDefect(Throwable t) {
        if (!(t instanceof OperationFailedException) && !(t instanceof Planted)) {
            throw new AssertionError("the engine told of a defect", t);
        }
    }

    /** Returns the live threads of the engine with the given name. */
    static List<Thread> threadsOf(String engine) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(t -> t.getName().startsWith(engine + "-") && t.isAlive()).toList();
    }
}
