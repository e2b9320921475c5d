package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.function.Executable;

/** Helper methods of many tests. Every wait has a limit, which is reached only if the code under test hangs. */
final class TestSupport {
    /** Whether the full, slow form of the tests runs. */
    static final boolean FULL = Boolean.getBoolean("seriatim.full");
    private static final long LIMIT_SECONDS = 30;

    private TestSupport() {
    }

    /** Returns {@code full} in the full form of the tests, and {@code byDefault} otherwise. */
    static long scaled(long full, long byDefault) {
        return FULL ? full : byDefault;
    }

    /** Returns null as a value of a type that excludes null. */
    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    static <T> T nil() {
        return null;
    }

    static Body nothing() {
        return () -> {
        };
    }

    static Body failing(Throwable with) {
        return () -> {
            TestSupport.<RuntimeException>sneak(with);
        };
    }

    /** Throws any exception, checked or not, as a body written in another language may. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals", "DoNotCallSuggester"})
    static <E extends Throwable> void sneak(Throwable t) throws E {
        throw (E) t;
    }

    static void await(CountDownLatch latch) throws InterruptedException {
        assertTrue(latch.await(LIMIT_SECONDS, TimeUnit.SECONDS), "hangs");
    }

    /** Polls until a condition holds. */
    static void eventually(BooleanSupplier so, Supplier<String> otherwise) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!so.getAsBoolean()) {
            if (System.nanoTime() - until > 0) {
                throw new AssertionError(otherwise.get());
            }
            LockSupport.parkNanos(200_000);
        }
    }

    /** Polls until a thread is waiting. */
    static void untilParked(Thread thread) {
        eventually(() -> thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING,
                () -> thread + " should wait but is " + thread.getState() + " at "
                        + Arrays.toString(thread.getStackTrace()));
    }

    /** Spins for about the given number of nanoseconds. */
    static void spin(long nanos) {
        long until = System.nanoTime() + nanos;
        while (System.nanoTime() - until < 0) {
            Thread.onSpinWait();
        }
    }

    /** Returns the core of an engine. */
    static EngineCore coreOf(Engine engine) {
        return ((Variable) engine.newVar()).core;
    }

    static Var[] vars(Engine engine, int n) {
        return IntStream.range(0, n).mapToObj(i -> engine.newVar("v" + i)).toArray(Var[]::new);
    }

    /** Checks that a message contains each of the given texts. */
    static void assertMentions(Throwable t, Object... things) {
        String message = t.getMessage();
        for (Object thing : things) {
            assertTrue(message != null && message.contains(thing.toString()),
                    () -> "should mention '" + thing + "': " + t);
        }
    }

    static <T extends Throwable> T assertThrowsMentioning(Class<T> type, Executable call, Object... things) {
        T thrown = assertThrows(type, call);
        assertMentions(thrown, things);
        return thrown;
    }

    /** Checks that a variable carries the failure of the given operation with the given cause. */
    static void assertPoisoned(Engine engine, Var v, String operation, Throwable cause) {
        for (int i = 0; i < 2; i++) {
            OperationFailedException thrown = assertThrows(OperationFailedException.class, () -> engine.waitToRead(v));
            assertEquals(operation, thrown.operation());
            assertSame(v, thrown.var());
            assertSame(cause, thrown.getCause());
            assertMentions(thrown, operation, v.name());
        }
    }

    static void assertHealthy(Engine engine, Var v) throws InterruptedException {
        engine.waitToRead(v);
        assertEquals(null, engine.failure(v));
    }

    static List<String> namesOf(EngineSnapshot snapshot) {
        return snapshot.operations().stream().map(EngineSnapshot.PendingOp::name).toList();
    }
}
