package io.seriatim.engine.sync;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;

/** Times at which waits end, in terms of {@link System#nanoTime}. */
public final class Deadline {
    /** No limit of time. */
    public static final long NEVER = Long.MAX_VALUE;

    private Deadline() {
    }

    /** When a wait of so many nanoseconds ends. */
    public static long after(long nanos) {
        // A quarter of the greatest number is decades hence, and cannot overflow when it is added to a time.
        return nanos >= Long.MAX_VALUE / 4 ? NEVER : System.nanoTime() + Math.max(0, nanos);
    }

    /** When a wait of such a duration ends. */
    public static long after(Duration limit) {
        Objects.requireNonNull(limit, "limit");
        try {
            return after(limit.toNanos());
        } catch (ArithmeticException e) {
            return limit.isNegative() ? after(0) : NEVER;
        }
    }

    /** A wait without a limit cannot time out: a defect. */
    public static IllegalStateException endless(TimeoutException e) {
        return new IllegalStateException("a wait without a limit timed out", e);
    }
}
