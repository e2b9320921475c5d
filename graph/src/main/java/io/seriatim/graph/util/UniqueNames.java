package io.seriatim.graph.util;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names that are not taken yet: a key, and a number that counts the names of that key. */
public final class UniqueNames {
    /** The end of a key with its number, at the end of a name or of one of its parts. */
    private static final Pattern NUMBER = Pattern.compile("_(\\d{1,9})(?=$|\\W|_)");

    private final Map<String, Integer> counts = new HashMap<>();

    /** Creates an empty set of names. */
    public UniqueNames() {
    }

    /**
     * Never gives a name, nor one that a longer name begins with, up to a number: after {@code linear_3.w_0}, the key
     * {@code linear} goes on with {@code linear_4}.
     *
     * @param name
     *            a name that is taken
     */
    public void reserve(String name) {
        Matcher number = NUMBER.matcher(name);
        while (number.find()) {
            counts.merge(name.substring(0, number.start()), Integer.parseInt(number.group(1)) + 1, Math::max);
        }
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
