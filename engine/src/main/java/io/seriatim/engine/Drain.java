package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/**
 * A wait until all operations on a variable that were pushed before have ended. It counts them instead of standing in
 * the variable's queue, where it would keep apart reads that may run together. Guarded by the tracker lock.
 */
final class Drain {
    final Variable variable;
    final Waiter waiter;
    /** The order below which operations are waited for. */
    long end;
    /** Those that have not ended. */
    long remaining;
    /** The wait inside an operation that this is; guarded by the tracker lock. */
    Waits.@Nullable Wait inside;
    /** The next wait for the same variable, which began earlier. */
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
