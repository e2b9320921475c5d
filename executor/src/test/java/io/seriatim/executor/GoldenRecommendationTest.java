package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Wide and deep networks with embeddings are trained to the same losses, parameters and probabilities as in
 * PaddlePaddle. tools/golden/executor/recommendation.py describes the entries.
 */
class GoldenRecommendationTest {
    private static final int BATCHES = 2;
    private static final double TOLERANCE = 1e-4;
    private static final GoldenModels MODELS = GoldenModels.read("recommendation.npz");
    private static final List<String> NETWORKS = List.of("segments", "sequences");

    static Stream<Arguments> executors() {
        return NETWORKS.stream().flatMap(name -> Stream.of(1, 3).map(threads -> Arguments.of(name, threads)));
    }

    static List<String> networks() {
        return NETWORKS;
    }

    private static Map<String, Tensor> batch(String network, int step) {
        String suffix = "/" + step % BATCHES;
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        MODELS.under(network + "/feed/").forEach((name, tensor) -> {
            if (name.endsWith(suffix)) {
                String offsets = network + "/lod/" + name;
                feeds.put(name.substring(0, name.length() - suffix.length()),
                        MODELS.has(offsets) ? tensor.withLod(Lod.of(MODELS.get(offsets))) : tensor);
            }
        });
        return feeds;
    }

    /** Copies, since runs change variables in place. */
    private static Map<String, Tensor> variables(String network) {
        Map<String, Tensor> copies = MODELS.under(network + "/before/");
        copies.replaceAll((_, tensor) -> {
            Tensor copy = Tensor.allocate(tensor.dtype(), tensor.shape().dims());
            copy.memory().copyFrom(tensor.memory());
            return copy;
        });
        return copies;
    }

    /** Runs a step; the results are those of the names. */
    @FunctionalInterface
    private interface Run {
        List<Tensor> of(Program program, Map<String, Tensor> feeds, List<String> names);
    }

    private static void compare(String network, Run run, Function<String, Tensor> variable) {
        Program main = MODELS.program(network + "/main");
        List<String> fetches = MODELS.text(network + "/fetch").lines().toList();
        double[] losses = MODELS.get(network + "/losses").toDoubleArray();
        assertTrue(losses[losses.length - BATCHES] < 0.8 * losses[0], "the loss falls");
        for (int step = 0; step < losses.length; step++) {
            List<Tensor> found = run.of(main, batch(network, step), fetches);
            assertEquals(losses[step], found.get(0).toDoubleArray()[0], TOLERANCE * Math.max(1, losses[step]),
                    "loss " + step);
            if (step == losses.length - 1) {
                GoldenModels.assertClose(MODELS.get(network + "/probability"), found.get(1), TOLERANCE, "probability");
            }
        }
        MODELS.under(network + "/after/").forEach((name, expected) -> GoldenModels.assertClose(expected,
                variable.apply(name), 10 * TOLERANCE, name));
    }

    @Test
    void allAreThere() {
        assertEquals(NETWORKS, MODELS.names());
    }

    @ParameterizedTest(name = "{0}, threads {1}")
    @MethodSource("executors")
    void executorsTrainAsPaddleDoes(String network, int threads) {
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            variables(network).forEach(executor.scope()::set);
            compare(network, (program, feeds, names) -> {
                var results = executor.run(program, feeds, Executor.fetches(names.toArray(String[]::new)));
                return names.stream().map(results::get).toList();
            }, executor.scope()::get);
        }
    }

    @ParameterizedTest
    @MethodSource("networks")
    void theInterpreterTrainsAsPaddleDoes(String network) {
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        variables(network).forEach(interpreter::set);
        compare(network, (program, feeds, names) -> {
            Map<String, Tensor> results = interpreter.run(program, feeds, names);
            return names.stream().map(name -> Objects.requireNonNull(results.get(name))).toList();
        }, interpreter::get);
    }
}
