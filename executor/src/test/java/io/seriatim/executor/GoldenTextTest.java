package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A tagger with a chain of tags and a reader of text in images are trained and decode as in PaddlePaddle.
 * tools/golden/executor/texts.py describes the entries.
 */
class GoldenTextTest {
    private static final int BATCHES = 2;
    private static final double TOLERANCE = 1e-4;
    private static final GoldenModels MODELS = GoldenModels.read("texts.npz");
    private static final List<String> NETWORKS = List.of("reader", "tagger");

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
                feeds.put(name.substring(0, name.length() - suffix.length()), tensor);
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

    /** What one step or a decoding gives. */
    @FunctionalInterface
    private interface Run {
        Tensor of(Program program, Map<String, Tensor> feeds, String fetch);
    }

    private static void compare(String network, Run run) {
        Program train = MODELS.program(network + "/train");
        String loss = MODELS.text(network + "/loss");
        double[] losses = MODELS.get(network + "/losses").toDoubleArray();
        assertTrue(losses[losses.length - BATCHES] < 0.8 * losses[0], "the loss falls");
        for (int step = 0; step < losses.length; step++) {
            double found = run.of(train, batch(network, step), loss).toDoubleArray()[0];
            assertEquals(losses[step], found, TOLERANCE * Math.max(1, losses[step]), "loss " + step);
        }
        Program decode = MODELS.program(network + "/decode");
        MODELS.under(network + "/decoded/").forEach((name, expected) -> GoldenModels.assertClose(expected,
                run.of(decode, batch(network, 0), name), 10 * TOLERANCE, name));
    }

    @Test
    void allAreThere() {
        assertEquals(NETWORKS, MODELS.names());
    }

    @ParameterizedTest(name = "{0}, threads {1}")
    @MethodSource("executors")
    void executorsTrainAndDecodeAsPaddleDoes(String network, int threads) {
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            variables(network).forEach(executor.scope()::set);
            compare(network,
                    (program, feeds, fetch) -> executor.run(program, feeds, Executor.fetches(fetch)).get(fetch));
        }
    }

    @ParameterizedTest
    @MethodSource("networks")
    void theInterpreterTrainsAndDecodesAsPaddleDoes(String network) {
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        variables(network).forEach(interpreter::set);
        compare(network, (program, feeds, fetch) -> Objects
                .requireNonNull(interpreter.run(program, feeds, List.of(fetch)).get(fetch)));
    }
}
