package io.seriatim.graph.unroll;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoopUnrollingTest {
    private static final int WIDTH = 4;

    private static Network network(Function<Graph, Value> function) {
        return Network.define(g -> Outputs.of("y", function.apply(g)));
    }

    private static Value feed(Graph g) {
        return g.data("x", FLOAT32, 3, WIDTH);
    }

    /** Repeats a function of the step and some values a number of times. */
    private static List<Value> repeat(Graph g, int times, Function<List<Value>, List<Value>> body, Value... start) {
        List<Value> initial = new ArrayList<>(List.of(g.full(INT64, 0, 1)));
        initial.addAll(List.of(start));
        List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(INT64, times, 1))), v -> {
            List<Value> next = new ArrayList<>(List.of(v.getFirst().plus(1)));
            next.addAll(body.apply(v));
            return next;
        }, initial.toArray(Value[]::new));
        return end.subList(1, end.size());
    }

    private static String name(Network network) {
        return Objects.requireNonNull(network.outputs().get("y")).name();
    }

    private static Program unrolled(Network network) {
        return LoopUnrolling.of(network.main(), List.of("x"), List.of(name(network)),
                Interpreter.of(Kernels.system()));
    }

    private static long count(Program program, String type) {
        return program.global().ops().stream().map(OpDesc::type).filter(type::equals).count();
    }

    private static float[] run(Network network, Program program, Tensor x) {
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        String name = name(network);
        // The second time with what the first has learned.
        interpreter.run(program, Map.of("x", x), List.of(name));
        return Objects.requireNonNull(interpreter.run(program, Map.of("x", x), List.of(name)).get(name))
                .toFloatArray();
    }

    private static Tensor input() {
        Random random = new Random(5);
        return Tensor.of(FLOAT32, random.doubles(3L * WIDTH, -1, 1).toArray(), 3, WIDTH);
    }

    /** Checks that no loop is left, and that the results are those of the loop. */
    private static Program check(Network network) {
        Program unrolled = unrolled(network);
        assertEquals(0, count(unrolled, "while"), unrolled::toString);
        String before = network.main().toString();
        assertArrayEquals(run(network, network.main(), input()), run(network, unrolled, input()), unrolled::toString);
        assertEquals(before, network.main().toString());
        return unrolled;
    }

    @Test
    void theStepsOfALoopFollowOneAnother() {
        Network network = network(g -> {
            Value x = feed(g);
            return repeat(g, 5, v -> List.of(v.get(1).plus(x).tanh()), x).getFirst();
        });
        Program unrolled = check(network);
        assertEquals(5, count(unrolled, "tanh"));
        // The condition before the loop, which nothing reads now.
        assertEquals(1, count(unrolled, "less_than"));
    }

    @Test
    void valuesMayBeExchanged() {
        check(network(g -> {
            Value x = feed(g);
            List<Value> end = repeat(g, 3, v -> List.of(v.get(2), v.get(1)), x.times(2), x.plus(1));
            return end.getFirst().minus(end.getLast().times(3));
        }));
    }

    @Test
    void aLoopMayNotRunAtAll() {
        check(network(g -> {
            Value x = feed(g);
            return repeat(g, 0, v -> List.of(v.get(1).tanh()), x).getFirst().plus(x);
        }));
    }

    @Test
    void loopsMayBeNestedAndDependOnTheStep() {
        Program unrolled = check(network(g -> {
            Value x = feed(g);
            return repeat(g, 3, v -> List.of(repeat(g, 2,
                    w -> List.of(w.get(1).plus(x.gather(v.getFirst(), 0)).tanh()), v.get(1)).getFirst()), x)
                    .getFirst();
        }));
        assertEquals(6, count(unrolled, "tanh"));
        // The row of a step is the same in all inner steps.
        assertEquals(3, count(unrolled, "gather"));
    }

    @Test
    void elementsOfListsBecomeVariables() {
        Network network = network(g -> {
            Value x = feed(g);
            Value list = g.op("write_to_array").in("X", x).in("I", g.full(INT64, 0, 1)).one("Out");
            repeat(g, 4, v -> {
                Value before = g.op("read_from_array").in("X", list).in("I", v.getFirst()).one("Out");
                g.op("write_to_array").in("X", before.times(0.5).tanh()).in("I", v.getFirst().plus(1)).to("Out", list)
                        .append();
                return List.of();
            });
            return g.op("tensor_array_to_tensor").in("X", list).attr("axis", 0).attr("use_stack", true)
                    .all("Out", "OutIndex").getFirst();
        });
        Program unrolled = check(network);
        assertEquals(1, count(unrolled, "stack"));
        assertEquals(0, count(unrolled, "write_to_array"));
    }

    @Test
    void listsAreWrittenWhereOtherOperationsReadThem() {
        Network network = network(g -> {
            Value x = feed(g);
            Value list = g.op("write_to_array").in("X", x).in("I", g.full(INT64, 0, 1)).one("Out");
            repeat(g, 2, v -> {
                g.op("write_to_array").in("X", x.times(2)).in("I", v.getFirst()).to("Out", list).append();
                return List.of();
            });
            Value place = x.greaterThan(5).any().cast(INT64).reshape(1);
            return g.op("read_from_array").in("X", list).in("I", place).one("Out");
        });
        Program unrolled = check(network);
        assertEquals(2, count(unrolled, "array_put"));
    }

    @Test
    void variablesThatAreOverwrittenLaterKeepTheirEarlierValueInLists() {
        check(network(g -> {
            Value x = feed(g);
            Value variable = x.plus(1);
            Value list = g.op("write_to_array").in("X", variable).in("I", g.full(INT64, 0, 1)).one("Out");
            Value kept = repeat(g, 2, v -> List.of(variable), x).getFirst();
            g.op("assign").in("X", x.times(9)).to("Out", variable).append();
            Value first = g.op("read_from_array").in("X", list).in("I", g.full(INT64, 0, 1)).one("Out");
            return first.plus(kept.times(2)).plus(variable);
        }));
    }

    @Test
    void loopsStayLoopsIfTheirLengthIsNotKnown() {
        Network network = network(g -> {
            Value x = feed(g);
            return g.whileLoop(v -> List.of(v.getFirst().mean().lessThan(3)), v -> List.of(v.getFirst().plus(1)), x)
                    .getFirst();
        });
        assertSame(network.main(), unrolled(network));
    }

    @Test
    void longLoopsAndLargeBodiesStayLoops() {
        Network often = network(g -> {
            Value x = feed(g);
            return repeat(g, 100, v -> List.of(v.get(1).tanh()), x).getFirst();
        });
        assertSame(often.main(), unrolled(often));
        Network large = network(g -> {
            Value x = feed(g);
            return repeat(g, 50, v -> {
                Value next = v.get(1);
                for (int i = 0; i < 10; i++) {
                    next = next.tanh();
                }
                return List.of(next);
            }, x).getFirst();
        });
        assertSame(large.main(), unrolled(large));
    }

    @Test
    void programsWhoseSizesAreOpenKeepTheirLoops() {
        Network network = network(g -> repeat(g, 2, v -> List.of(v.get(1).tanh()), g.data("x", FLOAT32, -1, WIDTH))
                .getFirst());
        assertSame(network.main(), unrolled(network));
    }

    @Test
    void loopsOfProgramsWithRandomNumbersStay() {
        Network random = network(g -> {
            Value x = feed(g);
            return g.dropout(repeat(g, 2, v -> List.of(v.get(1).tanh()), x).getFirst(), 0.5);
        });
        assertSame(random.main(), unrolled(random));
    }

    private static Value trained(Graph g, Value loss) {
        g.minimize(loss, Sgd.of(0.1));
        return loss;
    }

    private static Value weight(Graph g) {
        return g.parameter(ParameterSpec.DEFAULT, FLOAT32, WIDTH, WIDTH);
    }

    @Test
    void gradientsOfLoopsAreUnrolledToo() {
        Program unrolled = check(network(g -> {
            Value x = feed(g);
            Value w = weight(g);
            return trained(g, repeat(g, 3, v -> List.of(v.get(1).matmul(w).plus(x.times(0.5)).tanh()), x.times(1))
                    .getFirst().square().mean());
        }));
        assertEquals(3, count(unrolled, "tanh_grad"));
    }

    @Test
    void listsOfTrainedLoopsBecomeVariables() {
        Program unrolled = check(network(g -> {
            Value x = feed(g);
            Value w = weight(g);
            Value list = g.op("write_to_array").in("X", x.matmul(w)).in("I", g.full(INT64, 0, 1)).one("Out");
            repeat(g, 3, v -> {
                Value before = g.op("read_from_array").in("X", list).in("I", v.getFirst()).one("Out");
                g.op("write_to_array").in("X", before.matmul(w).tanh()).in("I", v.getFirst().plus(1))
                        .to("Out", list).append();
                return List.of();
            });
            Value all = g.op("tensor_array_to_tensor").in("X", list).attr("axis", 1).attr("use_stack", true)
                    .all("Out", "OutIndex").getFirst();
            return trained(g, all.square().mean());
        }));
        assertEquals(0, count(unrolled, "tensor_array_to_tensor_grad"));
    }

    @Test
    void gradientsOfBranchesKeepTheLoopsOfATraining() {
        Network network = network(g -> {
            Value x = feed(g);
            Value w = weight(g);
            Value last = repeat(g, 2, v -> List.of(g.ifElse(v.get(1).mean().greaterThan(0), () -> v.get(1).matmul(w),
                    () -> v.get(1).times(2))), x.matmul(w)).getFirst();
            return trained(g, last.square().mean());
        });
        assertSame(network.main(), unrolled(network));
    }

    @Test
    void aLoopThatNeedsItsBlockIsLeftAsItIs() {
        Network network = network(g -> {
            Value x = feed(g);
            Value known = repeat(g, 2, v -> List.of(v.get(1).tanh()), x).getFirst();
            Value branch = repeat(g, 2, v -> List.of(g.ifElse(v.get(1).mean().greaterThan(0), () -> v.get(1).tanh(),
                    () -> v.get(1).times(2))), known).getFirst();
            return repeat(g, 3, v -> List.of(v.get(1).plus(known)), branch).getFirst();
        });
        Program unrolled = unrolled(network);
        assertNotSame(network.main(), unrolled);
        assertEquals(1, count(unrolled, "while"));
        assertArrayEquals(run(network, network.main(), input()), run(network, unrolled, input()));
    }

    /** Nested loops with lists and exchanged values. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25})
    void randomProgramsGiveWhatTheyGaveBefore(long seed) {
        Network network = network(g -> {
            Value x = feed(g);
            Value list = g.op("write_to_array").in("X", x).in("I", g.full(INT64, 0, 1)).one("Out");
            RandomLoops loops = new RandomLoops(g, new Random(seed), list);
            Value last = loops.values(List.of(x, x.times(0.5)), 5, 0).getLast();
            Value stack = g.op("tensor_array_to_tensor").in("X", list).attr("axis", 0).attr("use_stack", true)
                    .all("Out", "OutIndex").getFirst();
            return stack.plus(last);
        });
        Program unrolled = unrolled(network);
        assertArrayEquals(run(network, network.main(), input()), run(network, unrolled, input()), unrolled::toString);
    }

    /** Nested loops with lists, trained. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
    void randomTrainingsLearnWhatTheyLearnedBefore(long seed) {
        Random random = new Random(seed);
        Network network = network(g -> {
            Value x = feed(g);
            Value w = weight(g);
            Value list = g.op("write_to_array").in("X", x.matmul(w)).in("I", g.full(INT64, 0, 1)).one("Out");
            Value last = trainedLoop(g, random, w, list, x.times(0.5), x.matmul(w), 0);
            Value stack = g.op("tensor_array_to_tensor").in("X", list).attr("axis", 0).attr("use_stack", true)
                    .all("Out", "OutIndex").getFirst();
            return trained(g, stack.square().mean().plus(last.tanh().mean()));
        });
        // Gradients of nested loops have lists in blocks, which stay.
        Program unrolled = unrolled(network);
        assertArrayEquals(run(network, network.main(), input()), run(network, unrolled, input()), unrolled::toString);
    }

    private static Value trainedLoop(Graph g, Random random, Value w, Value list, Value a, Value b, int depth) {
        boolean exchanges = random.nextBoolean();
        boolean writes = depth == 0 && random.nextBoolean();
        boolean nests = depth == 0 && random.nextInt(3) == 0;
        int kind = random.nextInt(3);
        return repeat(g, 1 + random.nextInt(3), v -> {
            Value one = v.get(1);
            Value two = nests ? trainedLoop(g, random, w, list, one, v.get(2), 1) : v.get(2);
            Value next = switch (kind) {
                case 0 -> one.matmul(w).plus(two).tanh();
                case 1 -> one.times(two).matmul(w).tanh();
                default -> one.plus(two.matmul(w)).times(0.5).tanh();
            };
            if (writes) {
                g.op("write_to_array").in("X", next).in("I", v.getFirst().plus(1)).to("Out", list).append();
            }
            return exchanges ? List.of(two, next) : List.of(next, two);
        }, a, b).getFirst();
    }

    private record RandomLoops(Graph g, Random random, Value list) {
        List<Value> values(List<Value> outside, int count, int depth) {
            List<Value> known = new ArrayList<>(outside);
            IntStream.range(0, count).forEach(_ -> known.add(next(known, depth)));
            return known;
        }

        private Value any(List<Value> known) {
            return known.get(random.nextInt(known.size()));
        }

        private Value next(List<Value> known, int depth) {
            Value a = any(known);
            Value b = any(known);
            return switch (random.nextInt(depth < 2 ? 9 : 5)) {
                case 0 -> a.plus(b).times(0.5);
                case 1 -> a.times(b).tanh();
                case 2 -> {
                    g.op("assign").in("X", a.minus(b).tanh()).to("Out", b).append();
                    yield a;
                }
                case 3 -> {
                    g.op("write_to_array").in("X", a).in("I", g.full(INT64, 0, 1)).to("Out", list).append();
                    yield b;
                }
                case 4 -> g.op("read_from_array").in("X", list).in("I", g.full(INT64, 0, 1)).one("Out");
                case 5 -> g.ifElse(a.mean().greaterThan(0), () -> values(known, 2, depth + 1).getLast(), () -> b);
                default -> repeat(g, random.nextInt(4), v -> {
                    List<Value> inner = new ArrayList<>(known);
                    inner.addAll(v.subList(1, v.size()));
                    g.op("write_to_array").in("X", v.get(1)).in("I", v.getFirst()).to("Out", list).append();
                    inner.add(v.get(1).times(v.getFirst().cast(FLOAT32)));
                    Value last = values(inner, 1 + random.nextInt(3), depth + 1).getLast();
                    return random.nextBoolean() ? List.of(v.get(2), last) : List.of(last, v.get(1));
                }, a, b).get(random.nextInt(2));
            };
        }
    }
}
