package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
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
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What follows loops is compiled with them where they keep the types of their variables. */
@Timeout(120)
class NestedLoopsTest {
    private static final int WIDTH = 4;
    private static final int PROGRAMS = Boolean.getBoolean("seriatim.full") ? 400 : 30;
    /** The rows of x, and n, for each run. */
    private static final int[][] FEEDS = {{2, 3}, {2, 0}, {3, 1}, {2, 3}, {1, 2}};

    private static Plan plan(Executor executor, Network network) {
        return executor.compile(network.main(), feeds("x", "n"), fetches(names(network).toArray(String[]::new)));
    }

    private static List<String> names(Network network) {
        return network.outputs().values().values().stream().map(Value::name).toList();
    }

    private static Value zero(Graph g) {
        return g.full(INT64, 0, 1);
    }

    private static void set(Graph g, Value variable, Value to) {
        g.op("assign").in("X", to).to("Out", variable).append();
    }

    /** The next value of a loop's variable. */
    private interface Step {
        Value of(Graph g, Value a, Value x);
    }

    private static boolean hasRest(Step next) {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            Value end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)),
                    v -> List.of(v.getFirst().plus(1), next.of(g, v.get(1), x)), zero(g), x.times(1)).get(1);
            return Outputs.of("y", end.plus(1).tanh().mean(0));
        });
        try (Executor executor = Executor.builder().threads(1).build()) {
            return plan(executor, network).specialisation(executor.scope(), Sharing.NONE, Bits.normal(1, 3, WIDTH),
                    Bits.longs(1)).tasks().stream().anyMatch(Task.Rest.class::isInstance);
        }
    }

    @Test
    void whatFollowsLoopsThatKeepTypesIsInThePlan() {
        assertEquals(false, hasRest((g, a, x) -> a.plus(x).tanh()));
        assertEquals(false, hasRest((g, a, x) -> {
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(2)),
                    v -> List.of(v.getFirst().plus(1), v.get(1).softmax(1)), zero(g), a.times(2)).get(1).plus(x);
        }), "a loop in a loop");
        assertEquals(false, hasRest((g, a, x) -> {
            Value other = a.plus(1);
            g.ifElseAll(a.mean().greaterThan(0), () -> {
                set(g, other, x.tanh());
                return List.of();
            }, () -> List.of());
            return other;
        }), "a branch that overwrites a variable");
        assertTrue(hasRest((g, a, x) -> g.concat(0, a, x)), "rows are added");
        assertTrue(hasRest((g, a, x) -> a.meanKeeping(0)), "other sizes after the first iteration");
    }

    /** A variable whose size changes only because another one's does, and only in the second iteration. */
    @Test
    void typesFollowFromWhatVariablesTakeOver() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)),
                    v -> List.of(v.getFirst().plus(1), v.get(2), v.get(3), v.get(3).meanKeeping(0), v.get(4).tanh()),
                    zero(g), x.times(1), x.times(2), x.times(3), x.times(4));
            return Outputs.of("a", end.get(1).times(2), "b", end.get(4).plus(1));
        });
        equalsTheInterpreter(network, 1, "chain");
    }

    /** One iteration of a loop in one of a loop and so on, each with a variable whose rows change. */
    private static Value nested(Graph g, int depth, Value a) {
        return depth == 0
                ? a.tanh()
                : g.whileLoop(v -> List.of(v.getFirst().lessThan(1)),
                        v -> List.of(v.getFirst().plus(1), nested(g, depth - 1, v.get(1)),
                                g.concat(0, v.get(2), v.get(1))),
                        zero(g), a.times(1), a.times(1)).get(1);
    }

    /** The time of compilation does not double with each level. */
    @Test
    void loopsMayBeNestedDeeply() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            g.data("n", INT64, 1);
            return Outputs.of("y", nested(g, 30, x).plus(1));
        });
        equalsTheInterpreter(network, 1, "thirty levels");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void randomProgramsEqualTheInterpreter(int threads) {
        for (int seed = 0; seed < PROGRAMS; seed++) {
            equalsTheInterpreter(random(seed), threads, "seed " + seed);
        }
    }

    private static void equalsTheInterpreter(Network network, int threads, String where) {
        List<String> names = names(network);
        try (Executor executor = Executor.builder().threads(threads).eager().specialisations(2).build()) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            interpreter.run(network.startup(), Map.of(), List.of());
            interpreter.names().forEach(name -> executor.scope().set(name, Bits.copy(interpreter.get(name))));
            Plan plan = plan(executor, network);
            for (int run = 0; run < FEEDS.length; run++) {
                Tensor x = Bits.normal(run, FEEDS[run][0], WIDTH);
                Tensor n = Bits.longs(FEEDS[run][1]);
                Map<String, Tensor> expected = interpreter.run(network.main(), Map.of("x", x, "n", n), names);
                Results found = plan.run(x, n);
                for (String name : names) {
                    Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(name),
                            where + ", run " + run + ", " + name);
                }
                for (String name : interpreter.names()) {
                    Bits.assertSame(interpreter.get(name), executor.scope().get(name), where + ", " + name);
                }
            }
        } catch (RuntimeException e) {
            throw new AssertionError(where + ", threads " + threads + ": " + e.getMessage(), e);
        }
    }

    private static Network random(int seed) {
        return Network.define(seed + 1, g -> {
            Random random = new Random(seed);
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            Value total = x.times(0.25);
            Value count = g.full(INT64, 0, 1);
            boolean trains = random.nextInt(4) == 0;
            Value first = trains ? g.linear(x, WIDTH) : x.tanh();
            List<Value> end = new Loops(g, random, n, total, count, !trains).of(first, x.times(0.5), 0);
            Value a = end.getFirst().plus(x.meanKeeping(0));
            Value loss = a.tanh().mean();
            if (trains) {
                g.minimize(loss, Sgd.of(0.1));
            }
            return Outputs.of("all", g.concat(0, a.meanKeeping(0), end.getLast().meanKeeping(0), total), "loss", loss,
                    "count", count.plus(1));
        });
    }

    /** Loops within loops, whose variables are swapped, passed on, overwritten in blocks below, or take turns. */
    private record Loops(Graph g, Random random, Value n, Value total, Value count, boolean overwrites) {
        List<Value> of(Value a, Value b, int depth) {
            Value last = random.nextInt(3) == 0 ? n : g.full(INT64, random.nextInt(3), 1);
            boolean grows = random.nextInt(6) == 0;
            boolean copies = random.nextBoolean();
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                List<Value> next = body(v.get(1), v.get(2), depth);
                return List.of(v.getFirst().plus(1), next.getFirst(),
                        grows ? g.concat(0, v.get(2), next.getLast()).meanKeeping(0) : next.getLast());
            }, zero(g), copies ? a.times(1) : a.plus(0.1), b.times(1));
            return List.of(end.get(1), end.get(2));
        }

        private List<Value> body(Value a, Value b, int depth) {
            Value c = a;
            Value d = b;
            for (int i = 0; i <= random.nextInt(3); i++) {
                switch (random.nextInt(depth < 2 ? 8 : 5)) {
                    case 0 -> c = c.plus(d).times(0.5);
                    case 1 -> c = g.linear(c, WIDTH).tanh();
                    case 2 -> {
                        Value swapped = c;
                        c = d;
                        d = swapped;
                    }
                    case 3 -> overwrite(c);
                    case 4 -> d = branch(c, d);
                    default -> {
                        List<Value> inner = of(c, d, depth + 1);
                        c = random.nextBoolean() ? inner.getFirst() : inner.getFirst().plus(c).tanh();
                        d = inner.getLast();
                    }
                }
            }
            return List.of(c, d);
        }

        /** Overwrites variables of the outermost block. */
        private void overwrite(Value c) {
            if (!overwrites) {
                return;
            }
            if (random.nextBoolean()) {
                g.op("increment").in("X", count).attr("step", 1f).to("Out", count).append();
            }
            Value before = total.times(0.5);
            set(g, total, before.plus(c.meanKeeping(0)));
        }

        private Value branch(Value c, Value d) {
            if (!overwrites || random.nextBoolean()) {
                return g.ifElse(c.mean().greaterThan(0), () -> c.times(0.5), () -> d);
            }
            Value kept = d.times(0.5);
            g.ifElseAll(c.mean().greaterThan(0.1), () -> {
                set(g, kept, random.nextBoolean() ? c : c.tanh());
                overwrite(d);
                return List.of();
            }, () -> List.of());
            return kept.plus(d);
        }
    }

    /** An inner loop fails in the third iteration of the outer one: what outlives runs is as before. */
    @Test
    void aFailureLeavesWhatOutlivesRunsWhole() {
        Network network = Network.define(2, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            Value hidden = g.linear(x, WIDTH);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                List<Value> inner = g.whileLoop(w -> List.of(w.getFirst().lessThan(2)), w -> {
                    g.op("assert").in("Cond", v.getFirst().lessThan(2)).append();
                    return List.of(w.getFirst().plus(1), w.get(1).plus(v.get(1)).tanh());
                }, zero(g), v.get(1).times(1));
                return List.of(v.getFirst().plus(1), inner.get(1).plus(0.5));
            }, zero(g), hidden);
            Value loss = end.get(1).mean();
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            Plan plan = plan(executor, network);
            Tensor x = Bits.normal(1, 3, WIDTH);
            for (int run = 0; run < 3; run++) {
                Map<String, Tensor> before = new HashMap<>();
                executor.scope().names().forEach(name -> before.put(name, Bits.copy(executor.scope().get(name))));
                assertThrows(ProgramFailedException.class, () -> plan.run(x, Bits.longs(3)));
                before.forEach((name, value) -> Bits.assertSame(value, executor.scope().get(name), name));
                plan.run(x, Bits.longs(2));
                List<String> changed = new ArrayList<>();
                before.forEach((name, value) -> {
                    if (!Arrays.equals(value.toDoubleArray(),
                            executor.scope().get(name).toDoubleArray())) {
                        changed.add(name);
                    }
                });
                assertTrue(changed.size() >= 2, changed::toString);
            }
        }
    }
}
