package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * A wait until all earlier operations on a variable have ended. It counts them instead of entering the variable's
 * queue, where it would separate reads that may run together. Guarded by the tracker lock.
 */
final class Drain {
    final Variable variable;
    final Waiter waiter;
    /** The wait is for operations whose order is less than this. */
    long end;
    /** The number of these operations that have not ended. */
    long remaining;
    /** The registration of this wait, if it was made inside an operation. */
    @Nullable
    Wait inside;
    /** The next {@code Drain} of the same variable, which began earlier. */
    @Nullable
    Drain next;

    Drain(Variable variable, Waiter waiter) {
        this.variable = variable;
        this.waiter = waiter;
    }

    boolean waitsFor(Operation op) {
        return op.order < end && !op.has(Operation.PROBE) && op.indexOf(variable) >= 0;
    }
}
