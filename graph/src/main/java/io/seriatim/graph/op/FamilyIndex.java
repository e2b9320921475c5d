package io.seriatim.graph.op;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which family of built-in operations defines a type. A program needs few of the families; most of the time of
 * registering one is spent in linking its lambdas, so a family is registered when one of its types is first asked for.
 * The index is text, which {@link Operations.BuiltIn#index} supplies: a line for each family, then, indented, lines
 * with its types; {@code gradient<type} is a gradient that is derived, and the operation whose schema names it.
 */
final class FamilyIndex {
    /** Between the type of a derived gradient and the type of the operation that it belongs to. */
    static final char OF = '<';

    private final List<Family> families = new ArrayList<>();
    private final Map<String, Family> byType = new HashMap<>();
    private final Map<String, String> forwards = new HashMap<>();
    /** One for all families, since one that is being registered may ask for types of another. */
    private final Object registration = new Object();

    /** A family, and how far its registration has come. */
    final class Family {
        private final Operations.BuiltIn provider;
        private final String name;
        private final List<String> types = new ArrayList<>();
        /** Guarded by the lock of the registration. */
        private boolean started;
        private volatile boolean done;

        private Family(Operations.BuiltIn provider, String name) {
            this.provider = provider;
            this.name = name;
        }

        /** Whether its types are being added or have been. */
        boolean isStarted() {
            synchronized (registration) {
                return started;
            }
        }

        /** Adds its types to a registry, once. If that fails, none of them stays, and the next call tries again. */
        void register(Operations registry) {
            if (done) {
                return;
            }
            synchronized (registration) {
                if (!started) {
                    registerTypes(registry);
                }
            }
        }

        private void registerTypes(Operations registry) {
            started = true;
            try {
                provider.register(name, registry);
                done = true;
            } finally {
                if (!done) {
                    registry.remove(types);
                    started = false;
                }
            }
        }
    }

    /**
     * Adds the families of a service.
     *
     * @return whether it has an index
     */
    boolean add(Operations.BuiltIn provider) {
        Family family = null;
        for (String line : provider.index()) {
            if (!line.startsWith(" ")) {
                family = new Family(provider, line);
                families.add(family);
                continue;
            }
            if (family == null) {
                throw new IllegalStateException(
                        "An index of operations begins with the name of a family, but not with '"
                                + line + "'");
            }
            for (String word : line.strip().split(" ", -1)) {
                add(family, word);
            }
        }
        return family != null;
    }

    private void add(Family family, String word) {
        int of = word.indexOf(OF);
        if (of >= 0) {
            forwards.putIfAbsent(word.substring(0, of), word.substring(of + 1));
            return;
        }
        family.types.add(word);
        Family before = byType.putIfAbsent(word, family);
        if (before != null) {
            throw new IllegalStateException("The operation type '" + word + "' is in two families, " + before.name
                    + " and " + family.name);
        }
    }

    List<Family> families() {
        return families;
    }

    /** The family that defines a type. */
    @Nullable
    Family family(String type) {
        return byType.get(type);
    }

    /** The operation whose schema names a gradient that is derived. */
    @Nullable
    String forward(String gradient) {
        return forwards.get(gradient);
    }

    /** The gradients that are derived. */
    Iterable<String> derived() {
        return forwards.keySet();
    }

    /** Whether a type is defined by a family or derived from one. */
    boolean contains(String type) {
        return byType.containsKey(type) || forwards.containsKey(type);
    }
}
