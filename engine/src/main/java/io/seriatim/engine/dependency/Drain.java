package io.seriatim.engine.dependency;

import org.jspecify.annotations.Nullable;

/**
 * A wait until all operations on a variable that were pushed before have ended. It counts them instead of standing in
 * the variable's queue, where it would keep apart reads that may run together. Guarded by the tracker lock.
 */
public final class Drain {
    public final Variable variable;
    public final Waiter waiter;
    /** The order below which operations are waited for. */
    public long end;
    /** Those that have not ended. */
    public long remaining;
    /** The wait inside an operation that this is; guarded by the tracker lock. */
    @Nullable
    public Wait inside;
    /** The next wait for the same variable, which began earlier. */
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
