package io.seriatim.benchmarks.models;

import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.DoubleStream;

/** The inputs of a model: those beside it, or random ones. */
final class ModelInputs {
    private static final long SEED = 46;

    private ModelInputs() {
    }

    /** Returns a tensor for each feed, in their order. */
    static List<Tensor> of(ModelFile file, InferenceModel model) throws IOException {
        Path first = file.path().resolveSibling("input_0.pb");
        boolean given = file.path().endsWith(ModelFile.IN_FOLDER) && Files.exists(first);
        Random random = new Random(SEED);
        List<Tensor> inputs = new ArrayList<>();
        for (String feed : model.feeds()) {
            inputs.add(given
                    ? TensorFile.read(file.path().resolveSibling("input_" + inputs.size() + ".pb"))
                    : random(feed, model, random));
        }
        return inputs;
    }

    /** Open dimensions are 1; whole numbers are 0 and 1, because they are often indices of small tables. */
    private static Tensor random(String feed, InferenceModel model, Random random) {
        if (!(model.program().global().get(feed).type() instanceof VarType.Dense dense)) {
            throw new IllegalArgumentException("Feed '" + feed + "' is not a tensor, so that no input can be made up: "
                    + "put the model into a folder with input_K.pb");
        }
        long[] dims = dense.tensor().dims().stream().mapToLong(dim -> Math.max(1, dim)).toArray();
        DType dtype = dense.tensor().dtype();
        int count = Math.toIntExact(Shape.of(dims).size());
        return dtype.isFloating()
                ? Tensor.of(dtype, DoubleStream.generate(random::nextGaussian).limit(count).toArray(), dims)
                : Tensor.of(dtype, random.longs(count, 0, 2).toArray(), dims);
    }
}
