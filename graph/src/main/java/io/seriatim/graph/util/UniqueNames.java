package io.seriatim.graph.util;

import java.util.HashMap;
import java.util.Map;

/** Names that are not taken yet: a key, and a number that counts the names of that key. */
public final class UniqueNames {
    private final Map<String, Integer> counts = new HashMap<>();

    /** Creates an empty set of names. */
    public UniqueNames() {
    }

    /**
     * A name that was not given before.
     *
     * @param key
     *            with which the name begins
     * @return the key, an underscore and a number
     */
    public String next(String key) {
        return key + "_" + (counts.merge(key, 1, Integer::sum) - 1);
    }
}
