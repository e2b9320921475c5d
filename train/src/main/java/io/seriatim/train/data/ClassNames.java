package io.seriatim.train.data;

import java.io.IOException;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Names of classes, as training data for a model of such names. In the text form, a line feed precedes the first name
 * and follows each name, so every name begins after a line feed. Immutable.
 */
public final class ClassNames {
    private static final String SUFFIX = ".class";

    private final List<String> names;

    private ClassNames(Collection<String> names) {
        this.names = List.copyOf(new TreeSet<>(names));
        if (this.names.size() < 2) {
            throw new IllegalArgumentException(
                    "There must be at least 2 names, one of them to validate, but there are " + this.names);
        }
        for (String name : this.names) {
            if (name.isEmpty() || name.indexOf('\n') >= 0) {
                throw new IllegalArgumentException(
                        "A name has at least one character, and no line feed, but one is '" + name + "'");
            }
        }
    }

    /**
     * Returns the names of all classes of the running JDK, from its {@code jrt:} image, with dots and, for nested
     * classes, dollar signs. Anonymous and local classes, module-info and package-info are left out.
     *
     * @return the distinct names
     * @throws IOException
     *             if the image cannot be read
     */
    public static ClassNames ofRuntime() throws IOException {
        List<String> found = new ArrayList<>();
        for (ModuleReference module : ModuleFinder.ofSystem().findAll()) {
            try (ModuleReader reader = module.open(); Stream<String> entries = reader.list()) {
                entries.filter(ClassNames::isNamedClass)
                        .forEach(entry -> found
                                .add(entry.substring(0, entry.length() - SUFFIX.length()).replace('/', '.')));
            }
        }
        return new ClassNames(found);
    }

    /**
     * Returns whether an entry of a module is a class, but neither an anonymous nor a local one, whose names contain
     * numbers.
     */
    static boolean isNamedClass(String entry) {
        if (!entry.endsWith(SUFFIX) || entry.endsWith("module-info.class") || entry.endsWith("package-info.class")) {
            return false;
        }
        for (int i = entry.indexOf('$'); i >= 0; i = entry.indexOf('$', i + 1)) {
            if (Character.isDigit(entry.charAt(i + 1))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns given names.
     *
     * @param names
     *            at least 2 distinct names, none of them empty or with a line feed
     * @return the distinct names
     */
    public static ClassNames of(Collection<String> names) {
        return new ClassNames(names);
    }

    /**
     * Returns all names.
     *
     * @return the distinct names, sorted
     */
    public List<String> names() {
        return names;
    }

    /**
     * Returns whether a name is contained.
     *
     * @param name
     *            any name
     * @return whether it is one of {@link #names}
     */
    public boolean contains(String name) {
        return Collections.binarySearch(names, name) >= 0;
    }

    /**
     * Returns the names as text, in an order that is a pure function of the seed and the number of names. Nine tenths
     * of the names are for training, the others, at least one, for validation.
     *
     * @param seed the seed of the order
     * @return the text
     */
    public TextData split(long seed) {
        int[] order = Permutation.of(seed, 0, names.size());
        int learnt = names.size() - Math.max(1, names.size() / 10);
        String training = joined(order, 0, learnt);
        String validation = joined(order, learnt, order.length);
        Vocabulary vocabulary = Vocabulary.of(training + validation);
        return new TextData(vocabulary, vocabulary.encode(training), vocabulary.encode(validation));
    }

    private String joined(int[] order, int from, int to) {
        StringBuilder text = new StringBuilder("\n");
        for (int i = from; i < to; i++) {
            text.append(names.get(order[i])).append('\n');
        }
        return text.toString();
    }
}
