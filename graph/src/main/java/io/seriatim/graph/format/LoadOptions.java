package io.seriatim.graph.format;

import io.seriatim.graph.program.FeedCheck;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.SymbolicDims;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How {@link InferenceModels#load(java.nio.file.Path, LoadOptions)} reads a model. Immutable: each method returns new
 * options.
 */
public final class LoadOptions {
    private static final LoadOptions DEFAULTS = new LoadOptions(false, Map.of());

    private final boolean inference;
    private final Map<String, List<Long>> shapes;

    private LoadOptions(boolean inference, Map<String, List<Long>> shapes) {
        this.inference = inference;
        this.shapes = Collections.unmodifiableMap(new LinkedHashMap<>(shapes));
    }

    /**
     * The model as the file has it.
     *
     * @return options that change nothing
     */
    public static LoadOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Loads the model for inference, also if it was exported in training mode: dropouts pass all elements on, and batch
     * normalisations use the statistics of the file.
     *
     * @return these options with inference
     */
    public LoadOptions inference() {
        return new LoadOptions(true, shapes);
    }

    /**
     * Gives dimensions of a feed that the file leaves open. Feeds are checked against them, as against those that the
     * file declares, and what depends on them is known when the model is loaded. Dimensions with the same name in the
     * file get the same size.
     *
     * @param feed
     *            the name of a feed
     * @param dims
     *            all its dimensions; −1 leaves one as it is
     * @return these options with the shape
     * @throws IllegalArgumentException
     *             if a dimension is below −1, or another shape was given for the feed
     */
    public LoadOptions shape(String feed, long... dims) {
        List<Long> given = Arrays.stream(dims).boxed().toList();
        if (given.stream().anyMatch(dim -> dim < -1)) {
            throw new IllegalArgumentException("The dimensions of feed '" + feed
                    + "' must be from 0 on, or -1 to leave one open, but are " + given);
        }
        Map<String, List<Long>> all = new LinkedHashMap<>(shapes);
        List<Long> before = all.put(feed, given);
        if (before != null && !before.equals(given)) {
            throw new IllegalArgumentException("Two shapes are given for feed '" + feed + "', " + before + " and "
                    + given + ": give one");
        }
        return new LoadOptions(inference, all);
    }

    /**
     * Returns whether {@link #inference} was called.
     *
     * @return false by default
     */
    public boolean isInference() {
        return inference;
    }

    /**
     * Returns the shapes that were given.
     *
     * @return by feed, in the order in which they were given; an immutable map
     */
    public Map<String, List<Long>> shapes() {
        return shapes;
    }

    /**
     * Completes the declared dimensions of feeds. For {@link ModelFormat}s that use them while they read.
     *
     * @param declared
     *            the dimensions of all feeds, −1 where open; null for a feed of which the file says none
     * @param names
     *            the names of open dimensions
     * @return the dimensions of all feeds with those that were given, in the order of {@code declared}
     * @throws IllegalArgumentException
     *             if a shape was given for something else, or contradicts the declaration or another shape
     */
    public Map<String, @Nullable List<Long>> dims(Map<String, ? extends @Nullable List<Long>> declared,
            SymbolicDims names) {
        Map<String, @Nullable List<Long>> all = new LinkedHashMap<>(declared);
        shapes.forEach((feed, given) -> {
            if (!declared.containsKey(feed)) {
                throw new IllegalArgumentException(
                        "A shape is given for '" + feed + "', which is no feed; the feeds are "
                                + declared.keySet());
            }
            all.put(feed, completed(feed, declared.get(feed), given));
        });
        Map<String, Long> sizes = sizes(all, names);
        all.replaceAll((feed, dims) -> dims == null ? null : named(dims, names.of(feed), sizes));
        return all;
    }

    private static List<Long> completed(String feed, @Nullable List<Long> declared, List<Long> given) {
        if (declared == null) {
            return given;
        }
        boolean fits = declared.size() == given.size();
        List<Long> dims = new ArrayList<>();
        for (int i = 0; fits && i < given.size(); i++) {
            fits = declared.get(i) < 0 || given.get(i) < 0 || declared.get(i).equals(given.get(i));
            dims.add(declared.get(i) < 0 ? given.get(i) : declared.get(i));
        }
        if (!fits) {
            throw new IllegalArgumentException("The shape " + given + " is given for feed '" + feed
                    + "', but the file declares " + declared
                    + ": only dimensions that are open there (-1) can be given");
        }
        return dims;
    }

    /** The sizes of dimensions with names. */
    private static Map<String, Long> sizes(Map<String, ? extends @Nullable List<Long>> dims, SymbolicDims names) {
        Map<String, Long> sizes = new HashMap<>();
        dims.forEach((feed, all) -> {
            List<String> symbols = names.of(feed);
            for (int i = 0; all != null && symbols.size() == all.size() && i < all.size(); i++) {
                Long before = symbols.get(i).isEmpty() || all.get(i) < 0
                        ? null
                        : sizes.putIfAbsent(symbols.get(i), all.get(i));
                if (before != null && !before.equals(all.get(i))) {
                    throw new IllegalArgumentException("The dimension '" + symbols.get(i)
                            + "' has one size, but the shapes that are given say " + before + " and " + all.get(i)
                            + " (axis " + i + " of feed '" + feed + "')");
                }
            }
        });
        return sizes;
    }

    private static List<Long> named(List<Long> dims, List<String> symbols, Map<String, Long> sizes) {
        if (symbols.size() != dims.size()) {
            return dims;
        }
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < dims.size(); i++) {
            all.add(dims.get(i) < 0 ? sizes.getOrDefault(symbols.get(i), -1L) : dims.get(i));
        }
        return all;
    }

    /**
     * Applies the options to a program that was read without them.
     *
     * @param program
     *            the program; it is not changed
     * @param feeds
     *            the names of its feeds; if empty, those that its operations read
     * @return a copy, or the program itself if nothing changes
     * @throws IllegalArgumentException
     *             if a shape was given for something else, contradicts a declaration or another shape, or does not fit
     *             an operation
     */
    public Program applied(Program program, List<String> feeds) {
        Program applied = inference ? program.copyForTest() : program;
        if (shapes.isEmpty()) {
            return applied;
        }
        Map<String, @Nullable List<Long>> declared = new LinkedHashMap<>();
        for (String feed : feeds.isEmpty() ? FeedCheck.feeds(program) : feeds) {
            if (applied.global().get(feed).type() instanceof VarType.Dense(VarType.TensorType type, Integer _)) {
                declared.put(feed, type.dims());
            }
        }
        Map<String, @Nullable List<Long>> dims = dims(declared, applied.symbolicDims());
        Program changed = inference ? applied : applied.copy();
        dims.forEach((feed, all) -> {
            VarDesc desc = changed.global().get(feed);
            if (all != null && (!all.equals(declared.get(feed)) || shapes.containsKey(feed))) {
                VarType type = desc.type().with(new VarType.TensorType(desc.tensor().dataType(), all));
                changed.global().put(new VarDesc(feed, type, desc.persistable(), true, desc.isParameter(),
                        desc.stopGradient(), desc.original()));
            }
        });
        OpenDimensions.infer(changed);
        return changed;
    }

    @Override
    public String toString() {
        return (inference ? "for inference" : "as in the file")
                + (shapes.isEmpty() ? "" : ", with the shapes " + shapes);
    }
}
