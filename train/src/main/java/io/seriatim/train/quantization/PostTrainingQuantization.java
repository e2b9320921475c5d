package io.seriatim.train.quantization;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.quantization.QuantizationPlan;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;

/**
 * Quantizes a float32 inference model after training: products and convolutions get int8 operands, as PaddlePaddle's
 * quantize_linear and dequantize_linear describe them. The weights have a scale for each output channel, their largest
 * magnitude. The activations have one scale for the whole tensor, which is found by running the model on calibration
 * data. The quantized model runs here with int8 products, and in PaddlePaddle.
 */
public final class PostTrainingQuantization {
    /** How the range of an activation follows from the numbers that it has on the calibration data. */
    public enum Method {
        /** The largest magnitude. */
        MIN_MAX,
        /**
         * The magnitude from which on numbers are clipped so that the distribution of the levels differs least from
         * that of the numbers, by relative entropy over a histogram of 2,048 bins. Outliers then do not make the levels
         * coarse. Zeros are not counted, since every scale represents them exactly. The data is read twice.
         */
        ENTROPY
    }

    private final InferenceModel model;
    private Method method = Method.MIN_MAX;
    private int threads = 1;

    private PostTrainingQuantization(InferenceModel model) {
        this.model = model;
    }

    /**
     * Begins to quantize a model.
     *
     * @param model
     *            the float32 model, which is not changed and must stay open until {@link #quantize} returns
     * @return the settings, with the method {@link Method#MIN_MAX} and one thread
     */
    public static PostTrainingQuantization of(InferenceModel model) {
        return new PostTrainingQuantization(model);
    }

    /**
     * Sets how the ranges of activations are found.
     *
     * @param value
     *            the method
     * @return this
     */
    public PostTrainingQuantization method(Method value) {
        method = value;
        return this;
    }

    /**
     * Sets the number of threads that run the model.
     *
     * @param value
     *            at least 1
     * @return this
     */
    public PostTrainingQuantization threads(int value) {
        if (value < 1) {
            throw new IllegalArgumentException("The number of threads must be 1 or more, but is " + value);
        }
        threads = value;
        return this;
    }

    /**
     * Checks that the quantized model can be written to a file, before the model runs on calibration data.
     *
     * @param file
     *            the file for {@link QuantizedModel#save}, which need not be there
     * @return this
     * @throws IllegalArgumentException
     *             if no format has such names or the format cannot express the quantized model, and as
     *             {@link #quantize} if the model cannot be quantized or a weight is not finite
     */
    public PostTrainingQuantization requireWritable(Path file) {
        QuantizationPlan plan = plan();
        Map<String, Float> ranges = new LinkedHashMap<>();
        plan.activations().forEach(name -> ranges.put(name, 1f));
        QuantizationPlan.Quantized quantized = plan.quantized(ranges);
        try {
            Map<String, Tensor> parameters = new LinkedHashMap<>(model.parameters());
            parameters.putAll(quantized.parameters());
            InferenceModels.requireWritable(file,
                    new InferenceModel(quantized.program(), model.feeds(), model.fetches(), parameters));
        } finally {
            quantized.parameters().values().forEach(Tensor::close);
        }
        return this;
    }

    private QuantizationPlan plan() {
        QuantizationPlan plan = QuantizationPlan.of(model.program(), model.feeds(), model.parameters());
        if (plan.activations().isEmpty()) {
            throw new IllegalArgumentException("The model has no product or convolution that can be quantized"
                    + (plan.leftOut().isEmpty() ? "" : ": " + plan.leftOut().values()));
        }
        return plan;
    }

    /**
     * Runs the model on the calibration data and quantizes it.
     *
     * @param batches
     *            for each run the values of the model's feeds by name; other names are ignored. It is iterated once, or
     *            twice with {@link Method#ENTROPY}
     * @return the quantized model, which belongs to the caller
     * @throws IllegalArgumentException
     *             if the model is quantized already or has no product that can be quantized, if there are no batches or
     *             one lacks a feed, or if an activation or a weight is not finite
     */
    public QuantizedModel quantize(Iterable<? extends Map<String, Tensor>> batches) {
        QuantizationPlan plan = plan();
        List<String> activations = plan.activations();
        Map<String, Float> ranges = new LinkedHashMap<>();
        try (Executor executor = Executor.builder().threads(threads).strictNan().without(Pass.INTEGERS).build()) {
            model.parameters().forEach(executor.scope()::set);
            Plan run = executor.compile(plan.program(), new Feeds(model.feeds()), new Fetches(activations));
            Map<String, Range> observed = new HashMap<>();
            observe(run, batches, activations, (name, tensor) -> observed.computeIfAbsent(name, Range::new)
                    .add(tensor));
            activations.forEach(name -> ranges.put(name, Objects.requireNonNull(observed.get(name)).most()));
            if (method == Method.ENTROPY) {
                Map<String, Histogram> histograms = new HashMap<>();
                ranges.forEach((name, most) -> histograms.put(name, new Histogram(most)));
                observe(run, batches, activations,
                        (name, tensor) -> Objects.requireNonNull(histograms.get(name)).add(tensor.toFloatArray()));
                histograms.forEach((name, histogram) -> ranges.put(name, histogram.threshold()));
            }
        }
        QuantizationPlan.Quantized quantized = plan.quantized(ranges);
        if (quantized.quantized() == 0) {
            quantized.parameters().values().forEach(Tensor::close);
            throw new IllegalArgumentException(
                    "No product or convolution could be quantized: " + quantized.leftOut().values());
        }
        return QuantizedModel.of(model, quantized, ranges);
    }

    private void observe(Plan run, Iterable<? extends Map<String, Tensor>> batches, List<String> activations,
            BiConsumer<String, Tensor> observer) {
        int number = 0;
        for (Map<String, Tensor> batch : batches) {
            number++;
            Map<String, Tensor> results = run.run(Batches.feeds(model.feeds(), batch, number)).all();
            for (String name : activations) {
                Tensor tensor = Objects.requireNonNull(results.get(name));
                try {
                    observer.accept(name, tensor);
                } catch (NotFiniteActivation e) {
                    throw new IllegalArgumentException("The activation '" + name + "' holds " + e.value()
                            + " in batch " + number + " of the calibration data: quantization needs data on which the "
                            + "model computes finite numbers", e);
                }
            }
            results.values().forEach(Tensor::close);
        }
        if (number == 0) {
            throw new IllegalArgumentException("There is no calibration data: quantization needs one batch or more");
        }
    }

    /** An activation that no scale fits. */
    private static final class NotFiniteActivation extends RuntimeException {
        private static final long serialVersionUID = 1;
        private final float value;

        NotFiniteActivation(float value) {
            super("an activation is " + value);
            this.value = value;
        }

        float value() {
            return value;
        }
    }

    /** The largest magnitude of an activation. */
    private static final class Range {
        private final String name;
        private float most;

        Range(String name) {
            this.name = name;
        }

        void add(Tensor tensor) {
            if (tensor.dtype() != DType.FLOAT32) {
                throw new IllegalArgumentException(
                        "The activation '" + name + "' must be float32, but is " + tensor.spec());
            }
            for (float value : tensor.toFloatArray()) {
                if (!Float.isFinite(value)) {
                    throw new NotFiniteActivation(value);
                }
                most = Math.max(most, Math.abs(value));
            }
        }

        float most() {
            return most;
        }
    }
}
