package io.seriatim.engine.dependency;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Callbacks in the order in which they were put off. Not safe for threads. */
public final class CallbackQueue {
    private @Nullable Callback first;
    private @Nullable Callback last;

    public boolean isEmpty() {
        return first == null;
    }

    @Nullable
    public Callback first() {
        return first;
    }

    @Nullable
    public Callback last() {
        return last;
    }

    public void add(Callback callback) {
        Callback l = last;
        if (l == null) {
            first = callback;
        } else {
            l.following = callback;
        }
        last = callback;
    }

    @Nullable
    public Callback poll() {
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

    /** Shows all. */
    public void forEach(Consumer<Callback> look) {
        for (Callback callback = first; callback != null; callback = callback.following) {
            look.accept(callback);
        }
    }

    /** Moves what was added to another queue after a given callback, or all, to the end of this one. */
    public void appendThoseAfter(@Nullable Callback after, CallbackQueue other) {
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

    /** Moves what was added to another queue after a given callback, or all, to the head of this one. */
    public void prependThoseAfter(@Nullable Callback after, CallbackQueue other) {
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
