package io.seriatim.train.quantization;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.quantization.QuantizationPlan;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A model that {@link PostTrainingQuantization} made.
 *
 * @param model
 *            the model with int8 weights; it shares no memory with the original
 * @param quantized
 *            the number of products and convolutions with int8 operands
 * @param leftOut
 *            the results of products and convolutions that stay float32, each with the reason
 * @param ranges
 *            the magnitude of each activation that the largest level stands for
 */
public record QuantizedModel(InferenceModel model, int quantized, Map<String, String> leftOut,
        Map<String, Float> ranges) implements AutoCloseable {
    /** Copies the maps. */
    public QuantizedModel {
        leftOut = Collections.unmodifiableMap(new LinkedHashMap<>(leftOut));
        ranges = Collections.unmodifiableMap(new LinkedHashMap<>(ranges));
    }

    static QuantizedModel of(InferenceModel original, QuantizationPlan.Quantized quantized,
            Map<String, Float> ranges) {
        Map<String, Tensor> parameters = new LinkedHashMap<>();
        original.parameters().forEach((name, value) -> {
            if (!quantized.parameters().containsKey(name)) {
                parameters.put(name, copy(value));
            }
        });
        parameters.putAll(quantized.parameters());
        return new QuantizedModel(
                new InferenceModel(quantized.program(), original.feeds(), original.fetches(), parameters),
                quantized.quantized(), quantized.leftOut(), ranges);
    }

    private static Tensor copy(Tensor tensor) {
        Tensor copy = Tensor.allocate(tensor.dtype(), tensor.shape().dims());
        copy.declared().memory().copyFrom(tensor.declared().memory().asSlice(tensor.offset(), copy.spec().bytes()));
        return copy.withLod(tensor.lod());
    }

    /**
     * Writes the model; PaddlePaddle reads it too.
     *
     * @param file
     *            the file of the program, such as {@code name.pdmodel}, beside which {@code name.pdiparams} is written
     *            (see {@link InferenceModels#save(Path, InferenceModel)}); its folder must be there
     * @throws IllegalArgumentException
     *             if no format has such names, or the format cannot express the model
     * @throws IOException
     *             if a file cannot be written
     */
    public void save(Path file) throws IOException {
        InferenceModels.save(file, model);
    }

    /** Frees the memory of the parameters. */
    @Override
    public void close() {
        model.close();
    }
}
