package io.seriatim.cli.convert;

import io.seriatim.cli.option.Shapes;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * Made-up inputs of a model. Which sizes and numbers a model accepts is not known where it leaves dimensions open, so
 * there are several choices, to be tried in order.
 */
final class Inputs {
    /** The dimensions that a model leaves open: the first one, the others of images, and the others of sequences. */
    private record Sizes(long batch, long spatial, long length) {
    }

    private static final List<Sizes> SIZES = List.of(new Sizes(2, 64, 16), new Sizes(2, 224, 16), new Sizes(1, 32, 16),
            new Sizes(1, 320, 8), new Sizes(1, 640, 1), new Sizes(1, 1, 1), new Sizes(2, 2, 2));
    /** Token numbers first; a model with small tables takes only 0 and 1. */
    private static final List<Integer> LARGEST = List.of(9, 1);
    private static final int RANK_OF_IMAGES = 4;
    private static final int MOST_ELEMENTS = 1 << 28;

    private final InferenceModel model;
    private final Map<String, long[]> shapes = new HashMap<>();
    private final long seed;

    /**
     * Inputs of a model.
     *
     * @throws IllegalArgumentException
     *             if a shape is not one of a feed
     */
    Inputs(InferenceModel model, Map<String, String> shapes, long seed) {
        this.model = model;
        this.seed = seed;
        shapes.forEach((name, text) -> {
            if (!model.feeds().contains(name)) {
                throw new IllegalArgumentException(
                        "--shape " + name + "=… names no feed; the feeds are " + model.feeds());
            }
            this.shapes.put(name, Shapes.parsed(name, text));
        });
    }

    /** All choices, the likeliest first; equal ones once. */
    List<Choice> choices() {
        List<Choice> choices = new ArrayList<>();
        for (Sizes sizes : SIZES) {
            for (int largest : LARGEST) {
                Choice choice = new Choice(dims(sizes), largest, sizes.spatial());
                if (choices.stream().noneMatch(choice::equals)) {
                    choices.add(choice);
                }
            }
        }
        return choices;
    }

    private Map<String, List<Long>> dims(Sizes sizes) {
        Map<String, List<Long>> dims = new LinkedHashMap<>();
        Map<String, Long> named = named();
        for (String feed : model.feeds()) {
            long[] given = shapes.get(feed);
            VarType.TensorType type = type(feed);
            List<Long> all = given == null ? type.dims() : Arrays.stream(given).boxed().toList();
            List<Long> made = new ArrayList<>();
            for (int i = 0; i < all.size(); i++) {
                long open = i == 0 ? sizes.batch() : all.size() >= RANK_OF_IMAGES ? sizes.spatial() : sizes.length();
                made.add(all.get(i) < 0 ? named.computeIfAbsent(symbol(feed, i), _ -> open) : all.get(i));
            }
            dims.put(feed, made);
        }
        return dims;
    }

    /** The sizes that the given shapes have for dimensions with names. */
    private Map<String, Long> named() {
        Map<String, Long> named = new HashMap<>();
        shapes.forEach((feed, dims) -> {
            for (int i = 0; i < dims.length; i++) {
                named.put(symbol(feed, i), dims[i]);
            }
        });
        return named;
    }

    /** What dimensions that have one size share; a dimension without a name has its own. */
    private String symbol(String feed, int axis) {
        List<String> symbols = model.program().symbolicDims().of(feed);
        String symbol = axis < symbols.size() ? symbols.get(axis) : "";
        return symbol.isEmpty() ? axis + " of " + feed : symbol;
    }

    private VarType.TensorType type(String feed) {
        VarDesc desc = model.program().global().get(feed);
        if (!(desc.type() instanceof VarType.Dense dense)) {
            throw new IllegalArgumentException("Feed '" + feed + "' is not a tensor, so that no input can be made up");
        }
        return dense.tensor();
    }

    /** The values of a choice by feed, which are the same each time. */
    Map<String, Tensor> make(Choice choice) {
        Map<String, Tensor> values = new LinkedHashMap<>();
        choice.dims().forEach((feed, dims) -> {
            Random random = new Random(seed * 31 + values.size());
            Tensor tensor = make(feed, choice, dims.stream().mapToLong(Long::longValue).toArray(), random);
            boolean sequences = model.program().global().get(feed).type() instanceof VarType.Dense dense
                    && dense.lodLevel() != null && dense.lodLevel() > 0 && !dims.isEmpty();
            values.put(feed, sequences ? tensor.withLod(Lod.of(new long[]{0, dims.getFirst()})) : tensor);
        });
        return values;
    }

    private Tensor make(String feed, Choice choice, long[] dims, Random random) {
        DType dtype = type(feed).dtype();
        String name = feed.toLowerCase(Locale.ROOT);
        long size = Shape.of(dims).size();
        if (size > MOST_ELEMENTS) {
            throw new IllegalArgumentException("Feed '" + feed + "' would have " + size
                    + " elements: give smaller dimensions with --shape " + feed + "=…");
        }
        int count = Math.toIntExact(size);
        if (dtype.isComplex()) {
            double[] parts = random.doubles(2L * count, -1, 1).toArray();
            return dtype == DType.COMPLEX128 ? Tensor.ofComplex(parts, dims) : Tensor.ofComplex(floats(parts), dims);
        }
        if (dtype.isFloating()) {
            // The sizes and scales of images that detectors are fed beside the images.
            double fixed = name.contains("scale") ? 1 : name.contains("shape") ? choice.spatial() : 0;
            double[] numbers = new double[count];
            for (int i = 0; i < count; i++) {
                numbers[i] = fixed > 0 ? fixed : random.nextGaussian();
            }
            return Tensor.of(dtype, numbers, dims);
        }
        boolean flags = dtype == DType.BOOL || name.contains("mask") || name.contains("type");
        return Tensor.of(dtype, random.longs(count, 0, flags ? 2 : choice.largest() + 1L).toArray(), dims);
    }

    private static float[] floats(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    /**
     * One way to make inputs up.
     *
     * @param dims
     *            the dimensions of each feed
     * @param largest
     *            the largest whole number
     * @param spatial
     *            the height and width of images
     */
    record Choice(Map<String, List<Long>> dims, int largest, long spatial) {
        @Override
        public String toString() {
            return String.valueOf(dims);
        }
    }
}
