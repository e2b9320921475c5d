package io.seriatim.executor;

import java.util.List;

/**
 * The variables that are wanted, in the order of the results. {@link Executor#fetches} makes it of names.
 *
 * @param names
 *            their names
 */
public record Fetches(List<String> names) {
    /** Copies the list. */
    public Fetches {
        names = List.copyOf(names);
    }
}
