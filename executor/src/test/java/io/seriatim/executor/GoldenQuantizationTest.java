package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A network that PaddlePaddle has prepared for quantisation-aware training is trained, tested and frozen with the same
 * results as there. tools/golden/executor/quantised.py describes the entries.
 */
class GoldenQuantizationTest {
    private static final int BATCHES = 3;
    private static final double TOLERANCE = 1e-4;
    private static final GoldenModels MODELS = GoldenModels.read("quantised.npz");
    private static final List<String> NETWORKS = List.of("averages", "linear", "windows");

    static Stream<Arguments> executors() {
        return NETWORKS.stream().flatMap(name -> Stream.of(1, 3).map(threads -> Arguments.of(name, threads)));
    }

    static List<String> networks() {
        return NETWORKS;
    }

    private static Map<String, Tensor> batch(int step) {
        Map<String, Tensor> feeds = new LinkedHashMap<>();
        for (String feed : List.of("image", "label")) {
            feeds.put(feed, MODELS.get(feed + "/" + step % BATCHES));
        }
        return feeds;
    }

    /** Copies, since runs change variables in place. */
    private static Map<String, Tensor> variables(String prefix) {
        Map<String, Tensor> copies = MODELS.under(prefix);
        copies.replaceAll((_, tensor) -> {
            Tensor copy = Tensor.allocate(tensor.dtype(), tensor.shape().dims());
            copy.memory().copyFrom(tensor.memory());
            return copy;
        });
        return copies;
    }

    private static void assertNear(String entry, Tensor found) {
        GoldenModels.assertClose(MODELS.get(entry), found, TOLERANCE, entry);
    }

    @Test
    void allAreThere() {
        assertEquals(Stream.concat(NETWORKS.stream(), Stream.of("image", "label")).sorted().toList(), MODELS.names());
    }

    /** The variables are those of the last step when the programs for tests and the frozen ones run. */
    @ParameterizedTest(name = "{0}, threads {1}")
    @MethodSource("executors")
    void executorsComputeWhatPaddleDoes(String network, int threads) {
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Scope scope = executor.scope();
            variables(network + "/before/").forEach(scope::set);
            Program train = MODELS.program(network + "/train");
            String loss = MODELS.text(network + "/loss");
            Tensor losses = MODELS.get(network + "/losses");
            for (int step = 0; step < losses.shape().size(); step++) {
                double found = executor.run(train, batch(step), Executor.fetches(loss)).scalar(loss);
                assertEquals(losses.getDouble(step), found, TOLERANCE * losses.getDouble(step), "loss " + step);
            }
            MODELS.under(network + "/scales/")
                    .forEach((name, _) -> assertNear(network + "/scales/" + name, scope.get(name)));
            String out = MODELS.text(network + "/out");
            assertNear(network + "/tested", run(executor, MODELS.program(network + "/test"), out));
            variables(network + "/after/").forEach(scope::set);
            assertNear(network + "/inferred", run(executor, MODELS.program(network + "/frozen"), out));
        }
    }

    private static Tensor run(Executor executor, Program program, String fetch) {
        return executor.run(program, batch(0), Executor.fetches(fetch)).get(fetch);
    }

    @ParameterizedTest
    @MethodSource("networks")
    void theInterpreterComputesWhatPaddleDoes(String network) {
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        variables(network + "/before/").forEach(interpreter::set);
        Program train = MODELS.program(network + "/train");
        String loss = MODELS.text(network + "/loss");
        Tensor losses = MODELS.get(network + "/losses");
        for (int step = 0; step < losses.shape().size(); step++) {
            double found = run(interpreter, train, step, loss).toDoubleArray()[0];
            assertEquals(losses.getDouble(step), found, TOLERANCE * losses.getDouble(step), "loss " + step);
        }
        MODELS.under(network + "/scales/")
                .forEach((name, _) -> assertNear(network + "/scales/" + name, interpreter.get(name)));
        String out = MODELS.text(network + "/out");
        assertNear(network + "/tested", run(interpreter, MODELS.program(network + "/test"), 0, out));
        variables(network + "/after/").forEach(interpreter::set);
        assertNear(network + "/inferred", run(interpreter, MODELS.program(network + "/frozen"), 0, out));
    }

    private static Tensor run(Interpreter interpreter, Program program, int step, String fetch) {
        return Objects.requireNonNull(interpreter.run(program, batch(step), List.of(fetch)).get(fetch));
    }

    /** A product of bytes, whose sums are exact, is the same in any plan. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void plansMultiplyBytesExactly(int threads) {
        Tensor x = GoldenFormula.batch("x", 0, 300, 200);
        Tensor w = Tensor.of(DType.INT8, GoldenFormula.batch("w", 127, 200, 120).toLongArray(), 200, 120);
        float[] scales = new float[120];
        Arrays.fill(scales, 0.25f);
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, -1, 200)))
                .put(VarDesc.of("w", VarType.dense(DType.INT8, 200, 120)))
                .put(VarDesc.of("y", VarType.dense(DType.FLOAT32, -1, 120)))
                .add(OpDesc.of("quant_linear").in("x", "x").in("w", "w").out("out", "y").attr("scale_in", 0.75f)
                        .attr("scale_weights", scales).attr("activation_type", "relu").build());
        Map<String, Tensor> feeds = Map.of("x", x, "w", w);
        Tensor expected = Objects
                .requireNonNull(Interpreter.of(Kernels.portable()).run(program, feeds, List.of("y")).get("y"));
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            GoldenModels.assertSame(Map.of("y", expected),
                    Map.of("y", executor.run(program, feeds, Executor.fetches("y")).get("y")), "product of bytes");
        }
    }
}
