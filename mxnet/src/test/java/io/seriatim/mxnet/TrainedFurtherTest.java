package io.seriatim.mxnet;

import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Results;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The gradients of models that MXNet saved: the derivative along the gradient is its length. */
class TrainedFurtherTest {
    private static final double STEP = 1e-2;
    private static final double TOLERANCE = 2e-2;
    /** Parameters stay as they are. */
    private static final double RATE = 1e-30;

    @TempDir
    static Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {"attention", "dense", "double", "fused-lstm", "module-lenet", "module-lenet-0.8", "residual",
                    "unrolled-gru", "unrolled-lstm", "unrolled-stack", "words-both-gru", "words-gru", "words-lstm",
                    "words-tied"})
    void gradientsAreDerivatives(String name) throws IOException {
        Path saved = GoldenZip.unpacked(folder).resolve(name);
        try (InferenceModel model = InferenceModels.load(saved.resolve("net-symbol.json"))) {
            Network network = Network.from(model, g -> {
                Value error = g.var(model.fetches().getFirst()).square().mean();
                g.minimize(error, Sgd.of(RATE));
                return Outputs.of("loss", error);
            });
            Map<String, Tensor> fed = new LinkedHashMap<>();
            for (String feed : model.feeds()) {
                fed.put(feed, Npy.read(saved.resolve("in." + feed + ".npy")));
            }
            check(network, fed);
        }
    }

    private static void check(Network network, Map<String, Tensor> fed) {
        String loss = network.outputs().get("loss").name();
        List<String> parameters = network.main().parameters().stream().filter(each -> !each.stopsGradient())
                .map(VarDesc::name).toList();
        assertFalse(parameters.isEmpty());
        List<String> gradients = parameters.stream().map(each -> each + VarDesc.GRADIENT_SUFFIX).toList();
        Map<String, double[]> slopes = new HashMap<>();
        double square = 0;
        try (Executor executor = started(network)) {
            Results found = executor.run(network.main(), fed, fetches(gradients.toArray(String[]::new)));
            for (String parameter : parameters) {
                double[] slope = found.get(parameter + VarDesc.GRADIENT_SUFFIX).toDoubleArray();
                slopes.put(parameter, slope);
                for (double each : slope) {
                    square += each * each;
                }
            }
        }
        double length = Math.sqrt(square);
        assertTrue(length > 1e-6, "a gradient of " + length);
        double[] losses = new double[2];
        for (int side = 0; side < 2; side++) {
            try (Executor executor = started(network)) {
                double by = (side == 0 ? -STEP : STEP) / length;
                slopes.forEach((parameter, slope) -> {
                    Tensor value = executor.scope().get(parameter);
                    double[] moved = value.toDoubleArray();
                    for (int i = 0; i < moved.length; i++) {
                        moved[i] += by * slope[i];
                    }
                    executor.scope().setCopy(parameter, Tensor.of(value.dtype(), moved, value.shape().dims()));
                });
                losses[side] = executor.run(network.main(), fed, fetches(loss)).scalar(loss);
            }
        }
        assertEquals(length, (losses[1] - losses[0]) / (2 * STEP), TOLERANCE * length);
    }

    private static Executor started(Network network) {
        Executor executor = Executor.builder().build();
        network.values().forEach(executor.scope()::setCopy);
        executor.run(network.startup());
        return executor;
    }
}
