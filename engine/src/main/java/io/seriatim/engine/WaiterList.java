package io.seriatim.engine;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A list of threads that wait for the same event. {@link Waiter}s are intrusive nodes, so that a thread that stops
 * waiting is removed in constant time. Guarded by its owner.
 */
final class WaiterList {
    private @Nullable Waiter first;

    boolean isEmpty() {
        return first == null;
    }

    void add(Waiter waiter) {
        Waiter f = first;
        waiter.next = f;
        if (f != null) {
            f.previous = waiter;
        }
        first = waiter;
        waiter.listed = true;
    }

    /** Removes a waiter if it is in this list. The waiter must not be in another list. */
    void remove(Waiter waiter) {
        if (!waiter.listed) {
            return;
        }
        Waiter before = waiter.previous;
        Waiter after = waiter.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after != null) {
            after.previous = before;
        }
        unlink(waiter);
    }

    /** Removes all waiters and passes each to {@code each}. */
    void removeAll(Consumer<Waiter> each) {
        Waiter waiter = first;
        first = null;
        while (waiter != null) {
            Waiter after = waiter.next;
            unlink(waiter);
            each.accept(waiter);
            waiter = after;
        }
    }

    private static void unlink(Waiter waiter) {
        waiter.previous = null;
        waiter.next = null;
        waiter.listed = false;
    }
}
