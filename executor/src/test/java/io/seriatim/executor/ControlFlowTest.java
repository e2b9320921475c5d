package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks of branches and loops are given values by index; their results are those of the interpreter. */
@Timeout(120)
class ControlFlowTest {
    private static final int WIDTH = 4;

    /** The body of a loop over a number of the iteration and two matrices, which also reads a third one. */
    private interface Body {
        List<Value> of(Graph g, Value i, Value a, Value b, Value x);
    }

    private static Network loop(Body body) {
        return Network.define(1, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                List<Value> next = new ArrayList<>(List.of(v.getFirst().plus(1)));
                next.addAll(body.of(g, v.getFirst(), v.get(1), v.get(2), x));
                return next;
            }, g.full(INT64, 0, 1), x.times(0.5), x.tanh());
            // What the loop gives, and what it reads, is read again.
            return Outputs.of("a", end.get(1), "b", end.get(2), "sum", end.get(1).plus(end.get(2)).times(x));
        });
    }

    private static void assertEqualsInterpreter(Network network, int threads) {
        List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            Plan plan = executor.compile(network.main(), feeds("x", "n"), fetches(names.toArray(String[]::new)));
            IdentityHashMap<Tensor, Tensor> earlier = new IdentityHashMap<>();
            for (int run = 0; run < 6; run++) {
                Tensor x = Bits.normal(run, 2 + run % 2, WIDTH);
                Tensor kept = Bits.copy(x);
                Tensor n = Bits.longs(run % 2 == 0 ? run * 2L : run - 1L);
                Map<String, Tensor> expected = interpreter.run(network.main(), Map.of("x", x, "n", n), names);
                Results found = plan.run(x, n);
                for (String name : names) {
                    Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(name),
                            "threads " + threads + ", run " + run + ", " + name);
                }
                Bits.assertSame(kept, x, "the feed");
                // Each result has memory of its own: neither another one nor a later run changes it.
                for (String name : names) {
                    Tensor result = found.get(name);
                    result.memory().asSlice(result.offset(), result.spec().bytes()).fill((byte) earlier.size());
                    earlier.put(result, Bits.copy(result));
                }
                earlier.forEach((result, copy) -> Bits.assertSame(copy, result, "a result of an earlier run"));
            }
        }
    }

    /** The number of iterations is also 0. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void variablesMayComeToHaveOneValue(int threads) {
        List<Body> bodies = List.of((g, i, a, b, x) -> List.of(b, a), (g, i, a, b, x) -> List.of(a, b.plus(1)),
                (g, i, a, b, x) -> List.of(b, b.times(a)), (g, i, a, b, x) -> {
                    Value c = a.plus(b);
                    return List.of(c, c);
                }, (g, i, a, b, x) -> List.of(x, a), (g, i, a, b, x) -> List.of(x, x));
        for (Body body : bodies) {
            assertEqualsInterpreter(loop(body), threads);
        }
    }

    /** A branch gives values of its own, what it was given, or what the loop or the program around it has. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void branchesGiveVariablesAroundThem(int threads) {
        assertEqualsInterpreter(loop((g, i, a, b, x) -> {
            Value condition = a.mean().greaterThan(b.mean());
            List<Value> both = g.ifElseAll(condition, () -> List.of(b, a.plus(1)), () -> List.of(x, x));
            return List.of(both.getFirst().tanh(), both.getLast());
        }), threads);
        assertEqualsInterpreter(loop((g, i, a, b, x) -> {
            Value outer = a.plus(b);
            // The branch overwrites a variable whose value before was read, and is given to the loop.
            Value before = outer.times(0.5);
            g.ifElseAll(i.greaterThan(1), () -> {
                g.op("assign").in("X", b.plus(x)).to("Out", outer).append();
                return List.of();
            }, () -> List.of());
            return List.of(outer, before);
        }), threads);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void loopsInLoopsAndBranches(int threads) {
        assertEqualsInterpreter(loop((g, i, a, b, x) -> {
            List<Value> inner = g.whileLoop(v -> List.of(v.getFirst().lessThan(i)),
                    v -> List.of(v.getFirst().plus(1), v.get(2), v.get(1).times(x).tanh()), g.full(INT64, 0, 1), a,
                    b);
            return List.of(inner.get(1), g.ifElse(i.greaterThan(2), () -> inner.get(2).plus(a), () -> b));
        }), threads);
        assertEqualsInterpreter(loop((g, i, a, b, x) -> {
            Value next = g.ifElse(a.mean().greaterThan(0),
                    () -> g.whileLoop(v -> List.of(v.getFirst().lessThan(3)),
                            v -> List.of(v.getFirst().plus(1), v.get(1).plus(x)), g.full(INT64, 0, 1), a).get(1),
                    () -> b);
            return List.of(b, next);
        }), threads);
    }

    /** Operations that need variables by name, and whose sizes are known late, run between blocks that do not. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void someOperationsNeedNames(int threads) {
        assertEqualsInterpreter(loop((g, i, a, b, x) -> {
            Value positive = a.maskedSelect(a.greaterThan(0.1)).sum();
            Value list = g.op("write_to_array").in("X", a).in("I", g.full(INT64, 0, 1)).one("Out");
            Value next = g.ifElse(i.greaterThan(1), () -> {
                g.op("write_to_array").in("X", b).in("I", g.full(INT64, 1, 1)).to("Out", list).append();
                return b.plus(positive);
            }, () -> a);
            Value first = g.op("read_from_array").in("X", list).in("I", g.full(INT64, 0, 1)).one("Out");
            return List.of(next.tanh(), first.times(0.5).plus(b.maskedSelect(b.greaterThan(0)).sum()));
        }), threads);
    }

    /** A list keeps what the loop or branch then gives as a variable. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aListKeepsWhatABlockGives(int threads) {
        assertEqualsInterpreter(loop((g, i, a, b, x) -> {
            Value list = g.op("write_to_array").in("X", b).in("I", g.full(INT64, 0, 1)).one("Out");
            Value given = g.ifElse(i.greaterThan(0), () -> {
                Value made = a.plus(b).tanh();
                g.op("write_to_array").in("X", made).in("I", g.full(INT64, 0, 1)).to("Out", list).append();
                return made;
            }, () -> a);
            List<Value> inner = g.whileLoop(v -> List.of(v.getFirst().lessThan(3)), v -> {
                Value next = v.get(1).times(x);
                g.op("write_to_array").in("X", next).in("I", v.getFirst()).to("Out", list).append();
                return List.of(v.getFirst().plus(1), next);
            }, g.full(INT64, 1, 1), given);
            Value first = g.op("read_from_array").in("X", list).in("I", g.full(INT64, 0, 1)).one("Out");
            Value last = g.op("read_from_array").in("X", list).in("I", g.full(INT64, 2, 1)).one("Out");
            return List.of(inner.get(1).plus(first), last);
        }), threads);
    }

    @Test
    void concurrentRunsOfOnePlanDoNotMix() throws InterruptedException {
        Network network = loop((g, i, a, b, x) -> {
            Value next = g.ifElse(a.mean().greaterThan(b.mean()), () -> b.plus(x),
                    () -> g.whileLoop(v -> List.of(v.getFirst().lessThan(3)),
                            v -> List.of(v.getFirst().plus(1), v.get(1).times(x)), g.full(INT64, 0, 1), a).get(1));
            return List.of(next, a.tanh());
        });
        String name = network.outputs().get("sum").name();
        try (Executor executor = Executor.builder().threads(1).build()) {
            Plan plan = executor.compile(network.main(), feeds("x", "n"), fetches(name));
            List<Tensor> expected = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                expected.add(Bits.copy(plan.run(Bits.normal(i, 2, WIDTH), Bits.longs(5 + i)).get(name)));
            }
            List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
            List<Thread> threads = IntStream.range(0, 3).mapToObj(i -> Thread.ofPlatform().start(() -> {
                try {
                    for (int run = 0; run < 100; run++) {
                        Tensor found = plan.run(Bits.normal(i, 2, WIDTH), Bits.longs(5 + i)).get(name);
                        Bits.assertSame(expected.get(i), found, "thread " + i + ", run " + run);
                    }
                } catch (Throwable e) {
                    failures.add(e);
                }
            })).toList();
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(List.of(), failures);
        }
    }

    /** What an iteration that fails has written of a variable that outlives runs is whole, and so is all before it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aFailureInAnIterationLeavesPersistableVariablesWhole(int threads) {
        Network network = Network.define(1, g -> {
            Value w = g.parameter(ParameterSpec.DEFAULT, FLOAT32, 2, WIDTH);
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                g.op("assign").in("X", w.plus(1)).to("Out", w).append();
                g.ifElseAll(v.getFirst().greaterThan(2), () -> {
                    g.op("assert").in("Cond", x.mean().lessThan(-9)).append();
                    return List.of();
                }, () -> List.of());
                return List.of(v.getFirst().plus(1), v.get(1).plus(w.mean()));
            }, g.full(INT64, 0, 1), x);
            return Outputs.of("y", end.get(1));
        });
        String w = network.main().persistables().getFirst().name();
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(network.main(), feeds("x", "n"), fetches(y));
            executor.scope().set(w, Tensor.of(new float[2 * WIDTH], 2, WIDTH));
            plan.run(Bits.normal(1, 2, WIDTH), Bits.longs(2));
            assertThrows(ProgramFailedException.class, () -> plan.run(Bits.normal(1, 2, WIDTH), Bits.longs(9)));
            double[] after = executor.scope().get(w).toDoubleArray();
            for (double element : after) {
                assertEquals(after[0], element, "all elements are of one iteration");
            }
            assertTrue(after[0] >= 2 && after[0] <= 6, "of one that has run: " + after[0]);
            plan.run(Bits.normal(1, 2, WIDTH), Bits.longs(1));
            assertEquals(after[0] + 1, executor.scope().get(w).getDouble(0, 0), "the next run goes on from it");
        }
    }

    @Test
    void aTimeLimitEndsANestedLoopWithItsIterations() {
        Network network = loop((g, i, a, b, x) -> {
            Value end = g.whileLoop(v -> List.of(v.getFirst().lessThan(1L << 40)),
                    v -> List.of(v.getFirst().plus(1), v.get(1).tanh()), g.full(INT64, 0, 1), a).get(1);
            return List.of(end, b);
        });
        String name = network.outputs().get("a").name();
        try (Executor executor = Executor.builder().threads(1).build()) {
            Plan plan = executor.compile(network.main(), feeds("x", "n"), fetches(name));
            RunTimeoutException e = assertThrows(RunTimeoutException.class, () -> plan
                    .run(RunOptions.timeout(Duration.ofMillis(300)), Bits.normal(1, 2, WIDTH), Bits.longs(2)));
            assertTrue(
                    String.valueOf(e.getMessage()).matches("(?s).* in iteration \\d{2,} of operation \\d+ \\(while '.*"
                            + " in iteration 1 of operation \\d+ \\(while '.*"),
                    e.getMessage());
        }
    }

    @Test
    void aFailureInABranchLeavesThePlanUsable() {
        Network network = loop((g, i, a, b, x) -> {
            g.ifElseAll(i.greaterThan(2), () -> {
                g.op("assert").in("Cond", a.mean().lessThan(-9)).append();
                return List.of();
            }, () -> List.of());
            return List.of(b, a);
        });
        String name = network.outputs().values().values().iterator().next().name();
        try (Executor executor = Executor.builder().threads(1).build()) {
            Plan plan = executor.compile(network.main(), feeds("x", "n"), fetches(name));
            Tensor x = Bits.normal(1, 2, WIDTH);
            Tensor before = plan.run(x, Bits.longs(2)).get(name);
            for (int run = 0; run < 3; run++) {
                ProgramFailedException failed =
                        assertThrows(ProgramFailedException.class, () -> plan.run(x, Bits.longs(5)));
                assertTrue(String.valueOf(failed.getMessage()).contains("assert"), failed.getMessage());
                Bits.assertSame(before, plan.run(x, Bits.longs(2)).get(name), "after a failure");
            }
        }
    }
}
