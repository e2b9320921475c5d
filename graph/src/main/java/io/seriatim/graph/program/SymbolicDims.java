package io.seriatim.graph.program;

import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Names of unknown dimensions of feeds. In a run, dimensions of one name have one size.
 *
 * @param names
 *            by feed, a name for each axis, empty where the dimension has none
 */
public record SymbolicDims(Map<String, List<String>> names) {
    /** No dimension has a name. */
    public static final SymbolicDims NONE = new SymbolicDims(Map.of());

    private record Place(String feed, int axis, long size) {
        @Override
        public String toString() {
            return "axis " + axis + " of '" + feed + "' has " + size;
        }
    }

    /** Copies the lists, without feeds whose dimensions have no names. */
    public SymbolicDims {
        Map<String, List<String>> named = new LinkedHashMap<>();
        names.forEach((feed, symbols) -> {
            if (symbols.stream().anyMatch(symbol -> !symbol.isEmpty())) {
                named.put(feed, List.copyOf(symbols));
            }
        });
        names = Map.copyOf(named);
    }

    /**
     * The names of the dimensions of a feed.
     *
     * @param feed
     *            its name
     * @return for each axis, empty where the dimension has none; an empty list if none has
     */
    public List<String> of(String feed) {
        return names.getOrDefault(feed, List.of());
    }

    /**
     * Checks that dimensions of one name have one size.
     *
     * @param feeds
     *            the feeds to check, in the order in which messages name them
     * @param values
     *            the value of a feed, or null if it is not given; one of another rank than declared is not checked
     * @throws IllegalArgumentException
     *             if two sizes differ; the message has the name, both feeds and both sizes
     */
    public void check(Iterable<String> feeds, Function<String, @Nullable Tensor> values) {
        String problem = problem(feeds, name -> {
            Tensor value = values.apply(name);
            return value == null ? null : value.shape();
        });
        if (problem != null) {
            throw new IllegalArgumentException(problem);
        }
    }

    /**
     * Says whether dimensions of one name have one size.
     *
     * @param feeds
     *            the feeds to check, in the order in which messages name them
     * @param shapes
     *            the shape of a feed, or null if it is not given; one of another rank than declared is not checked
     * @return a sentence with the name, both feeds and both sizes; null if all sizes fit
     */
    public @Nullable String problem(Iterable<String> feeds, Function<String, @Nullable Shape> shapes) {
        if (names.isEmpty()) {
            return null;
        }
        Map<String, Place> sizes = new HashMap<>();
        for (String feed : feeds) {
            List<String> symbols = of(feed);
            Shape shape = symbols.isEmpty() ? null : shapes.apply(feed);
            if (shape == null || shape.rank() != symbols.size()) {
                continue;
            }
            for (int axis = 0; axis < symbols.size(); axis++) {
                Place here = new Place(feed, axis, shape.dim(axis));
                Place before = symbols.get(axis).isEmpty() ? null : sizes.putIfAbsent(symbols.get(axis), here);
                if (before != null && before.size() != here.size()) {
                    return "Feeds have one size where their model has the dimension '" + symbols.get(axis) + "', but "
                            + before + " and " + here + ": feed tensors of matching shapes";
                }
            }
        }
        return null;
    }

    /**
     * The names without those of feeds that a program does not have.
     *
     * @param program
     *            a part of the program that has these names
     * @return what remains
     */
    SymbolicDims within(Program program) {
        Map<String, List<String>> kept = new LinkedHashMap<>(names);
        new ArrayList<>(kept.keySet()).forEach(feed -> {
            if (program.global().var(feed) == null) {
                kept.remove(feed);
            }
        });
        return new SymbolicDims(kept);
    }
}
