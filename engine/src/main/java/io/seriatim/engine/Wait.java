package io.seriatim.engine;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A wait inside an operation. Guarded by the tracker lock,
 * except that the waiting thread may read whether it is registered.
 */
final class Wait {
    final Operation owner;
    final Waiter waiter;
    /** The awaited operation, or null if {@code drain} is set. */
    final @Nullable Operation target;
    final @Nullable Drain drain;
    /** What the awaited future needs, if it is a derived one; then there is a wait for each of its operations. */
    final @Nullable Dependencies on;
    /** The number of the wait, in the order of registration. */
    long number;
    boolean registered;
    /** The outermost operation on the waiting thread that was marked with {@link Operation#IN_WAIT} for this wait. */
    @Nullable
    Operation marked;
    /** Further waits for the same future. */
    @Nullable
    Wait next;
    @Nullable
    Wait previous;

    Wait(Operation owner, Waiter waiter, @Nullable Operation target, @Nullable Drain drain) {
        this(owner, waiter, target, drain, null);
    }

    /** Creates the wait for one of the operations that a derived future needs. */
    Wait(Operation owner, Waiter waiter, Operation target, Dependencies on) {
        this(owner, waiter, target, null, on);
    }

    private Wait(Operation owner, Waiter waiter, @Nullable Operation target, @Nullable Drain drain,
            @Nullable Dependencies on) {
        this.owner = owner;
        this.waiter = waiter;
        this.target = target;
        this.drain = drain;
        this.on = on;
    }

    /**
     * Returns the first wait, made inside an operation, for the given pending operation alone; under the tracker lock.
     * Waits for all operations on a variable are not included.
     */
    static @Nullable Wait on(Operation op) {
        if (op.attachment instanceof Waiter waiter) {
            return waiter.inside;
        }
        return op.attachment instanceof OpFuture<?> future ? future.inside : null;
    }

    /**
     * Returns whether the wait can never end because the given operation, which was found last, and certain others
     * cannot.
     *
     * @param never
     *            tells whether an operation was found not to end
     */
    boolean isBlockedBy(Operation op, Predicate<Operation> never) {
        if (on != null) {
            return on.isBlockedBy(never);
        }
        return drain == null ? op == target : drain.waitsFor(op);
    }

    /** Returns whether the awaited operation has already ended. */
    boolean isForEnded() {
        return target != null && target.has(Operation.ENDED);
    }
}
