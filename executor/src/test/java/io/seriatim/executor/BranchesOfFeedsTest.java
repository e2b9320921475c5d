package io.seriatim.executor;

import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Branches that elements of small feeds decide have a plan for each outcome, with the interpreter's results. */
@Timeout(300)
class BranchesOfFeedsTest {
    private static final int WIDTH = 4;
    private static final int PROGRAMS = Boolean.getBoolean("seriatim.full") ? 150 : 30;
    private static final List<String> FEEDS = List.of("x", "n", "flag");

    /** A network with a feed of numbers, one of integers and a truth value. */
    private record Case(Network network, DType integers, Shape shape) {
        static Case of(DType integers, long[] dims, Body body) {
            return new Case(Network.define(5, g -> {
                Value x = g.data("x", FLOAT32, -1, WIDTH);
                return body.outputs(g, x, g.data("n", integers, dims), g.data("flag", BOOL, dims));
            }), integers, Shape.of(dims));
        }

        /** Returns feeds that depend on a number: some with the same sizes and other elements. */
        Tensor[] feeds(int run) {
            return new Tensor[]{Bits.normal(run, 2 + run / 4 % 2, WIDTH),
                    Tensor.of(integers, new double[]{new Random(run).nextInt(4)}, shape.dims()),
                    Tensor.of(BOOL, new double[]{run * 7 / 3 % 2}, shape.dims())};
        }

        List<String> names() {
            return network.outputs().values().values().stream().map(Value::name).toList();
        }

        Plan plan(Executor executor) {
            return executor.compile(network.main(), new Feeds(FEEDS), fetches(names().toArray(String[]::new)));
        }

        /** Returns the tasks of the plan, before what follows. */
        List<Task> tasks() {
            try (Executor executor = Executor.builder().threads(1).build()) {
                executor.run(network.startup());
                return plan(executor).specialisation(executor.scope(), Sharing.NONE, feeds(0)).tasks();
            }
        }

        boolean isCut() {
            return tasks().stream().anyMatch(task -> task instanceof Task.Rest rest && rest.condition() >= 0);
        }

        void assertEqualsInterpreter(int threads, int runs, String where) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            interpreter.run(network.startup(), Map.of(), List.of());
            try (Executor executor = Executor.builder().threads(threads).eager().specialisations(4).build()) {
                interpreter.names().forEach(name -> executor.scope().set(name, Bits.copy(interpreter.get(name))));
                Plan plan = plan(executor);
                for (int run = 0; run < runs; run++) {
                    Tensor[] given = feeds(run);
                    Map<String, Tensor> byName = new HashMap<>();
                    for (int i = 0; i < given.length; i++) {
                        byName.put(FEEDS.get(i), given[i]);
                    }
                    Map<String, Tensor> expected = interpreter.run(network.main(), byName, names());
                    Results found = plan.run(given);
                    for (String name : names()) {
                        assertSame(Objects.requireNonNull(expected.get(name)), found.get(name), threads,
                                where + ", run " + run + ", " + name);
                    }
                }
                assertEquals(interpreter.names(), executor.scope().names(), where);
                for (String name : interpreter.names()) {
                    Bits.assertSame(interpreter.get(name), executor.scope().get(name), where + ", " + name);
                }
            }
        }
    }

    /** With several threads, what a product is added to may be rounded otherwise. */
    private static void assertSame(Tensor expected, Tensor found, int threads, String where) {
        if (threads == 1) {
            Bits.assertSame(expected, found, where);
        } else {
            assertEquals(expected.spec(), found.spec(), where);
            assertArrayEquals(expected.toDoubleArray(), found.toDoubleArray(), 1e-5, where);
        }
    }

    private interface Body {
        Outputs outputs(Graph g, Value x, Value n, Value flag);
    }

    private static Case branch(BiFunction<Value, Value, Value> condition) {
        return Case.of(INT64, new long[]{1}, (g, x, n, flag) -> {
            Value y = g.ifElse(condition.apply(x, n), () -> g.linear(x, WIDTH).tanh(), () -> x.softmax(1));
            return Outputs.of("y", y.plus(1).times(x)).and("flag", flag.not());
        });
    }

    @Test
    void whatFollowsIsCompiledForEachOutcome() {
        Case scalar = branch((_, n) -> n.greaterThan(1));
        List<Task> tasks = scalar.tasks();
        assertEquals(0, tasks.stream().filter(Task.Interpreted.class::isInstance).count());
        assertTrue(scalar.isCut());
        scalar.assertEqualsInterpreter(1, 8, "one branch");
        try (Executor executor = Executor.builder().threads(1).build()) {
            String shown = PlanView.of(executor, scalar.network().main(), 3, scalar.names()).text();
            assertTrue(shown.contains("two plans of their own, one for each value of '"), shown);
        }
    }

    /** Conditions of numbers stay: a run has to compute with them first. So do those of many steps. */
    @Test
    void otherConditionsStay() {
        assertEquals(false, branch((x, _) -> x.mean().greaterThan(0)).isCut());
        assertEquals(false, branch((_, n) -> n.cast(FLOAT32).greaterThan(1)).isCut());
        assertEquals(false, branch((_, n) -> n.expand(17).max(0).greaterThan(1)).isCut());
        assertTrue(branch((_, n) -> n.expand(16).max(0).greaterThan(1)).isCut());
        assertTrue(branch((_, n) -> steps(n, 12)).isCut());
        assertEquals(false, branch((_, n) -> steps(n, 20)).isCut());
    }

    private static Value steps(Value n, int count) {
        Value sum = n;
        for (int i = 0; i < count; i++) {
            sum = sum.mod(n.plus(3));
        }
        return sum.greaterThan(1);
    }

    /** A branch that prints or checks something, or that a gradient reads, is interpreted. */
    @Test
    void branchesWithEffectsStay() {
        Case checked = Case.of(INT64, new long[]{1}, (g, x, n, flag) -> {
            Value y = g.ifElse(n.greaterThan(1), () -> {
                g.op("assert").in("Cond", flag.or(flag.not())).append();
                return x.tanh();
            }, () -> {
                g.op("assert").in("Cond", n.lessThan(2)).append();
                return x.softmax(1);
            });
            return Outputs.of("y", y.plus(1));
        });
        assertEquals(false, checked.isCut());
        checked.assertEqualsInterpreter(2, 8, "checks");
    }

    /** A failure in the branch that is taken leaves the plan usable; one that is not taken does not fail. */
    @Test
    void onlyTheTakenBranchFails() {
        Case wrong = Case.of(INT64, new long[]{1}, (g, x, n, flag) -> {
            Value y = g.ifElse(flag, () -> x.reshape(2, WIDTH), () -> x.times(2).reshape(-1, WIDTH));
            return Outputs.of("y", y.plus(1)).and("n", n.plus(1));
        });
        assertTrue(wrong.isCut());
        String y = wrong.names().getFirst();
        try (Executor executor = Executor.builder().threads(1).build()) {
            Plan plan = wrong.plan(executor);
            Tensor yes = Tensor.of(BOOL, new double[]{1}, 1);
            Tensor no = Tensor.of(BOOL, new double[]{0}, 1);
            for (int run = 0; run < 4; run++) {
                Tensor three = Bits.normal(run, 3, WIDTH);
                assertEquals(3, plan.run(three, Bits.longs(1), no).get(y).shape().dim(0));
                assertThrows(ProgramFailedException.class, () -> plan.run(three, Bits.longs(1), yes));
                assertEquals(2, plan.run(Bits.normal(run, 2, WIDTH), Bits.longs(1), yes).get(y).shape().dim(0));
            }
        }
    }

    /** Operations that follow write the condition, which is then not the one that a plan knows. */
    @Test
    void whatWritesTheConditionIsSeen() {
        for (boolean inBranch : new boolean[]{false, true}) {
            Case written = Case.of(INT64, new long[]{1}, (g, x, n, flag) -> {
                Value condition = n.greaterThan(1);
                Value first = g.ifElse(condition, () -> x.tanh(), () -> x.softmax(1));
                if (inBranch) {
                    g.ifElseAll(flag, () -> {
                        g.op("assign").in("X", condition.not()).to("Out", condition).append();
                        return List.of();
                    }, () -> List.of());
                } else {
                    g.op("assign").in("X", condition.not()).to("Out", condition).append();
                }
                Value second = g.ifElse(condition, () -> first.times(2), () -> first.minus(1));
                return Outputs.of("y", second).and("condition", condition.cast(INT32).plus(1)).and("fetched",
                        condition);
            });
            written.assertEqualsInterpreter(1, 12, "written in a branch: " + inBranch);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void randomProgramsEqualTheInterpreter(int threads) {
        int cut = 0;
        for (int seed = 0; seed < PROGRAMS; seed++) {
            String where = "seed " + seed + ", threads " + threads;
            Case made = random(seed);
            try {
                made.assertEqualsInterpreter(threads, 10, where);
                cut += made.isCut() ? 1 : 0;
            } catch (RuntimeException e) {
                throw new AssertionError(where + ": " + e.getMessage(), e);
            }
        }
        assertTrue(cut > PROGRAMS / 2, cut + " of " + PROGRAMS + " programs have plans for outcomes");
    }

    private static Case random(int seed) {
        Random random = new Random(seed);
        DType integers = random.nextBoolean() ? INT64 : INT32;
        long[] dims = random.nextBoolean() ? new long[0] : new long[]{1};
        return Case.of(integers, dims, (g, x, n, flag) -> {
            List<Value> conditions = new ArrayList<>();
            List<Value> known = new ArrayList<>(List.of(x, x.times(0.5)));
            for (int i = 0; i < 2 + random.nextInt(5); i++) {
                Value a = known.get(random.nextInt(known.size()));
                known.add(random.nextInt(3) == 0
                        ? g.linear(a, WIDTH)
                        : branches(g, random, new Source(a, known.getLast(), n, flag, conditions), 0));
            }
            Outputs outputs = Outputs.of("y", known.getLast().tanh()).and("middle", known.get(known.size() / 2));
            return conditions.isEmpty() ? outputs : outputs.and("condition", conditions.getFirst());
        });
    }

    /** What branches read. Conditions outside of branches are collected. */
    private record Source(Value a, Value b, Value n, Value flag, List<Value> conditions) {
        Source with(Value first) {
            return new Source(first, b, n, flag, new ArrayList<>());
        }

        Value condition(Random random) {
            if (!conditions.isEmpty() && random.nextInt(3) == 0) {
                return conditions.getFirst();
            }
            Value condition = switch (random.nextInt(7)) {
                case 0 -> flag.or(flag);
                case 1 -> n.greaterThan(random.nextInt(3));
                case 2 -> n.cast(BOOL);
                case 3 -> flag.and(n.equalTo(random.nextInt(4)));
                case 4 -> flag.not();
                case 5 -> n.plus(1).lessThan(3).and(flag.not());
                default -> a.mean().greaterThan(0);
            };
            conditions.add(condition);
            return condition;
        }
    }

    private static Value branches(Graph g, Random random, Source from, int depth) {
        Value condition = from.condition(random);
        int other = random.nextInt(6);
        int effect = random.nextInt(12);
        Value outer = from.b().plus(0.5);
        List<Value> both = g.ifElseAll(condition, () -> {
            if (effect == 0) {
                g.op("assert").in("Cond", from.n().lessThan(9)).append();
            } else if (effect <= 2) {
                // A branch overwrites a variable, which is read after it.
                g.op("assign").in("X", from.a().tanh()).to("Out", outer).append();
            }
            return List.of(side(g, random, from, depth), from.b());
        }, () -> {
            Value second = side(g, random, from.with(from.b()), depth);
            return switch (other) {
                case 0 -> List.of(from.a(), from.a());
                case 1 -> List.of(from.b(), second);
                case 2 -> List.of(second, from.b().meanKeeping(0));
                default -> List.of(second, second);
            };
        });
        return both.getFirst().plus(random.nextBoolean() ? both.getLast() : outer.times(0.1));
    }

    private static Value side(Graph g, Random random, Source from, int depth) {
        Value a = from.a();
        return switch (random.nextInt(depth < 2 ? 8 : 6)) {
            case 0 -> a.softmax(1);
            case 1 -> a.plus(from.b()).times(0.5);
            case 2 -> g.linear(a, WIDTH).tanh();
            case 3 -> a.reshape(-1, 2, 2).transpose(0, 2, 1).reshape(-1, WIDTH);
            case 4 -> a.plus(a.maskedSelect(a.greaterThan(0.1)).sum().times(0.01));
            case 5 -> a.plus(from.n().cast(FLOAT32).sum());
            default -> branches(g, random, from.with(a.tanh()), depth + 1);
        };
    }

    /** More conditions than plans know: the others are interpreted. */
    @Test
    void manyConditionsLeaveSomeBranches() {
        Case many = Case.of(INT64, new long[]{1}, (g, x, n, flag) -> {
            Value y = x;
            for (int i = 0; i < 6; i++) {
                Value before = y;
                y = g.ifElse(i == 5 ? flag.not() : n.mod(g.full(INT64, 2 + i % 3, 1)).equalTo(i % 2),
                        () -> before.tanh().plus(0.1), () -> g.linear(before, WIDTH));
            }
            return Outputs.of("y", y);
        });
        assertTrue(many.isCut());
        many.assertEqualsInterpreter(1, 40, "six conditions");
    }

    /** Threads that run one plan feed different conditions. */
    @Test
    void concurrentRunsAreApart() {
        for (int seed = 0; seed < 6; seed++) {
            Case made = random(seed);
            try (Executor executor = Executor.builder().threads(1).specialisations(2).build()) {
                executor.run(made.network().startup());
                Plan plan = made.plan(executor);
                List<Results> alone = IntStream.range(0, 8).mapToObj(run -> plan.run(made.feeds(run))).toList();
                IntStream.range(0, 64).parallel().forEach(run -> {
                    Results found = plan.run(made.feeds(run * 5 % 8));
                    made.names()
                            .forEach(name -> Bits.assertSame(alone.get(run * 5 % 8).get(name), found.get(name), name));
                });
            }
        }
    }
}
