package io.seriatim.executor;

import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trains models that were loaded from files. */
class LoadedTrainingTest {
    private static final int BATCH = 6;
    private static final double RATE = 0.05;

    @TempDir
    private Path folder = Path.of("");

    private static Tensor images() {
        Random random = new Random(3);
        float[] values = new float[BATCH * 2 * 8 * 8];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return Tensor.of(values, BATCH, 2, 8, 8);
    }

    private static Tensor labels() {
        return Tensor.of(new long[]{0, 1, 2, 2, 1, 0}, BATCH, 1);
    }

    /** A network with a loop's worth of layer kinds; returns the logits. */
    private static Value layers(Graph g, Value x, double dropout) {
        Value first = g.batchNorm(g.conv2d(x, 4, 3, 1, 1)).relu().maxPool2d(2, 2, 0);
        Value second = g.batchNorm(g.conv2d(first, 4, 3, 1, 1)).relu();
        Value rows = g.dropout(second.flatten(1), dropout);
        return g.linear(g.layerNorm(g.linear(rows, 5)), 3);
    }

    private static Outputs trained(Graph g, Value logits) {
        Value loss = g.softmaxCrossEntropy(logits, g.data("label", DType.INT64, -1, 1)).mean();
        g.minimize(loss, Sgd.of(RATE));
        return Outputs.of("loss", loss, "logits", logits);
    }

    private static float[] train(Executor executor, Network network, String input, int steps) {
        String loss = network.outputs().get("loss").name();
        float[] losses = new float[steps];
        for (int i = 0; i < steps; i++) {
            losses[i] = (float) executor.run(network.main(), Map.of(input, images(), "label", labels()), fetches(loss))
                    .scalar(loss);
        }
        return losses;
    }

    private static Executor started(Network network) {
        Executor executor = Executor.on(Place.CPU);
        network.values().forEach(executor.scope()::setCopy);
        executor.run(network.startup());
        return executor;
    }

    /** A training goes on with a saved model exactly as it would have gone on without. */
    @Test
    void goesOnWithTheNumbersOfTheOriginal() throws IOException {
        Network original = Network.define(5, g -> trained(g, layers(g, g.data("x", DType.FLOAT32, -1, 2, 8, 8), 0)));
        Path file = folder.resolve("model.pdmodel");
        String logits = original.outputs().get("logits").name();
        float[] expected;
        try (Executor executor = started(original)) {
            train(executor, original, "x", 3);
            InferenceModels.save(file, InferenceModels.of(original.main(), List.of("x"), List.of(logits),
                    executor.scope()::find));
            expected = train(executor, original, "x", 4);
        }
        try (InferenceModel model = InferenceModels.load(file)) {
            assertEquals(List.of(logits), model.fetches());
            Map<String, float[]> before = new LinkedHashMap<>();
            model.parameters().forEach((name, value) -> before.put(name, value.toFloatArray()));
            Network loaded = Network.from(model, g -> trained(g, g.var(logits)));
            assertEquals(original.main().parameters().stream().filter(desc -> !desc.stopsGradient())
                    .map(VarDesc::name).sorted().toList(),
                    loaded.main().parameters().stream().map(VarDesc::name).sorted().toList());
            try (Executor executor = started(loaded)) {
                assertArrayEquals(expected, train(executor, loaded, "x", 4));
                assertTrue(expected[3] < expected[0], "the loss falls");
                // Saved again, it is the model that was trained.
                InferenceModels.save(folder.resolve("tuned.pdmodel"),
                        InferenceModels.of(loaded.main(), model.feeds(), model.fetches(), executor.scope()::find));
            }
            before.forEach((name, values) -> assertArrayEquals(values,
                    Objects.requireNonNull(model.parameters().get(name)).toFloatArray(), name));
            try (InferenceModel tuned = InferenceModels.load(folder.resolve("tuned"))) {
                assertEquals(model.fetches(), tuned.fetches());
                assertEquals(model.parameters().keySet(), tuned.parameters().keySet());
                assertEquals(model.program().toString(), tuned.program().toString());
                for (String name : before.keySet()) {
                    assertFalse(Arrays.equals(before.get(name),
                            Objects.requireNonNull(tuned.parameters().get(name)).toFloatArray()), name);
                }
            }
        }
    }

    /** Saves a network as it is for inference, and loads it. */
    private InferenceModel exported(Network network, String input, Value output) throws IOException {
        Path file = folder.resolve("exported.pdmodel");
        try (Executor executor = started(network)) {
            InferenceModels.save(file, InferenceModels.of(network.main(), List.of(input), List.of(output.name()),
                    executor.scope()::find));
        }
        return InferenceModels.load(file);
    }

    /** Dropout and batch normalisation train again, and are as before in the form for inference. */
    @Test
    void trainsDropoutAndBatchNormalisationAgain() throws IOException {
        Network original = Network.define(5, g -> Outputs.of("logits",
                layers(g, g.data("x", DType.FLOAT32, -1, 2, 8, 8), 0.5)));
        try (InferenceModel model = exported(original, "x", original.outputs().get("logits"))) {
            String logits = model.fetches().getFirst();
            Network loaded = Network.from(9, model, g -> trained(g, g.var(logits)));
            List<OpDesc> forward = loaded.main().global().ops();
            for (String type : List.of("dropout", "batch_norm")) {
                assertTrue(forward.stream().filter(op -> op.type().equals(type))
                        .allMatch(op -> op.toString().contains("is_test=false")), type);
            }
            try (Executor executor = started(loaded)) {
                Tensor plain = executor.run(model.program(), Map.of("x", images()), fetches(logits)).get(logits);
                Tensor dropped = executor.run(loaded.main(), Map.of("x", images(), "label", labels()), fetches(logits))
                        .get(logits);
                assertFalse(Arrays.equals(plain.toFloatArray(), dropped.toFloatArray()), "something is dropped");
            }
            try (Executor executor = started(loaded)) {
                Tensor test = executor.run(loaded.main().copyForTest(), Map.of("x", images(), "label", labels()),
                        fetches(logits)).get(logits);
                Tensor plain = executor.run(model.program(), Map.of("x", images()), fetches(logits)).get(logits);
                assertArrayEquals(plain.toFloatArray(), test.toFloatArray());
            }
        }
    }

    /** New layers get other names than those of the model. */
    @Test
    void addsLayersToAModelWhoseOthersAreFrozen() throws IOException {
        Network original = Network.define(5, g -> Outputs.of("y",
                g.linear(g.data("x", DType.FLOAT32, -1, 2, 8, 8).flatten(1), 7).relu()));
        try (InferenceModel model = exported(original, "x", original.outputs().get("y"))) {
            List<String> old = List.copyOf(model.parameters().keySet());
            Network loaded = Network.from(model, g -> {
                Value logits = g.linear(g.var(model.fetches().getFirst()), 3);
                Value loss = g.softmaxCrossEntropy(logits, g.data("label", DType.INT64, -1, 1)).mean();
                List<Value> added = g.main().parameters().stream().map(VarDesc::name)
                        .filter(name -> !old.contains(name)).map(g::var).toList();
                g.minimize(loss, Adam.of(0.01), added, Set.of());
                return Outputs.of("loss", loss);
            });
            assertEquals(4, loaded.main().parameters().size());
            try (Executor executor = started(loaded)) {
                float[] losses = train(executor, loaded, "x", 20);
                assertTrue(losses[19] < 0.7 * losses[0], Arrays.toString(losses));
                for (String name : old) {
                    assertArrayEquals(Objects.requireNonNull(model.parameters().get(name)).toFloatArray(),
                            executor.scope().get(name).toFloatArray(), name);
                }
            }
        }
    }

    private static InferenceModel model(Program program, List<String> feeds, List<String> fetches,
            Map<String, Tensor> parameters) {
        parameters.forEach((name, value) -> program.global()
                .put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims())).persistent()));
        return new InferenceModel(program, feeds, fetches, parameters);
    }

    private static Program program(List<String> variables, OpDesc... ops) {
        Program program = new Program();
        variables.forEach(name -> program.global().put(VarDesc.of(name, VarType.dense(DType.FLOAT32, -1, 2))));
        for (OpDesc op : ops) {
            program.global().add(op);
        }
        return program;
    }

    private static OpDesc binary(String type, String x, String y, String out) {
        return OpDesc.of(type).in("X", x).in("Y", y).out("Out", out).attr("axis", -1).build();
    }

    private static OpDesc unary(String type, String x, String out) {
        return OpDesc.of(type).in("X", x).out("Out", out).build();
    }

    private static Network minimised(InferenceModel model, Function<Graph, Value> loss) {
        return Network.from(model, g -> {
            Value minimised = loss.apply(g);
            g.minimize(minimised, Sgd.of(1));
            return Outputs.of("loss", minimised);
        });
    }

    /** y = w·x, y = y², y = y·x: the gradient of the mean reads values that the program overwrites. */
    @Test
    void readsValuesThatAreOverwritten() {
        InferenceModel model = model(
                program(List.of("x", "y"), binary("elementwise_mul", "x", "w", "y"), unary("square", "y", "y"),
                        binary("elementwise_mul", "y", "x", "y")),
                List.of("x"), List.of("y"), Map.of("w", Tensor.of(new float[]{2, 3}, 2)));
        Network network = minimised(model, g -> g.var("y").sum());
        try (Executor executor = started(network)) {
            executor.run(network.main(), Map.of("x", Tensor.of(new float[]{1, -2}, 1, 2)), fetches());
            // d(w²·x³)/dw = 2·w·x³
            assertArrayEquals(new float[]{2 - 2 * 2, 3 - 2 * 3 * -8}, executor.scope().get("w").toFloatArray());
        }
        assertEquals(List.of("w"), List.copyOf(model.parameters().keySet()));
        assertArrayEquals(new float[]{2, 3}, Objects.requireNonNull(model.parameters().get("w")).toFloatArray());
    }

    /** Neither comparisons nor values that depend on shapes only are in the way. */
    @Test
    void namesAllOperationsWithoutGradient() {
        Program program = program(List.of("x", "a", "b", "c", "ones", "y", "z"),
                binary("elementwise_mul", "x", "w", "a"),
                OpDesc.of("nextafter").in("x", "a").in("y", "x").out("out", "b").build(),
                OpDesc.of("fake_dequantize_max_abs").in("X", "b").in("Scale", "scale").out("Out", "c")
                        .attr("max_range", 1f).build(),
                OpDesc.of("fill_any_like").in("X", "a").out("Out", "ones").attr("value", 1f).attr("dtype", -1).build(),
                binary("less_than", "a", "x", "less"),
                OpDesc.of("where").in("Condition", "less").in("X", "a").in("Y", "ones").out("Out", "y").build(),
                binary("elementwise_add", "c", "y", "z"));
        program.global().put(VarDesc.of("less", VarType.dense(DType.BOOL, -1, 2)));
        InferenceModel model = model(program, List.of("x"), List.of("z"),
                Map.of("w", Tensor.of(new float[]{2, 3}, 2), "scale", Tensor.of(new float[]{1}, 1)));
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> minimised(model, g -> g.var("z").sum()));
        assertTrue(String.valueOf(e.getMessage()).startsWith("The loss 'sum_0.tmp_0' cannot be minimised, since "
                + "operations between it and the parameters have no gradient: 'nextafter' (of 'b'), "
                + "'fake_dequantize_max_abs' (of 'c'). "), e.getMessage());
        Network network = minimised(model, g -> g.var("y").sum());
        try (Executor executor = started(network)) {
            executor.run(network.main(), Map.of("x", Tensor.of(new float[]{-1, 1}, 1, 2)), fetches());
            assertArrayEquals(new float[]{3, 3}, executor.scope().get("w").toFloatArray(), "of -2 < -1, not of 3 < 1");
        }
    }

    /** Files may store the zeros and ones of fresh statistics once for all operations. */
    @Test
    void separatesSharedStatistics() {
        OpDesc first = norm("x", "a");
        OpDesc second = norm("a", "y");
        Program program = program(List.of("x", "a", "y"), first, second);
        InferenceModel model = model(program, List.of("x"), List.of("y"), Map.of("zero", Tensor.of(new float[2], 2),
                "one", Tensor.of(new float[]{1, 1}, 2), "scale", Tensor.of(new float[]{2, 3}, 2), "shift",
                Tensor.of(new float[]{1, -1}, 2)));
        Network network = minimised(model, g -> g.var("y").square().mean());
        assertEquals(List.of("scale", "shift"),
                network.main().parameters().stream().map(VarDesc::name).sorted().toList());
        assertEquals(Set.of("zero", "zero_0", "one", "one_0", "scale", "shift"), network.values().keySet());
        try (Executor executor = started(network)) {
            executor.run(network.main(), Map.of("x", Tensor.of(new float[]{0, 1, 4, 5}, 2, 2)), fetches());
            assertArrayEquals(new float[]{0.2f, 0.3f}, executor.scope().get("zero").toFloatArray(), 1e-6f);
            assertArrayEquals(new float[]{0.1f, -0.1f}, executor.scope().get("zero_0").toFloatArray(), 1e-6f);
        }
    }

    private static OpDesc norm(String x, String y) {
        return OpDesc.of("batch_norm").in("X", x).in("Scale", "scale").in("Bias", "shift").in("Mean", "zero")
                .in("Variance", "one").out("Y", y).attr("is_test", true).attr("epsilon", 1e-5f).attr("momentum", 0.9f)
                .build();
    }
}
