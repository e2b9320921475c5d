package io.seriatim.engine;

import org.jspecify.annotations.Nullable;

/** Callbacks in the order in which they were put off. Not safe for threads. */
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

    /** Moves what was added to another queue after a certain one, or all, to the head of this one. */
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
