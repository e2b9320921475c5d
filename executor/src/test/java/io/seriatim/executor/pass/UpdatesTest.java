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
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.MixedPrecision;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.network.Update;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Updates that come early, and together, change nothing but when they come. */
class UpdatesTest {
    private static Optimizer optimizer(String name) {
        return switch (name) {
            case "sgd" -> Sgd.of(0.1);
            case "momentum" -> Momentum.of(0.1);
            default -> Adam.of(0.01);
        };
    }

    private static Network network(String optimizer) {
        return network(optimizer(optimizer));
    }

    private static Network network(Optimizer optimizer) {
        return Network.define(6, g -> {
            Value h = g.data("x", DType.FLOAT32, 4, 80);
            for (int i = 0; i < 4; i++) {
                h = g.linear(h, 80).tanh();
            }
            Value loss = h.square().mean();
            g.minimize(loss, optimizer);
            return Outputs.of("loss", loss);
        });
    }

    private static boolean updates(Task task) {
        return task instanceof Task.Compute compute
                && compute.stages().stream().anyMatch(stage -> stage.computation() instanceof Update);
    }

    @ParameterizedTest
    @CsvSource({"sgd,1", "momentum,1", "adam,1", "sgd,2", "momentum,2", "adam,2"})
    void givesTheSameBits(String optimizer, int threads) {
        Network network = network(optimizer);
        Tensor x = Bits.normal(1, 4, 80);
        String loss = network.outputs().get("loss").name();
        Executor.Builder builder = Executor.builder().threads(threads).without(Pass.PARTITION);
        Executor.Builder other = Executor.builder().threads(threads).without(Pass.UPDATES, Pass.PARTITION);
        try (Executor with = threads > 1 ? PlanProbe.eager(builder).build() : builder.build();
                Executor without = threads > 1 ? PlanProbe.eager(other).build() : other.build()) {
            with.run(network.startup());
            without.run(network.startup());
            Plan early = with.compile(network.main(), feeds("x"), fetches(loss));
            Plan late = without.compile(network.main(), feeds("x"), fetches(loss));
            for (int run = 0; run < 4; run++) {
                Bits.assertSame(late.run(x).get(loss), early.run(x).get(loss), optimizer + ", run " + run);
            }
            for (VarDesc each : network.main().persistables()) {
                Bits.assertSame(without.scope().get(each.name()), with.scope().get(each.name()),
                        optimizer + ", " + each.name());
            }
            List<Task> tasks = Internals.compiled(early, with.scope(), x).tasks();
            List<Task> all = Internals.compiled(late, without.scope(), x).tasks();
            assertEquals(8, all.stream().filter(UpdatesTest::updates).count());
            // Four matrices each on its own, and four biases together.
            assertEquals(5, tasks.stream().filter(UpdatesTest::updates).count());
            assertEquals(all.size() - 3, tasks.size());
            int first = first(tasks);
            assertTrue(tasks.subList(first, tasks.size()).stream().anyMatch(task -> !updates(task)),
                    () -> "an update must come before the last gradient, but the first is task " + first + " of "
                            + tasks.size());
            assertTrue(all.subList(first(all), all.size()).stream().allMatch(UpdatesTest::updates));
        }
    }

    /** In mixed precision a step is skipped where a gradient has overflowed: in place, and joined as others are. */
    @ParameterizedTest
    @CsvSource({"1", "2"})
    void skipsStepsWithoutCopies(int threads) {
        Network network = network(Adam.of(0.01).precision(MixedPrecision.float16()));
        Tensor x = Bits.normal(1, 4, 80);
        float[] values = x.toFloatArray();
        values[7] = Float.POSITIVE_INFINITY;
        Tensor infinite = Tensor.of(values, 4, 80);
        String loss = network.outputs().get("loss").name();
        Executor.Builder builder = Executor.builder().threads(threads);
        Executor.Builder other = Executor.builder().threads(threads).without(Pass.UPDATES, Pass.PARTITION);
        try (Executor with = threads > 1 ? PlanProbe.eager(builder).build() : builder.build();
                Executor without = threads > 1 ? PlanProbe.eager(other).build() : other.build()) {
            with.run(network.startup());
            without.run(network.startup());
            Plan early = with.compile(network.main(), feeds("x"), fetches(loss));
            Plan late = without.compile(network.main(), feeds("x"), fetches(loss));
            for (int run = 0; run < 6; run++) {
                boolean skipped = run % 3 == 2;
                Map<String, byte[]> before = parameters(network, with);
                Tensor fed = skipped ? infinite : x;
                Bits.assertSame(late.run(fed).get(loss), early.run(fed).get(loss), "run " + run);
                Map<String, byte[]> after = parameters(network, with);
                assertEquals(8, after.size());
                after.forEach((name, bytes) -> assertEquals(skipped, Arrays.equals(before.get(name), bytes), name));
            }
            for (VarDesc each : network.main().persistables()) {
                Bits.assertSame(without.scope().get(each.name()), with.scope().get(each.name()), each.name());
            }
            List<Task> tasks = Internals.compiled(early, with.scope(), x).tasks();
            assertEquals(5, tasks.stream().filter(UpdatesTest::updates).count());
            assertTrue(tasks.stream().filter(UpdatesTest::updates).allMatch(UpdatesTest::onlyUpdates));
        }
    }

    private static boolean onlyUpdates(Task task) {
        return task instanceof Task.Compute compute
                && compute.stages().stream().allMatch(stage -> stage.computation() instanceof Update);
    }

    private static Map<String, byte[]> parameters(Network network, Executor executor) {
        return network.main().persistables().stream().map(VarDesc::name)
                .filter(name -> name.matches("linear_\\d+\\.[wb]_0"))
                .collect(Collectors.toMap(Function.identity(), name -> {
                    Tensor tensor = executor.scope().get(name);
                    return tensor.memory().asSlice(tensor.offset(), tensor.spec().bytes())
                            .toArray(ValueLayout.JAVA_BYTE);
                }));
    }

    private static int first(List<Task> tasks) {
        for (int i = 0; i < tasks.size(); i++) {
            if (updates(tasks.get(i))) {
                return i;
            }
        }
        return tasks.size();
    }

    /** In any program, tasks that share memory which one of them writes keep their order. */
    @ParameterizedTest
    @CsvSource({"1", "2", "3", "4", "5", "6"})
    void keepsTheOrderThatTheDataDemands(long seed) {
        Network network = RandomNetworks.of(2 * seed, 12);
        var program = RandomNetworks.overwritten(network.main(), seed, 4);
        Tensor x = Bits.normal(seed, 4, 6);
        try (Executor with = Executor.builder().build();
                Executor without = Executor.builder().without(Pass.UPDATES).build()) {
            with.run(network.startup());
            without.run(network.startup());
            String[] names = network.outputs().values().values().stream().map(Value::name).distinct()
                    .toArray(String[]::new);
            Plan early = with.compile(program, feeds("x"), fetches(names));
            Plan late = without.compile(program, feeds("x"), fetches(names));
            List<String> differing = new ArrayList<>();
            for (int run = 0; run < 3; run++) {
                Results expected = late.run(x);
                Results found = early.run(x);
                Arrays.stream(names).filter(name -> !Bits.same(expected.get(name), found.get(name)))
                        .forEach(differing::add);
            }
            program.persistables().stream().map(VarDesc::name)
                    .filter(name -> !Bits.same(without.scope().get(name), with.scope().get(name)))
                    .forEach(differing::add);
            assertEquals(List.of(), differing, "seed " + seed);
        }
    }
}
