package io.seriatim.executor;

import java.util.List;

/**
 * The variables that a run returns, in the order of the results. {@link Executor#fetches} creates it.
 *
 * @param names
 *            the names of the variables
 */
public record Fetches(List<String> names) {
    /** Copies the list. */
    public Fetches {
        names = List.copyOf(names);
    }
}
