package io.seriatim.engine;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A queue of callbacks in the order in which they were deferred. Not thread-safe. Guarded by its owner. */
final class CallbackQueue {
    private @Nullable Callback first;
    private @Nullable Callback last;

    boolean isEmpty() {
        return first == null;
    }

    @Nullable
    Callback first() {
        return first;
    }

    @Nullable
    Callback last() {
        return last;
    }

    void add(Callback callback) {
        Callback l = last;
        if (l == null) {
            first = callback;
        } else {
            l.following = callback;
        }
        last = callback;
    }

    @Nullable
    Callback poll() {
        Callback f = first;
        if (f != null) {
            first = f.following;
            f.following = null;
            if (first == null) {
                last = null;
            }
        }
        return f;
    }

    /** Passes each callback to {@code look}. */
    void forEach(Consumer<Callback> look) {
        for (Callback callback = first; callback != null; callback = callback.following) {
            look.accept(callback);
        }
    }

    /**
     * Moves the callbacks that stand behind {@code after} in another queue, or all of them if {@code after} is null, to
     * the end of this queue.
     */
    void appendThoseAfter(@Nullable Callback after, CallbackQueue other) {
        CallbackQueue taken = new CallbackQueue();
        taken.prependThoseAfter(after, other);
        Callback from = taken.first;
        if (from == null) {
            return;
        }
        if (last == null) {
            first = from;
        } else {
            last.following = from;
        }
        last = taken.last;
    }

    /**
     * Moves the callbacks that stand behind {@code after} in another queue, or all of them if {@code after} is null, to
     * the head of this queue.
     */
    void prependThoseAfter(@Nullable Callback after, CallbackQueue other) {
        Callback from = after == null ? other.first : after.following;
        Callback to = other.last;
        if (from == null || to == null) {
            return;
        }
        if (after == null) {
            other.first = null;
        } else {
            after.following = null;
        }
        other.last = after;
        to.following = first;
        first = from;
        if (last == null) {
            last = to;
        }
    }
}
