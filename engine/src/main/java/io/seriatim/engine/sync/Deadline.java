package io.seriatim.engine.sync;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;

/** Deadlines of waits, as values of {@link System#nanoTime}. */
public final class Deadline {
    /** The deadline of a wait without a limit. */
    public static final long NEVER = Long.MAX_VALUE;

    private Deadline() {
    }

    /** The deadline of a wait that begins now and lasts at most {@code nanos} nanoseconds. */
    public static long after(long nanos) {
        // A quarter of the range is decades ahead, and adding it to the current time cannot overflow.
        return nanos >= Long.MAX_VALUE / 4 ? NEVER : System.nanoTime() + Math.max(0, nanos);
    }

    /** The deadline of a wait that begins now and lasts at most {@code limit}. */
    public static long after(Duration limit) {
        Objects.requireNonNull(limit, "limit");
        try {
            return after(limit.toNanos());
        } catch (ArithmeticException e) {
            return limit.isNegative() ? after(0) : NEVER;
        }
    }

    /** The error of a wait without a limit that has timed out, which is a defect of the engine. */
    public static IllegalStateException endless(TimeoutException e) {
        return new IllegalStateException("a wait without a limit timed out", e);
    }
}
