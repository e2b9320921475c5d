package io.seriatim.train.data;

import java.io.IOException;
import java.util.Collection;
import java.util.List;

/**
 * Names of classes, to learn how such names are made. As a text, each name is followed by a line feed, and one stands before the first: what follows a line feed begins a name.
 */
public final class ClassNames {
    private ClassNames() {
    }

    /**
     * The names of all classes of the running JDK, from its {@code jrt:} image: with dots and, for nested classes, dollar signs; without anonymous and local classes, and without module-info and package-info.
     *
     * @return distinct
     * @throws IOException
     *             if the image cannot be read
     */
    public static ClassNames ofRuntime() throws IOException {
        throw new IOException("not yet");
    }

    /**
     * Some names.
     *
     * @param names
     *            at least 2 distinct ones, none empty or with a line feed
     * @return without duplicates
     */
    public static ClassNames of(Collection<String> names) {
        return new ClassNames();
    }

    /**
     * All names.
     *
     * @return distinct and sorted
     */
    public List<String> names() {
        return List.of();
    }

    /**
     * Whether there is such a name.
     *
     * @param name
     *            any
     * @return whether it is one of {@link #names}
     */
    public boolean contains(String name) {
        return names().contains(name);
    }

    /**
     * The names as text, in an order that is a pure function of the seed: nine tenths of them to learn from, the others, at least one, for validation.
     *
     * @param seed
     *            of the order
     * @return the text
     */
    public TextData split(long seed) {
        throw new IllegalStateException("not yet");
    }
}
