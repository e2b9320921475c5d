package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Values whose sizes are known only during the run: what follows them is compiled when they are known, with the
 * interpreter's results.
 */
class LateSizesTest {
    private static final int WIDTH = 6;
    private static final int PROGRAMS = Boolean.getBoolean("seriatim.full") ? 400 : 24;

    /** Rows of x that a mask selects; how many is known only when the mask has been computed. */
    private static Value chosenRows(Graph g, Value x, double above) {
        Value rows = g.op("where_index").in("Condition", x.mean(1).greaterThan(above)).one("Out");
        return g.op("gather_nd").in("X", x).in("Index", rows).one("Out");
    }

    private static Network chain(boolean trains) {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value chosen = chosenRows(g, g.linear(x, WIDTH).tanh(), 0);
            Value y = g.linear(g.linear(chosen, WIDTH).tanh(), 4).softmax(-1);
            Value loss = y.square().sum();
            if (trains) {
                g.minimize(loss, Sgd.of(0.1));
            }
            return Outputs.of("y", y).and("loss", loss);
        });
    }

    private static CompiledPlan compiled(Executor executor, Plan plan, Tensor x) {
        return plan.specialisation(executor.scope(), Sharing.NONE, x);
    }

    @Test
    void whatFollowsIsCompiled() {
        Network network = chain(false);
        try (Executor executor = Executor.builder().build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(network.outputs().get("y").name()));
            CompiledPlan compiled = compiled(executor, plan, Bits.normal(1, 5, WIDTH));
            List<Task.Interpreted> interpreted = compiled.tasks().stream().filter(Task.Interpreted.class::isInstance)
                    .map(Task.Interpreted.class::cast).toList();
            assertEquals(List.of("where_index"), interpreted.stream().map(Task::name).toList());
            Task.Rest rest = assertInstanceOf(Task.Rest.class, compiled.tasks().getLast());
            assertEquals("gather_nd", rest.operations().getFirst().op().type());
            String shown = PlanView.of(executor, network.main(), 5, List.of(network.outputs().get("y").name())).text();
            assertTrue(shown.contains("compiled when their shapes are known"), shown);
        }
    }

    /** Sizes that come for the first time, again, and none at all. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void resultsAreTheInterpreters(boolean trains) {
        Network network = chain(trains);
        List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        for (int threads : new int[]{1, 2}) {
            try (Executor executor = Executor.builder().threads(threads).eager().specialisations(2).build()) {
                interpreter.names().forEach(name -> executor.scope().set(name, Bits.copy(interpreter.get(name))));
                Plan plan = executor.compile(network.main(), feeds("x"), fetches(names.toArray(String[]::new)));
                for (int run = 0; run < 20; run++) {
                    Tensor x = run % 7 == 6
                            ? Tensor.of(new float[3 * WIDTH], 3, WIDTH)
                            : Bits.normal(run % 5, 2 + run % 4, WIDTH);
                    Map<String, Tensor> expected = interpreter.run(network.main(), Map.of("x", x), names);
                    Results found = plan.run(x);
                    for (String name : names) {
                        Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(name),
                                threads + " threads, run " + run + ", " + name);
                    }
                }
                for (String name : interpreter.names()) {
                    Bits.assertSame(interpreter.get(name), executor.scope().get(name), name);
                }
            }
        }
    }

    /** Several late values, some in the rest of a rest, beside work that does not depend on them. */
    @Test
    void randomProgramsEqualTheInterpreter() {
        for (int seed = 0; seed < PROGRAMS; seed++) {
            Network network = random(seed);
            List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
            Interpreter interpreter = Interpreter.of(Kernels.system());
            interpreter.run(network.startup(), Map.of(), List.of());
            try (Executor executor = Executor.builder().threads(1 + seed % 2).eager().build()) {
                interpreter.names().forEach(name -> executor.scope().set(name, Bits.copy(interpreter.get(name))));
                Plan plan = executor.compile(network.main(), feeds("x"), fetches(names.toArray(String[]::new)));
                for (int run = 0; run < 6; run++) {
                    Tensor x = Bits.normal(seed + run % 3, 4 + run % 2, WIDTH);
                    Map<String, Tensor> expected = interpreter.run(network.main(), Map.of("x", x), names);
                    Results found = plan.run(x);
                    for (String name : names) {
                        Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(name),
                                "seed " + seed + ", run " + run + ", " + name);
                    }
                }
                for (String name : interpreter.names()) {
                    Bits.assertSame(interpreter.get(name), executor.scope().get(name), "seed " + seed + ", " + name);
                }
            } catch (RuntimeException e) {
                throw new AssertionError("Seed " + seed + " fails: " + e.getMessage(), e);
            }
        }
    }

    private static Network random(long seed) {
        Random random = new Random(seed);
        boolean trains = random.nextBoolean();
        return Network.define(seed + 1, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            List<Value> known = new ArrayList<>(List.of(g.linear(x, WIDTH).tanh(), x.times(0.5)));
            for (int i = 0; i < 8 + random.nextInt(8); i++) {
                Value a = known.get(random.nextInt(known.size()));
                known.add(switch (random.nextInt(7)) {
                    case 0 -> chosenRows(g, a, random.nextDouble() - 0.5);
                    case 1 -> g.linear(a, WIDTH).tanh();
                    case 2 -> a.softmax(-1);
                    case 3 -> a.plus(a.maskedSelect(a.greaterThan(0.1)).sum().times(0.01));
                    case 4 -> a.relu().plus(a.times(0.25));
                    case 5 -> g.concat(0, a, known.get(random.nextInt(known.size())));
                    default -> a.minus(a.mean().times(0.5));
                });
            }
            Value loss = known.getLast().tanh().sum().plus(known.get(2).sum());
            if (trains) {
                g.minimize(loss.plus(g.linear(x, 1).mean()), Sgd.of(0.01));
            }
            return Outputs.of("loss", loss).and("last", known.getLast()).and("middle", known.get(known.size() / 2));
        });
    }

    /** Late sizes, each of which is used up to its sum only behind the next late size in the program. */
    private static Network mixture(int sizes) {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value before = chosenRows(g, g.linear(x, WIDTH), 0);
            Value sum = x;
            for (int i = 0; i < sizes - 1; i++) {
                Value own = g.linear(before, WIDTH).tanh();
                before = chosenRows(g, g.linear(x, WIDTH), 0);
                sum = sum.plus(own.sum());
            }
            Value last = g.linear(before, WIDTH).tanh();
            return Outputs.of("y", sum.plus(last.sum()).tanh()).and("z", x.times(2).tanh());
        });
    }

    @Test
    void whatDoesNotFollowFromALateSizeIsNotCutOff() {
        Network network = mixture(3);
        try (Executor executor = Executor.builder().build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"),
                    fetches(network.outputs().get("y").name(), network.outputs().get("z").name()));
            CompiledPlan compiled = compiled(executor, plan, Bits.normal(1, 5, WIDTH));
            Task.Rest rest = assertInstanceOf(Task.Rest.class, compiled.tasks().getLast());
            List<String> late = rest.operations().stream().map(access -> access.op().type()).toList();
            // The first late size is cut off with all that follows from it, the other linear layers of x are not.
            assertEquals(3, late.stream().filter("gather_nd"::equals).count(), late.toString());
            assertEquals(3, late.stream().filter("matmul_v2"::equals).count(), late.toString());
            assertEquals(4, late.stream().filter("tanh"::equals).count(), late.toString());
        }
    }

    /** Each part is compiled for the sizes that it depends on, not for those of the parts before. */
    @Test
    void lateSizesAreNotCombined() {
        Network network = mixture(3);
        String y = network.outputs().get("y").name();
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        try (Executor executor = Executor.builder().build()) {
            interpreter.names().forEach(name -> executor.scope().set(name, Bits.copy(interpreter.get(name))));
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            for (int run = 0; run < 100; run++) {
                Tensor x = Bits.normal(run, 4, WIDTH);
                Tensor expected = interpreter.run(network.main(), Map.of("x", x), List.of(y)).get(y);
                Bits.assertSame(Objects.requireNonNull(expected), plan.run(x).get(y), "run " + run);
            }
            // None to four of four rows, each compiled in haste and then fully.
            List<Long> bound = plan.boundLate();
            assertEquals(3, bound.size(), bound.toString());
            assertTrue(bound.stream().allMatch(each -> each <= 2 * 5), bound.toString());
        }
    }

    /** Layers of late sizes, each of which depends on the one before, which a plan in a plan could not be for all. */
    private static Network layers(int count, boolean trains) {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value y = x;
            for (int i = 0; i < count; i++) {
                Value chosen = chosenRows(g, g.linear(y, WIDTH), 0);
                y = y.plus(g.linear(chosen, WIDTH).tanh().sum().times(0.1)).tanh();
            }
            Value loss = y.square().mean();
            if (trains) {
                g.minimize(loss, Sgd.of(0.1));
            }
            return Outputs.of("y", y).and("loss", loss);
        });
    }

    /** What follows each late size is a part, whose plan is not inside of that of another part. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void eachOfManyLateSizesHasAPart(boolean trains) {
        int count = 40;
        Network network = layers(count, trains);
        List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        try (Executor executor = Executor.builder().threads(2).eager().build()) {
            interpreter.names().forEach(name -> executor.scope().set(name, Bits.copy(interpreter.get(name))));
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(names.toArray(String[]::new)));
            Task.Rest rest = assertInstanceOf(Task.Rest.class,
                    compiled(executor, plan, Bits.normal(1, 5, WIDTH)).tasks().getLast());
            assertEquals(count, rest.parts().size());
            assertEquals(rest.operations(),
                    rest.parts().stream().flatMap(part -> part.block().operations().stream())
                            .map(access -> rest.operations().stream()
                                    .filter(each -> each.index() == access.index()).findFirst().orElseThrow())
                            .toList());
            for (int run = 0; run < 12; run++) {
                Tensor x = Bits.normal(run, 3 + run % 3, WIDTH);
                Map<String, Tensor> expected = interpreter.run(network.main(), Map.of("x", x), names);
                Results found = plan.run(x);
                for (String name : names) {
                    Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(name),
                            "run " + run + ", " + name);
                }
            }
            assertEquals(count, plan.boundLate().size(), "no part has another one inside");
            for (String name : interpreter.names()) {
                Bits.assertSame(interpreter.get(name), executor.scope().get(name), name);
            }
            String shown = PlanView.of(executor, network.main(), 5, names).text();
            assertTrue(shown.contains("40 plans of their own"), shown);
        }
    }

    @Test
    void aFailureInWhatFollowsNamesItsOperation() {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value chosen = chosenRows(g, x, 0);
            return Outputs.of("y", chosen.plus(g.data("z", FLOAT32, -1, WIDTH)).tanh());
        });
        try (Executor executor = Executor.builder().build()) {
            Plan plan = executor.compile(network.main(), feeds("x", "z"), fetches(network.outputs().get("y").name()));
            Tensor x = Tensor.of(new float[]{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 2, WIDTH);
            ProgramFailedException failure =
                    assertThrows(ProgramFailedException.class, () -> plan.run(x, Bits.normal(1, 3, WIDTH)));
            String message = String.valueOf(failure.getMessage());
            assertTrue(message.contains("elementwise_add") && message.contains("[2, 6] and [3, 6]"), message);
            String y = network.outputs().get("y").name();
            assertEquals(2, plan.run(x, Bits.normal(1, 2, WIDTH)).get(y).shape().dim(0));
        }
    }
}
