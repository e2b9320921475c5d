package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.BinaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Loops that pass on values which grow or shrink: one plan of the body serves all their sizes, with the interpreter's
 * results.
 */
@Timeout(120)
class GrowingLoopsTest {
    private static final int WIDTH = 6;
    private static final int PROGRAMS = Boolean.getBoolean("seriatim.full") ? 200 : 2;
    /** The rows of the cache, those of the state, and the number of iterations, for each run. */
    private static final int[][] FEEDS = {{2, 2, 7}, {2, 2, 7}, {1, 3, 5}, {4, 2, 0}, {2, 2, 8}};

    /** A recurrence whose results are appended to what it has computed before. */
    private static Network decoder() {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value state = g.data("state", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                Value next = g.linear(v.get(2), WIDTH).tanh().plus(v.get(2)).times(0.5);
                return List.of(v.getFirst().plus(1), g.concat(0, v.get(1), next), next);
            }, g.full(INT64, 0, 1), x.times(1), state.times(1));
            return Outputs.of("all", end.get(1), "last", end.get(2));
        });
    }

    private static Plan plan(Executor executor, Network network) {
        List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
        return executor.compile(network.main(), feeds("x", "state", "n"), fetches(names.toArray(String[]::new)));
    }

    @Test
    void onePlanServesAllLengths() {
        Network network = decoder();
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = plan(executor, network);
            Tensor state = Bits.normal(2, 1, WIDTH);
            plan.run(Bits.normal(1, 1, WIDTH), state, Bits.longs(150));
            assertTrue(plan.bindings(1).bound() <= 4, () -> plan.bindings(1).toString());
            // A state with more rows needs another plan, which is known to serve all lengths.
            long before = plan.bindings(1).bound();
            for (int rows = 2; rows < 6; rows++) {
                plan.run(Bits.normal(1, 3, WIDTH), Bits.normal(rows, rows, WIDTH), Bits.longs(80));
            }
            assertTrue(plan.bindings(1).bound() <= before + 4, () -> plan.bindings(1).toString());
        }
    }

    /** Attention on a cache: the same bits whether a length comes for the first time or has a plan of its own. */
    @Test
    void resultsDoNotDependOnWhatCameBefore() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value state = g.data("state", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                Value query = v.get(2).unsqueeze(1);
                Value cache = g.concat(0, v.get(1), v.get(2).meanKeeping(0));
                Value keys = cache.tanh().unsqueeze(0);
                Value mask = cache.meanKeeping(1).transpose(1, 0).unsqueeze(0);
                Value weights = query.matmul(keys, false, true).times(0.4).plus(mask).softmax(-1);
                Value next = weights.matmul(cache.unsqueeze(0)).squeeze(1).plus(v.get(2).times(0.5)).tanh();
                return List.of(v.getFirst().plus(1), cache, next);
            }, g.full(INT64, 0, 1), x.times(1), state.times(1));
            return Outputs.of("all", end.get(1), "last", end.get(2));
        });
        String all = network.outputs().get("all").name();
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = plan(executor, network);
            Tensor x = Bits.normal(1, 1, WIDTH);
            Tensor state = Bits.normal(2, 3, WIDTH);
            Tensor first = plan.run(x, state, Bits.longs(40)).get(all);
            long bound = plan.bindings(1).bound();
            for (int run = 0; run < 120; run++) {
                Bits.assertSame(first, plan.run(x, state, Bits.longs(40)).get(all), "run " + run);
            }
            assertTrue(plan.bindings(1).bound() > bound, () -> plan.bindings(1).toString());
            Interpreter interpreter = Interpreter.of(Kernels.system());
            interpreter.run(network.startup(), Map.of(), List.of());
            Map<String, Tensor> fed = Map.of("x", x, "state", state, "n", Bits.longs(40));
            Bits.assertSame(Objects.requireNonNull(interpreter.run(network.main(), fed, List.of(all)).get(all)), first,
                    "interpreter");
        }
    }

    /** Attention on a cache that is fed and fetched, as in a loop around the runs. */
    private static Network step() {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value cache = g.concat(0, g.data("cache", FLOAT32, -1, WIDTH), x.times(0.5));
            Value keys = cache.unsqueeze(0);
            Value weights = x.unsqueeze(1).matmul(keys, false, true).times(0.4).softmax(-1);
            Value next = g.linear(weights.matmul(keys).squeeze(1), WIDTH).plus(x).tanh();
            return Outputs.of("cache", cache, "next", next, "mean", cache.meanKeeping(0));
        });
    }

    @Test
    void onePlanServesAllLengthsOfWhatIsFedBack() {
        Network network = step();
        String[] names = {network.outputs().get("cache").name(), network.outputs().get("next").name(),
                network.outputs().get("mean").name()};
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x", "cache"), fetches(names));
            for (int rows = 1; rows <= 12; rows++) {
                plan.run(Bits.normal(rows, rows, WIDTH), Bits.normal(rows, 3, WIDTH));
            }
            assertEquals(12, plan.bindings().bound(), "lengths that do not follow from results are compiled");
            for (int run = 0; run < 3; run++) {
                Tensor x = Bits.normal(run, 1, WIDTH);
                Tensor cache = Bits.normal(run, 1, WIDTH);
                List<Results> kept = new ArrayList<>();
                for (int i = 0; i < 80; i++) {
                    Results results = plan.run(x, cache);
                    kept.add(results);
                    x = results.get(names[1]);
                    cache = results.get(names[0]);
                }
                Map<String, Tensor> fed = Map.of("x", Bits.normal(run, 1, WIDTH), "cache", Bits.normal(run, 1, WIDTH));
                for (int i = 0; i < 80; i++) {
                    Map<String, Tensor> expected = interpreter.run(network.main(), fed, List.of(names));
                    for (String name : names) {
                        Bits.assertSame(Objects.requireNonNull(expected.get(name)), kept.get(i).get(name),
                                "run " + run + ", step " + i + ", " + name);
                    }
                    fed = Map.of("x", Objects.requireNonNull(expected.get(names[1])), "cache",
                            Objects.requireNonNull(expected.get(names[0])));
                }
            }
            assertTrue(plan.bindings().bound() <= 18, () -> plan.bindings().toString());
        }
    }

    /** Lengths that come often get plans of their own, in which operations are fused, but not more than are kept. */
    @Test
    void lengthsThatComeOftenAreCompiled() {
        long more = boundForLengthsThatComeOften(
                (grown, next) -> next.plus(grown.times(0.5).plus(next).relu().plus(next).times(0.1).meanKeeping(0)));
        assertTrue(more > 8 && more <= 33, () -> more + " plans");
    }

    /** One plan for all lengths stays in use where plans of their own would fuse nothing. */
    @Test
    void lengthsThatFuseNothingAreNotCompiled() {
        long concatenated = boundForLengthsThatComeOften((_, next) -> next);
        assertTrue(concatenated <= 1, () -> concatenated + " plans");
        long multiplied = boundForLengthsThatComeOften((grown, next) -> next.plus(
                next.unsqueeze(0).matmul(grown.unsqueeze(0), false, true).softmax(-1).matmul(grown.unsqueeze(0))
                        .squeeze(0)));
        assertTrue(multiplied <= 2, () -> multiplied + " plans");
    }

    /** Runs a loop again and again; returns how many plans of its body this makes after the first run. */
    private static long boundForLengthsThatComeOften(BinaryOperator<Value> step) {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value state = g.data("state", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                Value grown = g.concat(0, v.get(1), v.get(2));
                Value next = step.apply(grown, v.get(2)).times(0.5);
                return List.of(v.getFirst().plus(1), grown, next);
            }, g.full(INT64, 0, 1), x.times(1), state.times(1));
            return Outputs.of("all", end.get(1), "last", end.get(2));
        });
        String last = network.outputs().get("last").name();
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = plan(executor, network);
            Tensor x = Bits.normal(1, 1, WIDTH);
            Tensor state = Bits.normal(2, 1, WIDTH);
            Tensor first = plan.run(x, state, Bits.longs(40)).get(last);
            long bound = plan.bindings(1).bound();
            for (int run = 0; run < 150; run++) {
                Tensor found = plan.run(x, state, Bits.longs(40)).get(last);
                if (run % 50 == 0) {
                    Bits.assertSame(first, found, "run " + run);
                }
            }
            return plan.bindings(1).bound() - bound;
        }
    }

    /** What has grown is passed on as it is, but a variable never has the memory of another one or of a result. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void variablesThatGrowHaveMemoryOfTheirOwn(int threads) {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value state = g.data("state", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            List<Value> first = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                Value grown = g.concat(0, v.get(1), v.get(4));
                Value other = g.concat(0, v.get(3), v.get(4));
                Value bad = g.op("elementwise_add").in("X", v.get(4)).in("Y", v.getFirst().cast(FLOAT32)).one("Out");
                // The same value twice, and one that comes from a variable.
                return List.of(v.getFirst().plus(1), grown, grown, v.get(2), bad.plus(other.mean()));
            }, g.full(INT64, 0, 1), x.times(1), x.times(2), x.times(3), state.times(1));
            List<Value> second = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                Value grown = g.concat(0, v.get(1), v.get(2).meanKeeping(0));
                return List.of(v.getFirst().plus(1), grown, grown.times(0.5));
            }, g.full(INT64, 0, 1), first.get(1), first.get(2));
            return Outputs.of("a", first.get(1), "b", first.get(2), "c", first.get(3)).and("d", second.get(1))
                    .and("e", second.get(2));
        });
        List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        try (Executor executor = Executor.builder().threads(threads).build()) {
            executor.run(network.startup());
            Plan plan = plan(executor, network);
            List<Results> kept = new ArrayList<>();
            List<Map<String, Tensor>> expected = new ArrayList<>();
            for (int run = 0; run < 12; run++) {
                Tensor x = Bits.normal(run, 2, WIDTH);
                Tensor state = Bits.normal(run + 50, 1, WIDTH);
                Tensor n = Bits.longs(7 + run % 5);
                kept.add(plan.run(x, state, n));
                expected.add(interpreter.run(network.main(), Map.of("x", x, "state", state, "n", n), names));
            }
            for (int run = 0; run < kept.size(); run++) {
                for (String name : names) {
                    Bits.assertSame(Objects.requireNonNull(expected.get(run).get(name)), kept.get(run).get(name),
                            name + " of run " + run);
                }
            }
        }
    }

    @Test
    void aFailureNamesTheOperationAndLeavesThePlanUsable() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value state = g.data("state", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                Value grown = g.concat(0, v.get(1), v.get(2));
                // There are at most 8 rows.
                Value eighth = grown.gather(g.full(INT64, 0, 1).plus(v.getFirst()), 0);
                Value product = grown.matmul(grown.slice(0, 0, 1), false, true);
                Value bad = g.ifElse(v.getFirst().greaterThan(g.full(INT64, 6, 1)),
                        () -> g.op("elementwise_add").in("X", grown).in("Y", g.full(FLOAT32, 0, 3, WIDTH)).one("Out"),
                        () -> grown.times(1));
                return List.of(v.getFirst().plus(1), grown.plus(bad.mean().times(0)), eighth.plus(product.mean()));
            }, g.full(INT64, 0, 1), x.times(1), state.times(1));
            return Outputs.of("all", end.get(1), "last", end.get(2));
        });
        String all = network.outputs().get("all").name();
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = plan(executor, network);
            Tensor x = Bits.normal(1, 1, WIDTH);
            Tensor state = Bits.normal(2, 1, WIDTH);
            Tensor expected = plan.run(x, state, Bits.longs(6)).get(all);
            for (int i = 0; i < 3; i++) {
                ProgramFailedException e = assertThrows(ProgramFailedException.class,
                        () -> plan.run(x, state, Bits.longs(12)));
                assertTrue(String.valueOf(e.getMessage()).contains("elementwise_add"), e.getMessage());
                Bits.assertSame(expected, plan.run(x, state, Bits.longs(6)).get(all), "after failure " + i);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1 thread", "3 threads", "few plans", "no passes", "no memory plan", "shuffled",
            "sequential", "nan check", "sim"})
    void randomProgramsEqualTheInterpreter(String how) {
        for (int seed = 0; seed < PROGRAMS; seed++) {
            Network network = random(seed);
            try (Engine engine = Engine.builder().shuffled(seed).build();
                    Devices devices = Devices.builder().build();
                    Executor executor = executor(how, engine, devices)) {
                compare(network, executor, how + ", seed " + seed);
            } catch (RuntimeException e) {
                throw new AssertionError(how + ", seed " + seed + " fails: " + e.getMessage(), e);
            }
        }
    }

    private static Executor executor(String how, Engine engine, Devices devices) {
        Executor.Builder builder = Executor.builder();
        return switch (how) {
            case "1 thread" -> builder.threads(1).build();
            case "3 threads" -> builder.threads(3).eager().build();
            case "few plans" -> builder.threads(1).specialisations(2).build();
            case "no passes" -> builder.without(Pass.values()).threads(3).eager().build();
            case "no memory plan" -> builder.memoryPlan(false).threads(3).eager().build();
            case "shuffled" -> builder.engine(engine).build();
            case "sequential" -> builder.sequential().build();
            case "nan check" -> builder.nanCheck().build();
            default -> builder.devices(devices).place(Place.parse("sim:0")).build();
        };
    }

    private static void compare(Network network, Executor executor, String where) {
        List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        interpreter.names().forEach(name -> executor.scope().set(name, Bits.copy(interpreter.get(name))));
        Plan plan = plan(executor, network);
        for (int run = 0; run < FEEDS.length; run++) {
            int[] sizes = FEEDS[run];
            Map<String, Tensor> fed = new HashMap<>();
            fed.put("x", Bits.normal(run, sizes[0], WIDTH));
            fed.put("state", Bits.normal(run + 9, sizes[1], WIDTH));
            fed.put("n", Bits.longs(sizes[2]));
            Map<String, Tensor> expected = interpreter.run(network.main(), fed, names);
            Results found = plan.run(fed.get("x"), fed.get("state"), fed.get("n"));
            for (String name : names) {
                Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(name),
                        where + ", run " + run + ", " + name);
            }
        }
        for (String name : interpreter.names()) {
            Bits.assertSame(interpreter.get(name), executor.scope().get(name), where + ", " + name);
        }
        assertEquals(interpreter.names(), executor.scope().names(), where);
    }

    private static Network random(long seed) {
        Random random = new Random(seed);
        return Network.define(seed + 1, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value state = g.data("state", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            List<Value> end = loop(g, random, n, x.times(1), state.times(1), 0);
            return Outputs.of("cache", end.get(1), "state", end.get(2));
        });
    }

    /** A loop over a cache, whose rows change their number, and a state, whose rows stay. */
    private static List<Value> loop(Graph g, Random random, Value n, Value cache, Value state, int depth) {
        boolean shrinks = random.nextInt(4) == 0;
        return g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
            List<Value> caches = new ArrayList<>(List.of(v.get(1)));
            List<Value> states = new ArrayList<>(List.of(v.get(2)));
            for (int i = 0; i < 4 + random.nextInt(5); i++) {
                step(g, random, v.getFirst(), caches, states, depth);
            }
            Value row = states.getLast().meanKeeping(0).tanh();
            Value next = shrinks
                    ? g.ifElse(v.getFirst().greaterThan(g.full(INT64, 3, 1)), () -> any(random, caches).slice(0, 0, 1),
                            () -> g.concat(0, v.get(1), row))
                    : g.concat(0, any(random, caches), row);
            return List.of(v.getFirst().plus(1), next, states.getLast().tanh());
        }, g.full(INT64, 0, 1), cache, state);
    }

    private static Value any(Random random, List<Value> values) {
        return values.get(random.nextInt(values.size()));
    }

    private static void step(Graph g, Random random, Value i, List<Value> caches, List<Value> states, int depth) {
        Value cache = any(random, caches);
        Value state = any(random, states);
        switch (random.nextInt(depth == 0 ? 13 : 11)) {
            case 0 -> states.add(state.matmul(cache, false, true).softmax(-1).matmul(cache));
            case 1 -> states.add(state.plus(cache.meanKeeping(0)).tanh());
            case 2 -> states.add(g.linear(state, WIDTH).tanh().plus(state.times(0.5)));
            case 3 -> caches.add(cache.times(0.5).tanh());
            case 4 -> caches.add(cache.plus(state.meanKeeping(0)).times(0.5));
            case 5 -> states.add(state.times(cache.argMax(0).cast(FLOAT32).times(0.1)).tanh());
            case 6 -> states.add(state.plus(cache.maskedSelect(cache.greaterThan(0)).sum().times(0.01)).tanh());
            case 7 -> states.add(g.ifElse(cache.mean().greaterThan(0.02), () -> state.plus(cache.max(0)).tanh(),
                    () -> state.times(0.9)));
            case 8 -> {
                Value copy = state.assign();
                g.op("assign").in("X", copy.plus(cache.slice(0, 0, 1)).tanh()).to("Out", copy).append();
                states.add(copy);
            }
            case 9 -> states.add(state.plus(cache.transpose(1, 0).mean(1).times(cache.shapeTensor().slice(0, 0, 1)
                    .cast(FLOAT32))).tanh());
            case 10 -> states.add(state.unsqueeze(1).matmul(cache.unsqueeze(0), false, true).times(0.4).softmax(-1)
                    .matmul(cache.times(1).unsqueeze(0)).squeeze(1).plus(state.times(0.1)));
            case 11 -> states.add(loop(g, random, g.full(INT64, 1 + random.nextInt(5), 1), cache, state, depth + 1)
                    .get(2));
            default -> states.add(state.plus(i.cast(FLOAT32).times(0.01)));
        }
    }
}
