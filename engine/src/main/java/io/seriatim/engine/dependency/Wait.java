package io.seriatim.engine.dependency;

import org.jspecify.annotations.Nullable;

/** A wait inside an operation. All fields that are not final are guarded by the tracker lock. */
public final class Wait {
    public final Operation owner;
    public final Waiter waiter;
    /** What is waited for: one operation, or all earlier ones of a variable. */
    public final @Nullable Operation target;
    public final @Nullable Drain drain;
    /** Its place in the order in which waits are registered. */
    public long number;
    public boolean registered;
    /** The operation up to which those that its thread runs were marked. */
    public @Nullable Operation marked;
    /** Other waits for the same future. */
    public @Nullable Wait next;
    public @Nullable Wait previous;

    public Wait(Operation owner, Waiter waiter, @Nullable Operation target, @Nullable Drain drain) {
        this.owner = owner;
        this.waiter = waiter;
        this.target = target;
        this.drain = drain;
    }

    /**
     * The waits inside operations for a pending operation, except those for all operations of a variable; under the
     * tracker lock.
     */
    public static @Nullable Wait on(Operation op) {
        if (op.attachment instanceof Waiter waiter) {
            return waiter.inside;
        }
        return op.attachment instanceof OpFuture<?> future ? future.inside : null;
    }

    /** Whether the wait is for this operation, among others perhaps. */
    public boolean isFor(Operation op) {
        return drain == null ? op == target : drain.waitsFor(op);
    }

    /** Whether the operation waited for has ended already. */
    public boolean isForEnded() {
        return target != null && target.has(Operation.ENDED);
    }
}
