package io.seriatim.engine.dependency;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Threads that wait for the same thing, linked through their {@link Waiter}s: one that gives up is taken out in one
 * step. Guarded by its owner.
 */
public final class WaiterList {
    private @Nullable Waiter first;

    public boolean isEmpty() {
        return first == null;
    }

    public void add(Waiter waiter) {
        Waiter f = first;
        waiter.next = f;
        if (f != null) {
            f.previous = waiter;
        }
        first = waiter;
        waiter.listed = true;
    }

    /** Takes a waiter out, if it is in; it is in no other list. */
    public void remove(Waiter waiter) {
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

    /** Takes all out. */
    public void removeAll(Consumer<Waiter> each) {
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
