package io.seriatim.tensor.onednn;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Decisions that the library is asked for once for each key, such as whether it has fast kernels for a structure. Keys
 * hold representative sizes, so that a decision does not depend on which sizes came first. Bounded, thread-safe.
 */
final class Decisions<K, V> {
    /** A program has some dozens; if there are more than these, they are asked for again. */
    private static final int MOST = 10_000;

    private final Map<K, V> known = new ConcurrentHashMap<>();

    /** Returns the decision for a key. Two threads may ask the library at the same time, and get the same. */
    V get(K key, Supplier<V> decision) {
        if (known.size() > MOST) {
            known.clear();
        }
        // Not computed inside of the map: the decision calls the library.
        V there = known.get(key);
        if (there == null) {
            there = decision.get();
            known.put(key, there);
        }
        return there;
    }
}
