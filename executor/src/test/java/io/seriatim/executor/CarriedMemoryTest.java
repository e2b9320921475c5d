package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loops write what they pass on to two buffers in turn, and never to memory that something else reads. */
@Timeout(120)
class CarriedMemoryTest {
    private static final int WIDTH = 8;
    private static final int PROGRAMS = Boolean.getBoolean("seriatim.full") ? 300 : 8;

    private static Plan plan(Executor executor, Network network) {
        List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
        return executor.compile(network.main(), feeds("x", "n"), fetches(names.toArray(String[]::new)));
    }

    private static Network plain() {
        return Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            return Outputs.of("y", g.whileLoop(v -> List.of(v.getFirst().lessThan(n)),
                    v -> List.of(v.getFirst().plus(1), v.get(1).softmax(1).plus(0.1).tanh()),
                    g.full(INT64, 0, 1), x).get(1));
        });
    }

    /** Iterations allocate nothing, so that there is nothing to collect. */
    @Test
    void iterationsTakeTurns() {
        Network network = plain();
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().threads(1).devices(devices).build()) {
            Plan plan = plan(executor, network);
            Tensor x = Bits.normal(1, 2, WIDTH);
            plan.run(x, Bits.longs(3));
            plan.run(x, Bits.longs(3));
            long before = devices.host().memory().buffers();
            plan.run(x, Bits.longs(200));
            long made = devices.host().memory().buffers() - before;
            assertTrue(made < 20, () -> made + " buffers in 200 iterations");
        }
    }

    /** What a run has given is fed to the next one, and stays what it was. */
    @Test
    void resultsStay() {
        Network network = plain();
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.builder().threads(1).build()) {
            Plan plan = plan(executor, network);
            List<Tensor> found = new ArrayList<>();
            List<Tensor> copies = new ArrayList<>();
            Tensor x = Bits.normal(1, 2, WIDTH);
            for (int run = 0; run < 12; run++) {
                x = plan.run(x, Bits.longs(run % 5)).get(y);
                found.add(x);
                copies.add(Bits.copy(x));
            }
            for (int i = 0; i < found.size(); i++) {
                Bits.assertSame(copies.get(i), found.get(i), "run " + i);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1 thread", "3 threads", "no passes", "no memory plan", "sequential", "sim"})
    void randomProgramsEqualTheInterpreter(String how) {
        for (int seed = 0; seed < PROGRAMS; seed++) {
            Network network = random(seed);
            List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
            Interpreter interpreter = Interpreter.of(Kernels.system());
            try (Devices devices = Devices.builder().build(); Executor executor = executor(how, devices)) {
                Plan plan = plan(executor, network);
                for (int run = 0; run < 5; run++) {
                    Tensor x = Bits.normal(run, 1 + run % 2, WIDTH);
                    Tensor n = Bits.longs((run * 3 + seed) % 7);
                    Map<String, Tensor> expected = interpreter.run(network.main(), Map.of("x", x, "n", n), names);
                    Results results = plan.run(x, n);
                    for (String name : names) {
                        Bits.assertSame(Objects.requireNonNull(expected.get(name)), results.get(name),
                                how + ", seed " + seed + ", run " + run + ", " + name);
                    }
                }
            } catch (RuntimeException e) {
                throw new AssertionError(how + ", seed " + seed + " fails: " + e.getMessage(), e);
            }
        }
    }

    private static Executor executor(String how, Devices devices) {
        Executor.Builder builder = Executor.builder();
        return switch (how) {
            case "1 thread" -> builder.threads(1).build();
            case "3 threads" -> builder.threads(3).eager().build();
            case "no passes" -> builder.without(Pass.values()).threads(1).build();
            case "no memory plan" -> builder.memoryPlan(false).threads(1).build();
            case "sequential" -> builder.sequential().build();
            default -> builder.devices(devices).place(Place.parse("sim:0")).build();
        };
    }

    /** Loops in loops that swap, keep, repeat and store what they pass on. */
    private static Network random(long seed) {
        Random random = new Random(seed);
        return Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            Value list = g.op("write_to_array").in("X", x).in("I", g.full(INT64, 0, 1)).one("Out");
            List<Value> end = loop(g, random, list, n, List.of(x, x.times(0.5), x.tanh()), 0);
            Value joined = g.op("tensor_array_to_tensor").in("X", list).attr("axis", 0).attr("use_stack", true)
                    .all("Out", "OutIndex").getFirst();
            return Outputs.of("a", end.get(0), "b", end.get(1), "c", end.get(2)).and("list", joined);
        });
    }

    private static List<Value> loop(Graph g, Random random, Value list, Value n, List<Value> initial, int depth) {
        List<Value> all = new ArrayList<>(List.of(g.full(INT64, 0, 1)));
        all.addAll(initial);
        List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
            Value i = v.getFirst();
            List<Value> known = new ArrayList<>(v.subList(1, v.size()));
            for (int k = 0; k < 1 + random.nextInt(4); k++) {
                step(g, random, list, i, known, depth);
            }
            List<Value> next = new ArrayList<>(List.of(i.plus(1)));
            for (int k = 0; k < initial.size(); k++) {
                next.add(known.get(random.nextInt(known.size())));
            }
            return next;
        }, all.toArray(Value[]::new));
        return end.subList(1, end.size());
    }

    private static void step(Graph g, Random random, Value list, Value i, List<Value> known, int depth) {
        Value a = known.get(random.nextInt(known.size()));
        Value b = known.get(random.nextInt(known.size()));
        switch (random.nextInt(depth == 0 ? 8 : 7)) {
            case 0 -> known.add(a.plus(b).times(0.5));
            case 1 -> known.add(a.softmax(1).plus(b));
            case 2 -> known.add(a.assign());
            case 3 -> g.op("write_to_array").in("X", a).in("I", i).to("Out", list).append();
            case 4 -> known.add(g.op("read_from_array").in("X", list).in("I", g.full(INT64, 0, 1)).one("Out"));
            case 5 -> {
                boolean same = random.nextBoolean();
                known.add(g.ifElse(a.mean().greaterThan(0.05), () -> same ? a : a.tanh(), () -> b));
            }
            case 6 -> known.add(a.reshape(WIDTH, -1).reshape(-1, WIDTH).minus(b));
            default -> known.addAll(loop(g, random, list, g.full(INT64, random.nextInt(5), 1), List.of(a, b), 1));
        }
    }
}
