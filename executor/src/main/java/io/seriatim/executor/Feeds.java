package io.seriatim.executor;

import java.util.List;

/**
 * The variables that a run is fed, in the order in which {@link Plan#run(io.seriatim.tensor.Tensor...)} takes their
 * values. {@link Executor#feeds} creates it.
 *
 * @param names
 *            the names of the variables, without duplicates
 */
public record Feeds(List<String> names) {
    /**
     * Copies the list.
     *
     * @throws IllegalArgumentException
     *             if a name occurs twice
     */
    public Feeds {
        names = List.copyOf(names);
        if (names.stream().distinct().count() != names.size()) {
            throw new IllegalArgumentException(
                    "Feeds must be distinct, but are " + names + ": name each variable once");
        }
    }
}
