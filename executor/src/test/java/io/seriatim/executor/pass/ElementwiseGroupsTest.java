package io.seriatim.executor.pass;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Pass;
import io.seriatim.executor.Plan;
import io.seriatim.executor.PlanProbe;
import io.seriatim.executor.RandomNetworks;
import io.seriatim.executor.Results;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Initializer;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Chain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Elementwise tasks that have become one: the same bits as without, in fewer kernels. */
class ElementwiseGroupsTest {
    private static final int RUNS = 3;

    /** Three time steps of a network with gates and a memory. */
    private static Network recurrent(int width) {
        return Network.define(5, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, width);
            Value memory = x.tanh();
            Value hidden = x;
            for (int step = 0; step < 3; step++) {
                Value gates = g.linear(g.concat(1, hidden, x), 4L * width);
                Value in = gates.slice(1, 0, width).sigmoid();
                Value forget = gates.slice(1, width, 2 * width).sigmoid();
                Value fresh = gates.slice(1, 2 * width, 3 * width).tanh();
                Value out = gates.slice(1, 3 * width, 4 * width).sigmoid();
                memory = memory.times(forget).plus(in.times(fresh));
                hidden = out.times(memory.tanh());
            }
            Value loss = hidden.square().mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss, "hidden", hidden, "memory", memory);
        });
    }

    /** Values that many read, of which some are fetched; rows and columns that are repeated; relu and its gradient. */
    private static Network shared(int width) {
        return Network.define(6, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, width);
            Value row = g.parameter(ParameterSpec.of(Initializer.constant(0.3)), DType.FLOAT32, width);
            Value a = x.plus(row);
            Value b = a.relu();
            Value c = a.times(b).minus(x);
            Value d = b.times(0.5).plus(c);
            Value e = g.concat(1, c.times(d), a.minus(d));
            Value loss = e.square().mean().plus(d.mean());
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss, "b", b, "d", d);
        });
    }

    private static Network network(String name, int width) {
        return name.equals("recurrent") ? recurrent(width) : shared(width);
    }

    private static Tensor x(int run, int rows, int width, boolean special) {
        Tensor x = Bits.normal(run, rows, width);
        if (special) {
            float[] values = x.toFloatArray();
            values[0] = Float.NaN;
            values[values.length / 2] = Float.POSITIVE_INFINITY;
            values[values.length - 1] = Float.NEGATIVE_INFINITY;
            return Tensor.of(values, rows, width);
        }
        return x;
    }

    private static Map<String, List<Tensor>> results(Executor.Builder builder, Network network, int rows, int width,
            boolean special) {
        try (Executor executor = builder.build()) {
            executor.run(network.startup());
            List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(names.toArray(String[]::new)));
            Map<String, List<Tensor>> all = new HashMap<>();
            for (int run = 0; run < RUNS; run++) {
                Results results = plan.run(x(run, rows, width, special));
                names.forEach(
                        name -> all.computeIfAbsent(name, _ -> new ArrayList<>()).add(Bits.copy(results.get(name))));
            }
            for (VarDesc each : network.main().persistables()) {
                all.put(each.name(), List.of(Bits.copy(executor.scope().get(each.name()))));
            }
            return all;
        }
    }

    private static Executor.Builder builder(int threads) {
        return threads == 1 ? Executor.builder() : PlanProbe.eager(Executor.builder().threads(threads));
    }

    private static void assertEqualWithout(Network network, int rows, int width, boolean special, String where) {
        for (int threads = 1; threads <= 2; threads++) {
            Map<String, List<Tensor>> expected = results(builder(threads).without(Pass.CHAINS), network, rows, width,
                    special);
            Map<String, List<Tensor>> found = results(builder(threads), network, rows, width, special);
            String at = where + ", threads " + threads;
            expected.forEach((name, tensors) -> {
                List<Tensor> others = Objects.requireNonNull(found.get(name));
                for (int i = 0; i < tensors.size(); i++) {
                    Bits.assertSame(tensors.get(i), others.get(i), at + ", " + name + ", run " + i);
                }
            });
        }
    }

    @ParameterizedTest
    @CsvSource({"recurrent,1,1", "recurrent,3,7", "recurrent,32,128", "recurrent,5,333", "shared,1,1", "shared,3,7",
            "shared,32,128",
            "shared,70,999"})
    void givesTheSameBits(String name, int rows, int width) {
        assertEqualWithout(network(name, width), rows, width, false, name + " " + rows + " x " + width);
    }

    @Test
    void numbersThatAreNoneArePassedOn() {
        Network network = Network.define(7, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 20);
            Value a = x.times(2).plus(x);
            Value b = a.times(a).minus(x);
            return Outputs.of("a", a, "b", b, "c", b.plus(a).relu());
        });
        assertEqualWithout(network, 6, 20, true, "special numbers");
    }

    @ParameterizedTest
    @ValueSource(longs = {3000, 3001, 3002, 3003, 3004, 3005, 3006, 3007, 3008, 3009, 3010, 3011})
    void randomProgramsGiveTheSameBits(long seed) {
        assertEqualWithout(RandomNetworks.of(seed, 25), 4, 6, false, "seed " + seed);
    }

    private static List<Chain> chains(Executor.Builder builder, Network network, int rows, int width) {
        try (Executor executor = builder.build()) {
            executor.run(network.startup());
            String loss = network.outputs().values().values().iterator().next().name();
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(loss));
            return Internals.compiled(plan, executor.scope(), x(0, rows, width, false)).tasks().stream()
                    .flatMap(task -> task instanceof Task.Compute compute
                            ? compute.stages().stream()
                            : Stream.of())
                    .map(Stage::computation).filter(Chain.class::isInstance).map(Chain.class::cast).toList();
        }
    }

    @Test
    void oneKernelDoesTheGatesOfAStepBackward() {
        List<Chain> chains = chains(Executor.builder(), recurrent(64), 8, 64);
        List<Chain> backward = chains.stream()
                .filter(chain -> chain.steps().stream().filter(Chain.Grad.class::isInstance).count() >= 4)
                .toList();
        assertEquals(3, backward.size(), () -> "one for each step, among " + chains);
        assertTrue(backward.stream().allMatch(chain -> chain.outputs().size() > 1),
                () -> "several outputs: " + backward);
        assertEquals(List.of(), chains(Executor.builder().without(Pass.CHAINS), recurrent(64), 8, 64).stream()
                .filter(chain -> chain.outputs().size() > 1).toList());
    }

    /** What only the members of a group read is not among its outputs; what is read later is. */
    @Test
    void onlyWhatOthersReadIsWritten() {
        Network network = Network.define(8, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, 32);
            Value a = x.times(x);
            Value b = a.plus(x);
            Value c = a.minus(b);
            return Outputs.of("c", b.times(c), "sum", b.matmul(product(g), false, false));
        });
        try (Executor executor = Executor.builder().build()) {
            executor.run(network.startup());
            Value c = Objects.requireNonNull(network.outputs().get("c"));
            Value sum = Objects.requireNonNull(network.outputs().get("sum"));
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(c.name(), sum.name()));
            List<Task> tasks = Internals.compiled(plan, executor.scope(), x(0, 8, 32, false)).tasks();
            List<Task> chained = tasks.stream().filter(task -> task.operations().size() > 1).toList();
            assertEquals(1, chained.size(), () -> "one group: " + tasks.stream().map(Task::name).toList());
            assertEquals(2, chained.getFirst().writes().length, "what is fetched, and what the product reads");
            assertEquals(1, chained.getFirst().reads().length, "x alone");
        }
    }

    private static Value product(Graph g) {
        return g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, 32, 4);
    }
}
