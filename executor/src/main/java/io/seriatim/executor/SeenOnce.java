package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashMap;
import java.util.Map;

/** Remembers the most recent things, to tell those that come again from those that do not. Thread-safe. */
final class SeenOnce<T> {
    private static final int MOST = 256;

    @GuardedBy("this")
    private final Map<T, Boolean> recent = new LinkedHashMap<>();

    /** Adds a thing; false if it came before, after which it counts as new again. */
    synchronized boolean add(T thing) {
        if (recent.remove(thing) != null) {
            return false;
        }
        recent.put(thing, true);
        if (recent.size() > MOST) {
            recent.remove(recent.keySet().iterator().next());
        }
        return true;
    }
}
