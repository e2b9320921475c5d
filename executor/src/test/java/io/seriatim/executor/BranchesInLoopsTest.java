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
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What follows a branch is compiled with it where both branches give one type, with the interpreter's results. */
@Timeout(120)
class BranchesInLoopsTest {
    private static final int WIDTH = 4;
    private static final int PROGRAMS = Boolean.getBoolean("seriatim.full") ? 300 : 24;

    /** The branch that is taken if a condition is false. */
    private interface OtherBranch {
        Value of(Graph g, Value x);
    }

    private static Network once(UnaryOperator<Value> yes, OtherBranch no) {
        return Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            Value condition = x.mean().greaterThan(n.cast(FLOAT32).mean());
            Value either = g.ifElse(condition, () -> yes.apply(x), () -> no.of(g, x));
            return Outputs.of("y", either.plus(1).tanh().times(x));
        });
    }

    private static boolean hasRest(Network network) {
        try (Executor executor = Executor.builder().threads(1).build()) {
            Plan plan = plan(executor, network);
            return plan.specialisation(executor.scope(), Sharing.NONE, Bits.normal(1, 3, WIDTH), Bits.longs(1)).tasks()
                    .stream().anyMatch(Task.Rest.class::isInstance);
        }
    }

    private static Plan plan(Executor executor, Network network) {
        return executor.compile(network.main(), feeds("x", "n"), fetches(names(network).toArray(String[]::new)));
    }

    private static List<String> names(Network network) {
        return network.outputs().values().values().stream().map(Value::name).toList();
    }

    @Test
    void whatFollowsBranchesOfOneTypeIsInThePlan() {
        Network same =
                once(x -> x.softmax(1), (g, x) -> x.times(2).reshape(-1, 2, 2).transpose(0, 2, 1).reshape(-1, WIDTH));
        assertEquals(false, hasRest(same));
        Network nested = once(x -> x.softmax(1),
                (g, x) -> g.ifElse(x.mean().greaterThan(0), () -> x.plus(1), () -> x.tanh()));
        assertEquals(false, hasRest(nested));
        Network others = once(x -> x.softmax(1), (g, x) -> x.meanKeeping(0));
        assertTrue(hasRest(others), "branches of different sizes");
        Network late = once(x -> x.softmax(1), (g, x) -> {
            Value positive = x.maskedSelect(x.greaterThan(0));
            return positive.reshape(1, -1).meanKeeping(1).plus(x);
        });
        assertTrue(hasRest(late), "sizes that depend on elements");
    }

    /** Whichever branch is taken, also if others follow, and if sizes change. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void randomProgramsEqualTheInterpreter(int threads) {
        for (int seed = 0; seed < PROGRAMS; seed++) {
            Network network = random(seed);
            String where = "seed " + seed + ", threads " + threads;
            try (Executor executor = Executor.builder().threads(threads).eager().specialisations(2).build()) {
                Interpreter interpreter = Interpreter.of(Kernels.system());
                interpreter.run(network.startup(), Map.of(), List.of());
                interpreter.names().forEach(name -> executor.scope().set(name, Bits.copy(interpreter.get(name))));
                Plan plan = plan(executor, network);
                for (int run = 0; run < 5; run++) {
                    Tensor x = Bits.normal(seed + run, 2 + run % 2, WIDTH);
                    Tensor n = Bits.longs(run * 2L);
                    Map<String, Tensor> expected = interpreter.run(network.main(), Map.of("x", x, "n", n),
                            names(network));
                    Results found = plan.run(x, n);
                    for (String name : names(network)) {
                        Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(name),
                                where + ", run " + run + ", " + name);
                    }
                }
            } catch (RuntimeException e) {
                throw new AssertionError(where + ": " + e.getMessage(), e);
            }
        }
    }

    private static Network random(int seed) {
        Random random = new Random(seed);
        return Network.define(seed + 1, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            Value list = g.op("write_to_array").in("X", x).in("I", g.full(INT64, 0, 1)).one("Out");
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                Value i = v.getFirst().plus(1);
                Value a = v.get(1);
                Value b = v.get(2);
                Value either = branches(g, random, a, b, i, 0);
                if (random.nextBoolean()) {
                    g.op("write_to_array").in("X", either).in("I", i).to("Out", list).append();
                }
                Value outer = a.plus(0.5);
                if (random.nextBoolean()) {
                    // A branch overwrites a variable, whose old value was read and whose new value is.
                    Value before = outer.times(0.25);
                    g.ifElseAll(b.mean().greaterThan(0), () -> {
                        g.op("assign").in("X", either.tanh()).to("Out", outer).append();
                        return List.of();
                    }, () -> List.of());
                    either.plus(before);
                }
                Value next = switch (random.nextInt(3)) {
                    case 0 -> either;
                    case 1 -> either.plus(outer).tanh();
                    default -> branches(g, random, either, outer, i, 0);
                };
                return List.of(i, next, random.nextBoolean() ? either : random.nextBoolean() ? a : next.minus(b));
            }, g.full(INT64, 0, 1), x.times(0.5), x.tanh());
            Value first = g.op("read_from_array").in("X", list).in("I", g.full(INT64, 0, 1)).one("Out");
            return Outputs.of("a", end.get(1), "b", end.get(2), "list", first.plus(end.get(1)));
        });
    }

    private static Value branches(Graph g, Random random, Value a, Value b, Value i, int depth) {
        Value condition = random.nextBoolean()
                ? a.mean().greaterThan(b.mean())
                : i.greaterThan(1 + random.nextInt(3));
        int other = random.nextInt(6);
        List<Value> both = g.ifElseAll(condition, () -> List.of(side(g, random, a, b, i, depth), b), () -> {
            // Passed on as they are, swapped, or of another size that fits where it is used.
            Value second = side(g, random, b, a, i, depth);
            return switch (other) {
                case 0 -> List.of(a, a);
                case 1 -> List.of(b, second);
                case 2 -> List.of(second, b.meanKeeping(0));
                default -> List.of(second, second);
            };
        });
        return random.nextBoolean() ? both.getFirst().plus(both.getLast()) : both.getFirst().plus(b.times(0.1));
    }

    private static Value side(Graph g, Random random, Value a, Value b, Value i, int depth) {
        return switch (random.nextInt(depth < 2 ? 7 : 5)) {
            case 0 -> a.softmax(1);
            case 1 -> a.plus(b).times(0.5);
            case 2 -> g.linear(a, WIDTH).tanh();
            case 3 -> a.reshape(-1, 2, 2).transpose(0, 2, 1).reshape(-1, WIDTH);
            case 4 -> a.plus(a.maskedSelect(a.greaterThan(0.1)).sum().times(0.01));
            default -> branches(g, random, a.tanh(), b, i, depth + 1);
        };
    }

    /** Threads that run one plan take different branches. */
    @Test
    void concurrentRunsAreApart() {
        for (int seed = 0; seed < 4; seed++) {
            Network network = random(seed);
            try (Executor executor = Executor.builder().threads(1).build()) {
                executor.run(network.startup());
                Plan plan = plan(executor, network);
                List<String> names = names(network);
                List<Tensor> feeds = new ArrayList<>();
                List<Results> alone = new ArrayList<>();
                for (int i = 0; i < 6; i++) {
                    feeds.add(Bits.normal(i, 3, WIDTH));
                    alone.add(plan.run(feeds.get(i), Bits.longs(5)));
                }
                IntStream.range(0, 48).parallel().forEach(run -> {
                    Results found = plan.run(feeds.get(run % 6), Bits.longs(5));
                    names.forEach(name -> Bits.assertSame(alone.get(run % 6).get(name), found.get(name), name));
                });
            }
        }
    }

    /** A branch fails in the third iteration; later runs are as if it had not happened. */
    @Test
    void aFailureInAnIterationLeavesThePlanUsable() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                Value i = v.getFirst().plus(1);
                Value either = g.ifElse(i.greaterThan(2), () -> {
                    g.op("assert").in("Cond", v.get(1).mean().lessThan(1)).append();
                    return v.get(1).plus(1);
                }, () -> v.get(1).times(2));
                return List.of(i, either.plus(0.5));
            }, g.full(INT64, 0, 1), x);
            return Outputs.of("y", end.get(1));
        });
        String y = names(network).getFirst();
        try (Executor executor = Executor.builder().threads(1).build()) {
            Plan plan = plan(executor, network);
            Tensor good = Tensor.of(new float[]{-4, -4, -4, -4}, 1, WIDTH);
            Tensor bad = Tensor.of(new float[]{4, 4, 4, 4}, 1, WIDTH);
            for (int run = 0; run < 4; run++) {
                assertEquals(-13, plan.run(good, Bits.longs(3)).get(y).getDouble(0, 0), 0);
                assertThrows(ProgramFailedException.class, () -> plan.run(bad, Bits.longs(3)));
                assertEquals(17.5, plan.run(bad, Bits.longs(2)).get(y).getDouble(0, 0), 0);
            }
        }
    }
}
