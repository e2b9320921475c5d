package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.Parameter;

/**
 * E4: when the engine itself has failed between two changes of state, every push and every wait throws with the cause,
 * those that wait already too, and none hangs.
 */
@EveryEngine
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class BrokenEngineTest {
    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final Duration LONG = Duration.ofSeconds(50);

    @Parameter
    @SuppressWarnings("NullAway.Init")
    EngineUnderTest kind;

    private final Planted planted = new Planted("planted");

    /** An engine, what lies behind it, and variables of it. */
    private record Opened(String name, EngineCore core, Engine engine, Var free, Var held) {
    }

    private Opened open(int maxPending) {
        String name = "broken" + NUMBER.getAndIncrement();
        EngineCore core = ((EngineBuilder) kind.builder().name(name).maxPending(maxPending).onUnhandled(t -> {
        })).buildCore();
        Engine engine = new DependencyEngine(core);
        return new Opened(name, core, engine, engine.newVar("free"), engine.newVar("held"));
    }

    /** All ways to push. */
    private static Map<String, Executable> pushes(Engine engine, Var v) {
        Map<String, Executable> calls = new LinkedHashMap<>();
        PreparedOp prepared = engine.op("prepared").mutates(v).prepare(TestSupport.nothing());
        calls.put("push", () -> engine.op("op").mutates(v).push(TestSupport.nothing()));
        calls.put("push without variables", () -> engine.op("op").push(TestSupport.nothing()));
        calls.put("push elsewhere", () -> engine.op("op").on(Lane.of("sim:0")).push(TestSupport.nothing()));
        calls.put("push of kind ASYNC",
                () -> engine.op("op").kind(OpKind.ASYNC).mutates(v).push(TestSupport.nothing()));
        calls.put("pushAsync", () -> engine.op("op").mutates(v).pushAsync(Completion::complete));
        calls.put("submit", () -> engine.op("op").mutates(v).submit(TestSupport.nothing()).isDone());
        calls.put("call", () -> engine.op("op").mutates(v).call(() -> 1).isDone());
        calls.put("prepared push", prepared::push);
        calls.put("clearFailure", () -> engine.clearFailure(v));
        calls.put("delete", () -> engine.delete(engine.newVar()));
        calls.put("delete with a body", () -> engine.delete(engine.newVar(), () -> {
        }));
        return calls;
    }

    /** All ways to wait. */
    private static Map<String, Executable> waits(Engine engine, Var v) {
        Map<String, Executable> calls = new LinkedHashMap<>();
        calls.put("waitToRead", () -> engine.waitToRead(v));
        calls.put("waitToRead for a time", () -> engine.waitToRead(v, LONG));
        calls.put("waitToRead for no time", () -> engine.waitToRead(v, Duration.ZERO));
        calls.put("waitToWrite", () -> engine.waitToWrite(v));
        calls.put("waitToWrite for a time", () -> engine.waitToWrite(v, LONG));
        calls.put("waitForAll", engine::waitForAll);
        calls.put("waitForAll for a time", () -> engine.waitForAll(LONG));
        calls.put("close", engine::close);
        calls.put("close for a time", () -> engine.close(LONG));
        return calls;
    }

    private void requireTold(Map<String, Executable> calls) {
        calls.forEach((name, call) -> {
            IllegalStateException thrown = assertThrows(IllegalStateException.class, call, name);
            TestSupport.assertMentions(thrown, "broken", "create a new engine");
            assertSame(planted, thrown.getCause(), name);
        });
    }

    private Task told(String name, Executable call) {
        return Task.start(name, () -> requireTold(Map.of(name, call)));
    }

    /** Pushes an operation that stays open; on an engine without workers its push, or a wait for it, waits. */
    private Task pushHeld(Opened on) throws Exception {
        Held held = new Held();
        Task pusher = Task.start("pusher", () -> {
            if (kind == EngineUnderTest.NAIVE) {
                requireTold(Map.of("the open push", () -> held.pushed(on.engine.op("open").mutates(on.held))));
            } else {
                held.pushed(on.engine.op("open").mutates(on.held));
            }
        });
        if (kind == EngineUnderTest.SHUFFLED) {
            pusher.join();
            // Only a wait runs it there.
            do {
                assertThrows(TimeoutException.class, () -> on.engine.waitToRead(on.held, Duration.ofMillis(1)));
            } while (!held.isStarted());
        }
        held.untilStarted();
        return pusher;
    }

    @Test
    void whoeverComesIsTold() throws Exception {
        Opened on = open(1_000);
        Map<String, Executable> pushes = pushes(on.engine, on.free);
        on.engine.waitForAll();
        on.core.markBroken(planted);
        requireTold(pushes);
        requireTold(waits(on.engine, on.free));
    }

    @Test
    void whoeverComesIsToldWhileSomethingIsPending() throws Exception {
        Opened on = open(1_000);
        Task pusher = pushHeld(on);
        Map<String, Executable> pushes = pushes(on.engine, on.held);
        on.core.markBroken(planted);
        requireTold(waits(on.engine, on.held));
        requireTold(pushes);
        pusher.join();
    }

    @Test
    void whoeverWaitsIsTold() throws Exception {
        Opened on = open(1_000);
        List<Task> waiting = new ArrayList<>();
        waiting.add(pushHeld(on));
        CompletableFuture<CompletableFuture<Void>> pushed = new CompletableFuture<>();
        if (kind == EngineUnderTest.NAIVE) {
            waiting.add(told("push behind", () -> on.engine.op("behind").reads(on.held).push(TestSupport.nothing())));
        } else {
            pushed.complete(on.engine.op("behind").reads(on.held).submit(TestSupport.nothing()));
            waiting.add(told("get", () -> pushed.join().get()));
            waiting.add(told("get for a time", () -> pushed.join().get(50, TimeUnit.SECONDS)));
            waiting.add(told("join", () -> pushed.join().join()));
        }
        Map<String, Executable> waits = waits(on.engine, on.held);
        waits.remove("waitToRead for no time");
        waits.forEach((name, call) -> {
            if (!name.startsWith("close")) {
                waiting.add(told(name, call));
            }
        });
        for (Task task : waiting) {
            if (!task.isDone()) {
                TestSupport.untilParked(task.thread);
            }
        }
        List<Task> closing = List.of(told("close", on.engine::close),
                told("close for a time", () -> on.engine.close(LONG)));
        for (Task task : closing) {
            TestSupport.untilParked(task.thread);
        }
        waiting.addAll(closing);
        on.core.markBroken(planted);
        for (Task task : waiting) {
            task.join();
        }
    }

    /** Who waits for room, where threads of the user's run nothing while they push from outside. */
    @Test
    void whoeverWaitsForRoomIsTold() throws Exception {
        Opened on = open(10);
        Task held = pushHeld(on);
        Task pusher = told("pusher", () -> {
            while (true) {
                on.engine.op("more").mutates(on.held).push(TestSupport.nothing());
            }
        });
        TestSupport.eventually(() -> pusher.isDone() || pusher.thread.getState() == Thread.State.TIMED_WAITING,
                () -> "the pusher should wait: " + on.engine.stats());
        on.core.markBroken(planted);
        pusher.join();
        held.join();
    }

    @Test
    void whoeverIsInsideAnOperationIsTold() throws Exception {
        Opened on = open(1_000);
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch broken = new CountDownLatch(1);
        CompletableFuture<Boolean> told = new CompletableFuture<>();
        Map<String, Executable> pushes = pushes(on.engine, on.free);
        Map<String, Executable> waits = waits(on.engine, on.free);
        // Of the operation's own engine these cannot work inside in any case.
        waits.keySet().removeIf(name -> name.startsWith("close") || name.startsWith("waitForAll"));
        Task outside = Task.start("outside", () -> {
            try {
                on.engine.op("inside").mutates(on.held).push(() -> {
                    running.countDown();
                    TestSupport.await(broken);
                    try {
                        requireTold(pushes);
                        requireTold(waits);
                        told.complete(true);
                    } catch (Throwable t) {
                        told.completeExceptionally(t);
                    }
                });
                on.engine.waitToRead(on.held);
            } catch (IllegalStateException e) {
                assertSame(planted, e.getCause());
            }
        });
        TestSupport.await(running);
        on.core.markBroken(planted);
        broken.countDown();
        assertEquals(true, told.get(50, TimeUnit.SECONDS));
        outside.join();
    }

    /** The tracker fails while it takes an operation in: the state is as bad as it can be. */
    @Test
    void anErrorWithinTheTrackerBreaksTheEngine() throws Exception {
        Opened on = open(1_000);
        on.core.lock.enter();
        on.core.execution.attach(op -> {
            throw planted;
        });
        on.core.lock.leave();
        Map<String, Executable> pushes = pushes(on.engine, on.free);
        // On an engine without workers one of these meets the error itself.
        Throwable first = assertThrows(Throwable.class, () -> {
            on.engine.op("first").mutates(on.free).push(TestSupport.nothing());
            on.engine.waitToRead(on.free);
        });
        assertSame(planted, first instanceof IllegalStateException ? first.getCause() : first);
        requireTold(pushes);
        requireTold(waits(on.engine, on.free));
        TestSupport.eventually(() -> OpenEngines.threadsOf(on.name).isEmpty(),
                () -> "its threads should end: " + OpenEngines.threadsOf(on.name));
    }
}
