package io.seriatim.engine.dependency;

import org.jspecify.annotations.Nullable;

/**
 * A wait until all earlier operations on a variable have ended. It counts them instead of entering the variable's
 * queue, where it would separate reads that may run together. Guarded by the tracker lock.
 */
public final class Drain {
    public final Variable variable;
    public final Waiter waiter;
    /** The wait is for operations whose order is less than this. */
    public long end;
    /** The number of these operations that have not ended. */
    public long remaining;
    /** The registration of this wait, if it was made inside an operation. */
    @Nullable
    public Wait inside;
    /** The next {@code Drain} of the same variable, which began earlier. */
    @Nullable
    public Drain next;

    public Drain(Variable variable, Waiter waiter) {
        this.variable = variable;
        this.waiter = waiter;
    }

    boolean waitsFor(Operation op) {
        return op.order < end && !op.has(Operation.PROBE) && op.indexOf(variable) >= 0;
    }
}
