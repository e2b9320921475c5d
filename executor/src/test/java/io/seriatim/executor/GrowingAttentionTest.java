package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attention of one position over caches that grow in a loop, against the interpreter. */
@Timeout(120)
class GrowingAttentionTest {
    private static final int PROGRAMS = Boolean.getBoolean("seriatim.full") ? 300 : 24;
    private static final float BOUND = 2e-5f;
    private static final long SEED = 20261128;
    private static final float[] SPECIAL = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -0f, 1e30f};

    /**
     * Attention whose keys are kept in rows or in columns, with scores that are scaled and masked in several ways, of
     * what is computed, or of a value that is read again elsewhere.
     */
    private record Form(int scale, int mask, boolean columns, boolean isReadAgain, boolean isTransposed) {
        static Form of(Random random) {
            return new Form(random.nextInt(4), random.nextInt(5), random.nextInt(3) == 0, random.nextInt(4) == 0,
                    random.nextInt(3) == 0);
        }
    }

    private static Network network(Form form, int batch, int heads, int width) {
        boolean columns = form.columns;
        return Network.define(3, g -> {
            Value keys = g.data("keys", FLOAT32, batch, heads, -1, width);
            Value state = g.data("state", FLOAT32, batch, heads, 1, width);
            Value n = g.data("n", INT64, 1);
            Value first = columns ? keys.transpose(0, 1, 3, 2) : keys.times(1);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                Value row = v.get(3).times(0.5);
                Value k = columns
                        ? g.concat(3, v.get(1), row.transpose(0, 1, 3, 2))
                        : g.concat(2, v.get(1), row);
                Value values = g.concat(2, v.get(2), v.get(3).tanh());
                Value query = g.linear(v.get(3), width);
                Value scores = form.isTransposed && !columns
                        ? query.matmul(k, false, true)
                        : query.matmul(columns ? k : k.transpose(0, 1, 3, 2));
                scores = scaled(g, scores, form.scale, heads);
                scores = masked(values, scores, form.mask);
                Value weights = scores.softmax(-1);
                Value next = weights.matmul(values);
                if (form.isReadAgain) {
                    next = next.plus(weights.max(3).unsqueeze(3));
                }
                return List.of(v.getFirst().plus(1), k, values, next.plus(v.get(3)).tanh());
            }, g.full(INT64, 0, 1), first, keys.times(2), state.times(1));
            return Outputs.of("keys", end.get(1), "values", end.get(2), "state", end.get(3));
        });
    }

    private static Value scaled(Graph g, Value scores, int scale, int heads) {
        return switch (scale) {
            case 0 -> scores.times(g.full(FLOAT32, 0.25, 1));
            case 1 -> g.full(FLOAT32, 0.5, 1, heads, 1, 1).times(scores.times(g.full(FLOAT32, 0.5, 1)));
            case 2 -> scores.dividedBy(g.full(FLOAT32, 3, 1));
            default -> scores;
        };
    }

    /** Numbers that depend on what has been computed, for each length. */
    private static Value masked(Value values, Value scores, int mask) {
        return switch (mask) {
            case 0 -> scores.plus(values.sum(3).unsqueeze(2));
            case 1 -> scores.minus(values.sum(3).unsqueeze(2));
            case 2 -> values.sum(0, 1, 3).plus(scores);
            // Minus infinity for about half of the positions, sometimes for all of them.
            case 3 -> scores.plus(values.sum(3).unsqueeze(2).greaterThan(0.1).cast(FLOAT32).log());
            default -> scores;
        };
    }

    private static Interpreter interpreter(Network network) {
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        return interpreter;
    }

    @Test
    void randomAttentionEqualsTheInterpreter() {
        for (int i = 0; i < PROGRAMS; i++) {
            long seed = SEED + i;
            Random random = new Random(seed);
            int batch = 1 + random.nextInt(3);
            int heads = 1 + random.nextInt(3);
            int width = List.of(1, 3, 8, 16, 50).get(random.nextInt(5));
            Network network = network(Form.of(random), batch, heads, width);
            List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
            Interpreter interpreter = interpreter(network);
            try (Executor executor = Executor.builder().threads(1 + random.nextInt(2)).build()) {
                executor.run(network.startup());
                Plan plan = executor.compile(network.main(), feeds("keys", "state", "n"),
                        fetches(names.toArray(String[]::new)));
                for (int run = 0; run < 5; run++) {
                    Tensor keys = Bits.normal(run, batch, heads, 1 + random.nextInt(60), width);
                    Tensor state = Bits.normal(run + 5, batch, heads, 1, width);
                    if (run > 2) {
                        float[] numbers = state.toFloatArray();
                        numbers[random.nextInt(numbers.length)] = SPECIAL[random.nextInt(SPECIAL.length)];
                        state = Tensor.of(numbers, batch, heads, 1, width);
                    }
                    Tensor n = Bits.longs(3 + random.nextInt(9));
                    Map<String, Tensor> expected = interpreter.run(network.main(),
                            Map.of("keys", keys, "state", state, "n", n), names);
                    Results results = plan.run(keys, state, n);
                    for (int k = 0; k < names.size(); k++) {
                        assertArrayEquals(Objects.requireNonNull(expected.get(names.get(k))).toFloatArray(),
                                results.get(names.get(k)).toFloatArray(),
                                BOUND, "seed " + seed + ", run " + run + ", result " + k);
                    }
                }
            }
        }
    }

    /** Scores that are not finite are found, though the weights are. */
    @Test
    void scoresAreChecked() {
        Network network = network(new Form(3, 3, false, false, false), 1, 1, 4);
        String name = network.outputs().values().values().iterator().next().name();
        try (Executor executor = Executor.builder().threads(1).nanCheck().build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("keys", "state", "n"), fetches(name));
            Tensor state = Tensor.of(new float[]{1, 1, 1, 1}, 1, 1, 1, 4);
            Tensor positive = Tensor.of(new float[]{1, 1, 1, 1, 1, 1, 1, 1}, 1, 1, 2, 4);
            plan.run(positive, state, Bits.longs(1));
            Tensor mixed = Tensor.of(new float[]{1, 1, 1, 1, -1, -1, -1, -1}, 1, 1, 2, 4);
            for (long n = 2; n < 6; n++) {
                long steps = n;
                assertThrows(RuntimeException.class, () -> plan.run(mixed, state, Bits.longs(steps)));
            }
        }
    }

    /** The cache before an iteration is not freed while another variable has it, or a view of it. */
    @Test
    void cachesBeforeIterationsMayBeOtherVariables() {
        List<String> names = new ArrayList<>();
        Network network = Network.define(3, g -> {
            Value keys = g.data("keys", FLOAT32, 2, -1, 4);
            Value n = g.data("n", INT64, 1);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                Value k = v.get(1);
                Value row = k.sum(1).unsqueeze(1).tanh();
                return List.of(v.getFirst().plus(1), g.concat(1, k, row), k, k.reshape(2, -1, 2), v.get(3),
                        k.slice(1, 0, 1), v.get(5).plus(v.get(2).sum(1).unsqueeze(1)));
            }, g.full(INT64, 0, 1), keys.times(1), keys.times(2), keys.reshape(2, -1, 2), keys.reshape(2, -1, 2),
                    keys.slice(1, 0, 1), keys.slice(1, 0, 1));
            names.addAll(end.stream().skip(1).map(Value::name).toList());
            return Outputs.of("keys", end.get(1));
        });
        Interpreter interpreter = interpreter(network);
        for (int threads = 1; threads <= 2; threads++) {
            try (Executor executor = Executor.builder().threads(threads).build()) {
                executor.run(network.startup());
                Plan plan = executor.compile(network.main(), feeds("keys", "n"),
                        fetches(names.toArray(String[]::new)));
                for (int run = 0; run < 12; run++) {
                    Tensor keys = Bits.normal(run, 2, 1 + run % 3, 4);
                    Tensor n = Bits.longs(run);
                    Map<String, Tensor> expected = interpreter.run(network.main(), Map.of("keys", keys, "n", n),
                            names);
                    Results results = plan.run(keys, n);
                    for (String name : names) {
                        assertArrayEquals(Objects.requireNonNull(expected.get(name)).toFloatArray(),
                                results.get(name).toFloatArray(), BOUND, "run " + run + ", result " + name);
                    }
                }
            }
        }
    }

    /** Lengths that come again and again need no plans of their own. */
    @Test
    void onePlanServesLengthsThatComeOften() {
        for (int scale = 0; scale < 4; scale++) {
            onePlanServesLengthsThatComeOften(new Form(scale, 3 - scale, false, false, scale == 3));
            onePlanServesLengthsThatComeOften(new Form(scale, scale, scale % 2 == 0, false, false));
        }
    }

    private static void onePlanServesLengthsThatComeOften(Form form) {
        Network network = network(form, 1, 2, 8);
        List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("keys", "state", "n"),
                    fetches(names.toArray(String[]::new)));
            Tensor keys = Bits.normal(1, 1, 2, 2, 8);
            Tensor state = Bits.normal(2, 1, 2, 1, 8);
            for (int run = 0; run < 3; run++) {
                plan.run(keys, state, Bits.longs(9));
            }
            long before = plan.bindings(1).bound();
            for (int run = 0; run < 90; run++) {
                plan.run(keys, state, Bits.longs(9));
            }
            assertEquals(before, plan.bindings(1).bound(), form::toString);
        }
    }
}
