package io.seriatim.executor;

import java.util.List;

/**
 * The variables that are fed, in the order in which {@link Plan#run(io.seriatim.tensor.Tensor...)} takes their values.
 * {@link Executor#feeds} makes it of names.
 *
 * @param names
 *            their names
 */
public record Feeds(List<String> names) {
    /** Copies the list. */
    public Feeds {
        names = List.copyOf(names);
        if (names.stream().distinct().count() != names.size()) {
            throw new IllegalArgumentException("A variable is fed once, but the feeds are " + names);
        }
    }
}
