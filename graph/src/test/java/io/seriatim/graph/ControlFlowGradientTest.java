package io.seriatim.graph;

import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT64;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Gradients through branches, loops and recurrent networks against differences of the loss. */
class ControlFlowGradientTest {
    private static final long SEED = 20;

    private final Map<String, Tensor> feeds = new LinkedHashMap<>();
    private final Random random = new Random(SEED);

    private Value input(Graph graph, String name, long... dims) {
        int count = 1;
        for (long dim : dims) {
            count *= Math.toIntExact(dim);
        }
        feeds.put(name, Tensor.of(FLOAT64, random.doubles(count, -0.9, 0.9).toArray(), dims));
        return graph.data(name, FLOAT64, dims).wantGradient();
    }

    private Value flag(Graph graph, String name, boolean value) {
        feeds.put(name, Tensor.of(BOOL, new double[]{value ? 1 : 0}, 1));
        return graph.data(name, BOOL, 1);
    }

    /** The loss reads x [2,3] and w [3,3]. Its gradients are right when it is asked for them again, too. */
    private void check(String what, LossOf loss) {
        Network.define(graph -> {
            Value x = input(graph, "x", 2, 3);
            Value w = input(graph, "w", 3, 3);
            Value made = loss.of(graph, x, w);
            Program forward = graph.main().copy();
            List<String> gradients = NumericGradientTest.names(graph.gradients(List.of(made), List.of(x, w)));
            GradientCheck differences = new GradientCheck(forward, made.name(), feeds);
            differences.check(what + ", seed " + SEED, graph.main(), List.of("x", "w"), gradients, SEED);
            List<String> again = NumericGradientTest.names(graph.gradients(List.of(made.times(1)), List.of(x, w)));
            differences.check(what + " in a second call, seed " + SEED, graph.main(), List.of("x", "w"), again, SEED);
            return Outputs.none();
        });
        second(what, loss);
    }

    /** The gradients of some sum of the gradients, also a second time, beside the gradients of the loss. */
    private void second(String what, LossOf loss) {
        Network.define(graph -> {
            Value x = input(graph, "x", 2, 3);
            Value w = input(graph, "w", 3, 3);
            Value made = loss.of(graph, x, w);
            List<Value> slopes = graph.gradients(List.of(made), List.of(x, w)).stream().filter(Objects::nonNull)
                    .toList();
            Value sum = graph
                    .addAll(slopes.stream().map(each -> each.square().plus(each.sin()).sum()).toArray(Value[]::new));
            Program first = graph.main().copy();
            List<String> gradients = NumericGradientTest.names(graph.gradients(List.of(sum), List.of(x, w)));
            GradientCheck differences = new GradientCheck(first, sum.name(), feeds);
            differences.check(what + ", second gradients, seed " + SEED, graph.main(), List.of("x", "w"), gradients,
                    SEED);
            List<String> again = NumericGradientTest.names(graph.gradients(List.of(sum.times(1)),
                    List.of(x, w)));
            differences.check(what + ", second gradients in a further call, seed " + SEED, graph.main(),
                    List.of("x", "w"), again, SEED);
            return Outputs.none();
        });
    }

    @FunctionalInterface
    private interface LossOf {
        Value of(Graph graph, Value x, Value w);
    }

    /** x to the power of 5 by a loop: its first, second and third derivative. */
    @Test
    void derivativesOfAPower() {
        Network.define(g -> {
            Value x = g.data("x", FLOAT64, 1).wantGradient();
            Value five = g.full(INT64, 5, 1);
            Value target = g.whileLoop(v -> List.of(v.getFirst().lessThan(five)),
                    v -> List.of(v.getFirst().plus(1), v.get(1).times(x)), g.full(INT64, 0, 1), g.full(FLOAT64, 1, 1))
                    .get(1);
            List<String> names = new ArrayList<>();
            for (int order = 1; order <= 3; order++) {
                target = Objects.requireNonNull(g.gradients(List.of(target), List.of(x)).getFirst());
                names.add(target.name());
            }
            Map<String, Tensor> found = Interpreter.of(Kernels.portable()).run(g.main(),
                    Map.of("x", Tensor.of(FLOAT64, new double[]{1.5}, 1)), names);
            double[] expected = {5 * Math.pow(1.5, 4), 20 * Math.pow(1.5, 3), 60 * Math.pow(1.5, 2)};
            for (int i = 0; i < expected.length; i++) {
                assertEquals(expected[i], Objects.requireNonNull(found.get(names.get(i))).getDouble(0), 1e-12);
            }
            return Outputs.none();
        });
    }

    /** A loop whose steps make a list cannot be recorded: the program stays as it was. */
    @Test
    void refusesListsOfSteps() {
        Network.define(g -> {
            Value x = g.data("x", FLOAT64, 2).wantGradient();
            Value two = g.full(INT64, 2, 1);
            Value loss = g.whileLoop(v -> List.of(v.getFirst().lessThan(two)), v -> {
                Value list = g.op("write_to_array").in("X", v.get(1).times(x)).in("I", g.full(INT64, 0, 1)).one("Out");
                Value all = g.op("tensor_array_to_tensor").in("X", list).all("Out", "OutIndex").getFirst();
                return List.of(v.getFirst().plus(1), all);
            }, g.full(INT64, 0, 1), x.sin()).get(1).sum();
            Value slope = Objects.requireNonNull(g.gradients(List.of(loss), List.of(x)).getFirst());
            Value sum = slope.square().sum();
            String before = g.main().toString();
            IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
                    () -> g.gradients(List.of(sum), List.of(x)));
            assertTrue(String.valueOf(refusal.getMessage()).contains("make the list outside of the loop or branch"),
                    refusal.getMessage());
            assertEquals(before, g.main().toString());
            return Outputs.none();
        });
    }

    @Test
    void straight() {
        check("straight", (_, x, w) -> x.matmul(w).tanh().mean());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void branch(boolean taken) {
        check("branch", (g, x, w) -> {
            Value h = x.matmul(w).tanh();
            return g.ifElse(flag(g, "c", taken), () -> h.matmul(w).sigmoid().times(h), () -> h.exp().plus(x)).square()
                    .mean();
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void branchBesideOtherReaders(boolean taken) {
        check("branch beside other readers", (g, x, w) -> {
            Value h = x.matmul(w);
            Value before = h.tanh();
            Value chosen = g.ifElse(flag(g, "c", taken), () -> h.times(2).times(w.sum()), () -> before.times(h));
            return chosen.plus(h.sin()).times(before).mean();
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void branchThatPassesItsInput(boolean taken) {
        check("branch that passes its input", (g, x, w) -> {
            Value h = x.matmul(w);
            return g.ifElse(flag(g, "c", taken), () -> h, h::tanh).times(x).mean();
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void branchOfConstants(boolean taken) {
        check("branch of constants", (g, x, w) -> {
            Value h = x.matmul(w);
            Value chosen = g.ifElse(flag(g, "c", taken), () -> g.full(FLOAT64, 3, 2, 3), () -> h.square());
            return chosen.times(x).times(w.mean()).mean();
        });
    }

    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void branchInBranch(boolean outer, boolean inner) {
        check("branch in branch", (g, x, w) -> {
            Value h = x.matmul(w).tanh();
            Value c = flag(g, "c", outer);
            Value d = flag(g, "d", inner);
            return g.ifElse(c, () -> {
                Value own = h.times(x);
                return g.ifElse(d, () -> own.matmul(w), own::exp).times(own);
            }, () -> h.matmul(w).sin()).times(h).mean();
        });
    }

    /** Operations of gradients whose own gradients are derived. */
    private static Value firstGradients(Graph g, Value h) {
        Value exponential = h.exp();
        Value slope = g.op("exp_grad").in("Out", exponential).in("Out@GRAD", h).one("X@GRAD");
        List<Value> norm = g.op("layer_norm").in("X", slope).attr("begin_norm_axis", 1).all("Y", "Mean", "Variance");
        return g.op("layer_norm_grad").in("X", slope).in("Mean", norm.get(1)).in("Variance", norm.get(2))
                .in("Y@GRAD", h.sin()).attr("begin_norm_axis", 1).one("X@GRAD").plus(norm.getFirst());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void gradientsInBranches(boolean taken) {
        check("gradients in branches", (g, x, w) -> {
            Value h = x.matmul(w);
            return g.ifElse(flag(g, "c", taken), () -> firstGradients(g, h), () -> firstGradients(g, h.tanh()))
                    .square().mean();
        });
    }

    @Test
    void gradientsInALoop() {
        check("gradients in a loop",
                (g, x, w) -> loop(g, x, 3, h -> firstGradients(g, h.matmul(w).tanh()).times(0.3)).square().mean());
    }

    @Test
    void twoResults() {
        check("two results", (g, x, w) -> {
            List<Value> both = g.ifElseAll(flag(g, "c", true), () -> List.of(x.tanh(), x.matmul(w)),
                    () -> List.of(x.exp(), x.matmul(w).sin()));
            return both.getFirst().times(both.getLast()).plus(both.getFirst()).mean();
        });
    }

    /** A loop of three steps over one state. */
    private static Value loop(Graph g, Value first, long steps, Function<Value, Value> body) {
        Value last = g.full(INT64, (double) steps, 1);
        return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                v -> List.of(v.getFirst().plus(1), body.apply(v.getLast())),
                g.full(INT64, 0, 1), first).getLast();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 3})
    void loop(long steps) {
        check("loop of " + steps,
                (g, x, w) -> loop(g, x.matmul(w), steps, h -> h.matmul(w).tanh().plus(x)).square().mean());
    }

    @Test
    void loopWhoseWeightIsReadAfterwards() {
        check("loop, its weight read afterwards",
                (g, x, w) -> loop(g, x.matmul(w), 3, h -> h.matmul(w).matmul(w).sin()).matmul(w).times(x).mean());
    }

    @Test
    void loopWhoseFirstValueIsReadBefore() {
        check("loop, its first value read before", (g, x, w) -> {
            Value h = x.matmul(w);
            Value read = h.square();
            return loop(g, h, 3, each -> each.matmul(w).tanh()).plus(read).mean();
        });
    }

    @Test
    void loopWhoseFirstValueIsItsOwnGradientsInput() {
        // The gradient of tanh reads its output, which the loop must not have overwritten.
        check("loop after tanh", (g, x, w) -> loop(g, x.matmul(w).tanh(), 3, h -> h.matmul(w).sin()).mean());
    }

    @Test
    void loopThatStartsWithAnInput() {
        check("loop that starts with what is fed", (g, x, w) -> loop(g, x, 2, h -> h.matmul(w).tanh()).times(x).mean());
    }

    @Test
    void twoStates() {
        check("two states", (g, x, w) -> {
            Value last = g.full(INT64, 3, 1);
            List<Value> results = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                Value a = v.get(1).matmul(w).tanh();
                return List.of(v.getFirst().plus(1), a.plus(v.get(2).times(0.5)), v.get(2).times(v.get(1)));
            }, g.full(INT64, 0, 1), x.matmul(w), x.plus(0.5));
            return results.get(1).times(results.get(2)).plus(results.get(2)).mean();
        });
    }

    @Test
    void stateThatStays() {
        check("a state that stays", (g, x, w) -> {
            Value last = g.full(INT64, 3, 1);
            List<Value> results = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.get(1).times(v.get(2)), v.get(2)), g.full(INT64, 0, 1),
                    x.matmul(w), x.plus(0.5));
            return results.get(1).plus(results.get(2)).mean();
        });
    }

    @Test
    void statesThatSwap() {
        check("states that swap", (g, x, w) -> {
            Value last = g.full(INT64, 3, 1);
            List<Value> results = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.get(2).matmul(w).sin(), v.get(1)), g.full(INT64, 0, 1),
                    x.matmul(w), x.plus(0.5));
            Value y = results.get(1);
            for (Value each : List.of(x.plus(0.5).matmul(w).sin(), x.matmul(w).matmul(w).sin())) {
                y = y.plus(each.times(0.1));
            }
            return y.times(2).plus(results.get(2)).mean();
        });
    }

    @Test
    void valuesOfStatesThatSwap() {
        Network network = Network.define(g -> {
            Value last = g.full(INT64, 3, 1);
            List<Value> results = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1), v.get(2), v.get(1)), g.full(INT64, 0, 1), g.full(INT64, 5, 1),
                    g.full(INT64, 7, 1));
            return Outputs.of("a", results.get(1), "b", results.get(2));
        });
        List<String> names = NumericGradientTest.names(List.copyOf(network.outputs().values().values()));
        Map<String, Tensor> results = Interpreter.of(Kernels.portable()).run(network.main(), Map.of(), names);
        assertEquals(List.of(7L, 5L),
                names.stream().map(name -> Objects.requireNonNull(results.get(name)).toLongArray()[0]).toList());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void branchInLoop(boolean taken) {
        check("branch in loop", (g, x, w) -> {
            Value c = flag(g, "c", taken);
            return loop(g, x.matmul(w), 3, h -> g.ifElse(c, () -> h.matmul(w).tanh(), () -> h.times(x).sin())).square()
                    .mean();
        });
    }

    @Test
    void branchThatChangesInLoop() {
        check("a branch that changes in a loop", (g, x, w) -> {
            Value last = g.full(INT64, 4, 1);
            Value two = g.full(INT64, 2, 1);
            return g.whileLoop(v -> List.of(v.getFirst().lessThan(last)), v -> {
                Value h = v.getLast();
                return List.of(v.getFirst().plus(1),
                        g.ifElse(v.getFirst().lessThan(two), () -> h.matmul(w).tanh(), () -> h.times(x).sin()));
            }, g.full(INT64, 0, 1), x.matmul(w)).getLast().mean();
        });
    }

    @Test
    void loopInLoop() {
        check("loop in loop",
                (g, x, w) -> loop(g, x.matmul(w), 2,
                        h -> loop(g, h.plus(x), 3, inner -> inner.matmul(w).tanh().plus(h))).mean());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void loopInBranch(boolean taken) {
        check("loop in branch", (g, x, w) -> {
            Value h = x.matmul(w);
            return g.ifElse(flag(g, "c", taken), () -> loop(g, h.plus(0.1), 3, each -> each.matmul(w).tanh()),
                    () -> h.sin()).times(x)
                    .mean();
        });
    }

    @Test
    void recurrent() {
        check("recurrent", (g, x, w) -> {
            Value sequence = g.stack(0, x, x.tanh(), x.sin(), x.times(0.3));
            Value first = x.matmul(w);
            List<Value> outputs = g.staticRnn(rnn -> {
                Value step = rnn.step(sequence);
                Value state = rnn.state(first);
                Value next = state.matmul(w).plus(step).tanh();
                rnn.update(state, next);
                rnn.output(next.times(2));
            });
            return outputs.getFirst().square().mean();
        });
    }

    @Test
    void recurrentWithTwoStates() {
        check("recurrent with two states", (g, x, w) -> {
            Value sequence = g.stack(0, x, x.tanh(), x.sin());
            Value first = x.matmul(w);
            Value second = x.exp();
            List<Value> outputs = g.staticRnn(rnn -> {
                Value step = rnn.step(sequence);
                Value a = rnn.state(first);
                Value b = rnn.state(second);
                Value next = a.matmul(w).plus(step).tanh();
                rnn.update(a, next.times(b));
                rnn.update(b, b.times(0.7).plus(a));
                rnn.output(next);
                rnn.output(b.times(step));
            });
            return outputs.getFirst().times(outputs.getLast()).mean();
        });
    }
}
