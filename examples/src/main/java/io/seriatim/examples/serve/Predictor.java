package io.seriatim.examples.serve;

import static io.seriatim.tensor.DType.FLOAT32;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Results;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A loaded model. It has one plan and one set of parameters. Because the program writes no variables that outlive a
 * run, any number of threads can run the plan at the same time, each with its own memory.
 */
final class Predictor implements AutoCloseable {
    private static final int WARM_UP_RUNS = 50;

    private final InferenceModel model;
    private final Executor executor;
    private final Plan plan;
    private final String input;
    private final long[] example;
    private final int mostExamples;

    /**
     * One result of a run.
     *
     * @param shape
     *            [examples, …]
     * @param values
     *            in row-major order
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Output(long[] shape, float[] values) {
    }

    private Predictor(InferenceModel model, int mostExamples) {
        this.model = model;
        this.mostExamples = mostExamples;
        this.input = model.feeds().getFirst();
        this.example = exampleShape(model);
        // The plan is compiled and cached for each number of examples.
        this.executor = Executor.builder().place(Place.CPU).specialisations(mostExamples).build();
        model.parameters().forEach(executor.scope()::set);
        this.plan = executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches()));
    }

    /**
     * Loads a model that {@link InferenceModels#save} or PaddlePaddle's {@code save_inference_model} wrote, and runs it
     * a few times, so that the first requests do not wait for compilation.
     */
    static Predictor load(Path path, int mostExamples) throws IOException {
        InferenceModel model = InferenceModels.load(path);
        Predictor predictor = new Predictor(model, mostExamples);
        for (int run = 0; run < WARM_UP_RUNS; run++) {
            int examples = run % 2 == 0 ? 1 : mostExamples;
            predictor.run(new float[examples * predictor.numbersPerExample()], examples);
        }
        return predictor;
    }

    private static long[] exampleShape(InferenceModel model) {
        VarType.TensorType type = model.program().global().get(model.feeds().getFirst()).type().tensorType();
        long[] shape = type == null ? new long[0] : type.shape();
        boolean fits = model.feeds().size() == 1 && type != null && type.dtype() == FLOAT32 && shape.length > 1
                && shape[0] < 0
                && Arrays.stream(shape).skip(1).allMatch(dim -> dim > 0);
        if (!fits) {
            throw new IllegalArgumentException(
                    "This server is for models with one input of float32 [-1, …], but the inputs are "
                            + model.feeds().stream().map(model.program().global()::get).toList());
        }
        return Arrays.copyOfRange(shape, 1, shape.length);
    }

    int numbersPerExample() {
        return Math.toIntExact(Arrays.stream(example).reduce(1, Math::multiplyExact));
    }

    String description() {
        return input + ": float32 " + Arrays.toString(example) + ", up to " + mostExamples + " examples";
    }

    /** Validates the input and computes a prediction. */
    Map<String, Output> predict(List<float[]> examples) throws RefusedException {
        if (examples.isEmpty() || examples.size() > mostExamples) {
            throw new RefusedException(400,
                    "a request has 1 to " + mostExamples + " examples, but this one has " + examples.size());
        }
        float[] values = new float[examples.size() * numbersPerExample()];
        for (int i = 0; i < examples.size(); i++) {
            float[] one = examples.get(i);
            if (one.length != numbersPerExample()) {
                throw new RefusedException(400,
                        "an example has " + numbersPerExample() + " numbers, of shape " + Arrays.toString(example)
                                + ", but number " + i + " has " + one.length);
            }
            System.arraycopy(one, 0, values, i * one.length, one.length);
        }
        return run(values, examples.size());
    }

    private Map<String, Output> run(float[] values, int examples) {
        long[] shape = new long[example.length + 1];
        shape[0] = examples;
        System.arraycopy(example, 0, shape, 1, example.length);
        Map<String, Output> outputs = new LinkedHashMap<>();
        // Close frees the memory at once; otherwise the garbage collector would free it later.
        try (Tensor x = Tensor.of(values, shape)) {
            Results results = plan.run(x);
            results.all().forEach((name, tensor) -> {
                try (tensor) {
                    outputs.put(name, new Output(tensor.shape().dims(), tensor.toFloatArray()));
                }
            });
        }
        return outputs;
    }

    /** Frees the memory. No prediction may be running. */
    @Override
    public void close() {
        executor.close();
        model.close();
    }
}
