package io.seriatim.onnx.operators;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Results;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Recurrent layers as loops, or as the steps of short ones, beside the operation for whole layers, which takes their
 * usual forms.
 */
class RecurrentLoopTest {
    private static final int CASES = Boolean.getBoolean("seriatim.full") ? 600 : 40;
    private static final int STEPS = 4;
    private static final int BATCH = 3;
    private static final int FEATURES = 2;
    private static final int SIZE = 3;

    @ParameterizedTest
    @CsvSource({"LSTM, forward, false, 6", "LSTM, reverse, false, 3", "LSTM, bidirectional, true, 6",
            "LSTM, bidirectional, true, 4", "GRU, forward, true, 6", "GRU, forward, true, 4",
            "GRU, bidirectional, false, 2", "RNN, reverse, false, 6", "LSTM, reverse, true, 6", "GRU, reverse, true, 3",
            "RNN, reverse, true, 6", "RNN, bidirectional, true, 4"})
    void loopComputesWhatTheOperationComputes(String mode, String direction, boolean lengths, int steps) {
        long gates = gates(mode);
        int directions = direction.equals("bidirectional") ? 2 : 1;
        SplittableRandom random = new SplittableRandom(mode.hashCode() * 31L + direction.hashCode());
        @Nullable
        Tensor[] operands = {random(random, steps, BATCH, FEATURES),
                random(random, directions, gates * SIZE, FEATURES), random(random, directions, gates * SIZE, SIZE),
                random(random, directions, 2 * gates * SIZE),
                lengths ? Tensor.of(DType.INT32, new long[]{steps, 1, 2}, BATCH) : null,
                random(random, directions, BATCH, SIZE)};
        int results = mode.equals("LSTM") ? 3 : 2;
        List<Tensor> whole = layer(mode, direction).runAll(results, operands);
        // A bound that no operand reaches changes no value, but the operation has none.
        List<Tensor> loop = layer(mode, direction).real("clip", 1e30).runAll(results, operands);
        for (int i = 0; i < results; i++) {
            assertArrayEquals(whole.get(i).toFloatArray(), loop.get(i).toFloatArray(), 1e-6f, "result " + i);
        }
    }

    /** Peepholes, and resets before the product: random layers of all directions, lengths and layouts. */
    @ParameterizedTest
    @ValueSource(strings = {"LSTM", "GRU"})
    void peepholesAndEarlyResets(String mode) {
        for (int seed = 0; seed < CASES; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            String direction = List.of("forward", "reverse", "bidirectional").get(random.nextInt(3));
            int directions = direction.equals("bidirectional") ? 2 : 1;
            boolean batchFirst = random.nextBoolean();
            int steps = random.nextInt(1, 9);
            int batch = random.nextInt(1, 5);
            int features = random.nextInt(1, 5);
            int size = random.nextInt(1, 40);
            long gates = gates(mode);
            long[] lengths = random.longs(batch, 1, steps + 1).toArray();
            long[] state = batchFirst ? new long[]{batch, directions, size} : new long[]{directions, batch, size};
            @Nullable
            Tensor[] operands = {batchFirst
                    ? random(random, batch, steps, features)
                    : random(random, steps, batch, features), random(random, directions, gates * size, features),
                    random(random, directions, gates * size, size),
                    random.nextBoolean() ? random(random, directions, 2 * gates * size) : null,
                    random.nextBoolean() ? Tensor.of(DType.INT32, lengths, batch) : null,
                    random.nextBoolean() ? random(random, state) : null,
                    mode.equals("LSTM") && random.nextBoolean() ? random(random, state) : null,
                    mode.equals("LSTM") ? random(random, directions, 3L * size) : null};
            Supplier<OneOperator> layer = () -> OneOperator.of(RecurrentOperators::register, mode, 14)
                    .integer("hidden_size", size).text("direction", direction).integer("layout", batchFirst ? 1 : 0);
            List<String> types = layer.get().types(operands);
            assertTrue(types.contains("rnn") && !types.contains("while"), types.toString());
            int results = mode.equals("LSTM") ? 3 : 2;
            List<Tensor> whole = layer.get().runAll(results, operands);
            List<Tensor> loop = layer.get().real("clip", 1e30).runAll(results, operands);
            for (int i = 0; i < results; i++) {
                assertArrayEquals(loop.get(i).toFloatArray(), whole.get(i).toFloatArray(), 4e-6f,
                        "seed " + seed + ", result " + i);
            }
        }
    }

    /** A layer learns as the steps of a short one do; a plan packs its weights again when training has changed them. */
    @ParameterizedTest
    @CsvSource({"LSTM, 1, 5", "LSTM, 3, 40", "GRU, 1, 5", "GRU, 3, 40"})
    void peepholesAndEarlyResetsLearn(String mode, int batch, int size) {
        SplittableRandom random = new SplittableRandom(7);
        long gates = gates(mode);
        Tensor x = random(random, 5, batch, FEATURES);
        @Nullable
        Tensor[] operands = {x, random(random, 2, gates * size, FEATURES), random(random, 2, gates * size, size),
                random(random, 2, 2 * gates * size), null, random(random, 2, batch, size), null,
                mode.equals("LSTM") ? random(random, 2, 3L * size) : null};
        List<List<float[]>> both = new ArrayList<>();
        for (boolean loop : new boolean[]{false, true}) {
            OneOperator layer = OneOperator.of(RecurrentOperators::register, mode, 14).integer("hidden_size", size)
                    .text("direction", "bidirectional");
            if (loop) {
                layer.real("clip", 1e30);
            }
            try (InferenceModel model = layer.withParameters(2, operands)) {
                both.add(learnt(model, x));
            }
        }
        for (int i = 0; i < both.getFirst().size(); i++) {
            assertArrayEquals(both.getLast().get(i), both.getFirst().get(i), 2e-4f, "number " + i);
        }
    }

    /** The results of a model in two runs, those of its training, its parameters, and its results with them. */
    private static List<float[]> learnt(InferenceModel model, Tensor x) {
        List<float[]> all = new ArrayList<>();
        Network network = Network.from(model, g -> {
            Value loss = g.var("y0").square().mean().plus(g.var("y1").square().mean());
            g.minimize(loss, Sgd.of(1));
            return Outputs.of("loss", loss);
        });
        try (Executor executor = Executor.builder().threads(1).build()) {
            network.values().forEach(executor.scope()::setCopy);
            executor.run(network.startup());
            String feed = model.feeds().getFirst();
            Fetches fetches = new Fetches(List.of("y0", "y1"));
            Plan plan = executor.compile(model.program(), Executor.feeds(feed), fetches);
            for (int round = 0; round < 3; round++) {
                for (int run = 0; run < 2; run++) {
                    Results results = plan.run(x);
                    all.add(results.get("y0").toFloatArray());
                    all.add(results.get("y1").toFloatArray());
                }
                String loss = Objects.requireNonNull(network.outputNames().get("loss"));
                all.add(executor.run(network.main(), Map.of(feed, x), new Fetches(List.of(loss))).get(loss)
                        .toFloatArray());
            }
            for (String name : new TreeSet<>(model.parameters().keySet())) {
                all.add(Objects.requireNonNull(executor.scope().get(name)).toFloatArray());
            }
        }
        assertTrue(all.get(4)[0] > all.get(all.size() - 1 - model.parameters().size())[0], "the loss falls");
        return all;
    }

    /** Loops over steps are slow; sequences from their ends are the operation's too. */
    @ParameterizedTest
    @ValueSource(strings = {"LSTM", "GRU", "RNN"})
    void reverseOnesAreOneOperation(String mode) {
        SplittableRandom random = new SplittableRandom(2);
        long gates = gates(mode);
        List<String> types = layer(mode, "reverse").types(random(random, 6, BATCH, FEATURES),
                random(random, 1, gates * SIZE, FEATURES), random(random, 1, gates * SIZE, SIZE), null,
                Tensor.of(DType.INT32, new long[]{6, 0, 2}, BATCH));
        assertTrue(types.contains("rnn") && !types.contains("while") && !types.contains("flip"), types.toString());
    }

    @ParameterizedTest
    @CsvSource({"Sine, there is no activation 'sine'", "Tanh, has 2 activations for each direction"})
    void wrongActivationsAreRefused(String activation, String rule) {
        OneOperator layer = OneOperator.of(RecurrentOperators::register, "GRU", 14).integer("hidden_size", SIZE);
        if (activation.equals("Sine")) {
            layer.texts("activations", "Sigmoid", activation);
        } else {
            layer.texts("activations", activation);
        }
        SplittableRandom random = new SplittableRandom(1);
        String message = assertThrows(IllegalArgumentException.class,
                () -> layer.run(random(random, STEPS, BATCH, FEATURES), random(random, 1, 3 * SIZE, FEATURES),
                        random(random, 1, 3 * SIZE, SIZE)))
                .getMessage();
        assertTrue(message != null && message.contains(rule), message);
    }

    private static OneOperator layer(String mode, String direction) {
        return OneOperator.of(RecurrentOperators::register, mode, 14).integer("hidden_size", SIZE)
                .text("direction", direction).integer("linear_before_reset", 1);
    }

    private static int gates(String mode) {
        return switch (mode) {
            case "LSTM" -> 4;
            case "GRU" -> 3;
            default -> 1;
        };
    }

    private static Tensor random(SplittableRandom random, long... dims) {
        int count = 1;
        for (long dim : dims) {
            count *= Math.toIntExact(dim);
        }
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextDouble(-1, 1);
        }
        return Tensor.of(values, dims);
    }
}
