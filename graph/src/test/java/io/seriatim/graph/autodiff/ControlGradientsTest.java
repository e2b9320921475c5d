package io.seriatim.graph.autodiff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Gradients through branches, loops and recurrences against central differences. */
class ControlGradientsTest {
    private static final double STEP = 1e-3;

    /** Three variables [2, 3], [3, 3] and [2, 3], and from them a result of any shape. */
    @FunctionalInterface
    private interface Body extends BiFunction<Graph, List<Value>, Value> {
    }

    @TestFactory
    Stream<DynamicTest> gradients() {
        Map<String, Body> bodies = new HashMap<>();
        for (int steps : new int[]{0, 1, 3}) {
            bodies.put("loop of " + steps, (g, in) -> loop(g, steps, in.get(0).assign(), in.get(1)));
        }
        bodies.put("loop, and its variable before and after", (g, in) -> {
            Value first = in.get(0).times(2).assign();
            Value before = first.exp();
            return loop(g, 2, first.assign(), in.get(1)).times(before).plus(in.get(2));
        });
        bodies.put("variable that is read in a loop, before and after", (g, in) -> {
            Value w = in.get(1).tanh();
            return loop(g, 2, in.get(0).matmul(w).assign(), w).matmul(w);
        });
        bodies.put("loop in a loop", ControlGradientsTest::nested);
        bodies.put("branch in a loop", (g, in) -> g.whileLoop(v -> List.of(v.get(0).lessThan(3)),
                v -> List.of(v.get(0).plus(1), g.ifElse(v.get(0).lessThan(1), () -> v.get(1).matmul(in.get(1)).tanh(),
                        () -> v.get(1).times(in.get(2)).sin())),
                counter(g), in.get(0).assign()).get(1));
        bodies.put("loop in a branch",
                (g, in) -> g.ifElse(in.get(0).sum().lessThan(1e9), () -> loop(g, 2, in.get(0).assign(), in.get(1)),
                        () -> in.get(2).exp()));
        bodies.put("loop in a branch that is not taken", (g, in) -> g
                .ifElse(in.get(0).sum().greaterThan(1e9), () -> loop(g, 2, in.get(0).assign(), in.get(1)),
                        () -> in.get(2).exp())
                .plus(in.get(0)));
        bodies.put("variables that change places", (g, in) -> {
            List<Value> ends = g.whileLoop(v -> List.of(v.get(0).lessThan(3)),
                    v -> List.of(v.get(0).plus(1), v.get(2).assign(), v.get(1).times(v.get(2)).tanh()), counter(g),
                    in.get(0).assign(),
                    in.get(2).assign());
            return ends.get(1).plus(ends.get(2).times(3));
        });
        bodies.put("variable that is overwritten unread", (g, in) -> g.whileLoop(v -> List.of(v.get(0).lessThan(3)),
                v -> List.of(v.get(0).plus(1), in.get(2).matmul(in.get(1)).tanh()), counter(g), in.get(0).assign())
                .get(1));
        bodies.put("recurrence", (g, in) -> {
            Value sequence = in.get(0).reshape(2, 1, 3);
            Value first = in.get(2).slice(0, 0, 1);
            return g.staticRnn(rnn -> {
                Value x = rnn.step(sequence);
                Value h = rnn.state(first);
                Value next = x.plus(h.matmul(in.get(1))).tanh();
                rnn.update(h, next);
                rnn.output(next);
            }).getFirst();
        });
        bodies.put("recurrence whose state has other uses", (g, in) -> {
            Value sequence = in.get(0).reshape(2, 1, 3);
            Value first = in.get(2).slice(0, 0, 1);
            List<Value> out = g.staticRnn(rnn -> {
                Value x = rnn.step(sequence);
                Value h = rnn.state(first);
                Value next = x.plus(h.matmul(in.get(1))).tanh();
                rnn.update(h, next);
                rnn.output(next.matmul(in.get(1)).sin());
                rnn.output(next);
            });
            return out.get(0).times(out.get(1));
        });
        bodies.put("recurrence in a loop", (g, in) -> {
            Value first = in.get(2).get(0, 1);
            Value w = in.get(1).get(0, 2);
            return g.whileLoop(v -> List.of(v.get(0).lessThan(2)), v -> List.of(v.get(0).plus(1), g.staticRnn(rnn -> {
                Value x = rnn.step(v.get(1));
                Value h = rnn.state(first);
                Value next = x.times(h).plus(w).tanh();
                rnn.update(h, next);
                rnn.output(next);
            }).getFirst()), counter(g), in.get(0).assign()).get(1);
        });
        return bodies.entrySet().stream().sorted(Map.Entry.comparingByKey())
                .map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> check(entry.getValue())));
    }

    private static Value counter(Graph graph) {
        return graph.full(DType.INT64, 0, 1);
    }

    private static Value loop(Graph graph, int steps, Value first, Value w) {
        return graph
                .whileLoop(v -> List.of(v.get(0).lessThan(steps)),
                        v -> List.of(v.get(0).plus(1), v.get(1).matmul(w).tanh().plus(v.get(1))),
                        counter(graph), first)
                .get(1);
    }

    private static Value nested(Graph graph, List<Value> in) {
        return graph.whileLoop(v -> List.of(v.get(0).lessThan(2)),
                v -> List.of(v.get(0).plus(1), loop(graph, 3, v.get(1).assign(), in.get(1)).times(in.get(2))),
                counter(graph),
                in.get(0).assign()).get(1);
    }

    private static void check(Body body) {
        List<String> names = List.of("a", "w", "b");
        Network network = Network.define(g -> {
            List<Value> in = List.of(g.data("a", DType.FLOAT64, 2, 3).wantGradient(),
                    g.data("w", DType.FLOAT64, 3, 3).wantGradient(),
                    g.data("b", DType.FLOAT64, 2, 3).wantGradient());
            Value result = body.apply(g, in);
            // A weight of its own for each element, so that a gradient in the wrong place shows.
            Value loss = result.times(result.cos()).sum();
            Outputs outputs = Outputs.of("loss", loss);
            List<@Nullable Value> gradients = g.gradients(List.of(loss), in);
            for (int i = 0; i < names.size(); i++) {
                Value gradient = gradients.get(i);
                outputs = gradient == null ? outputs : outputs.and(names.get(i), gradient);
            }
            return outputs;
        });
        Random random = new Random(5);
        Map<String, Tensor> feeds = new HashMap<>();
        feeds.put("a", values(random, 2, 3));
        feeds.put("w", values(random, 3, 3));
        feeds.put("b", values(random, 2, 3));
        for (String name : names) {
            Tensor point = Objects.requireNonNull(feeds.get(name));
            double[] values = point.toDoubleArray();
            Value gradient = network.outputs().values().get(name);
            double[] found = gradient == null ? new double[values.length] : run(network, feeds, gradient.name());
            for (int i = 0; i < values.length; i++) {
                assertEquals(difference(network, feeds, name, i), found[i], 1e-6,
                        "the gradient of " + name + " at " + i + " (seed 5)");
            }
            feeds.put(name, point);
        }
    }

    private static double difference(Network network, Map<String, Tensor> feeds, String name, int index) {
        Map<String, Tensor> moved = new HashMap<>(feeds);
        double[] sides = new double[4];
        for (int side = 0; side < 4; side++) {
            double[] values = Objects.requireNonNull(feeds.get(name)).toDoubleArray();
            values[index] += STEP * (side - (side < 2 ? 2 : 1));
            moved.put(name, Tensor.of(values, feeds.get(name).shape().dims()));
            sides[side] = run(network, moved, network.outputs().get("loss").name())[0];
        }
        return (sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * STEP);
    }

    private static double[] run(Network network, Map<String, Tensor> feeds, String fetch) {
        Tensor found = Interpreter.of(Kernels.portable()).run(network.main(), feeds, List.of(fetch)).get(fetch);
        assertNotNull(found, fetch);
        return found.toDoubleArray();
    }

    private static Tensor values(Random random, long... dims) {
        long size = 1;
        for (long dim : dims) {
            size *= dim;
        }
        return Tensor.of(random.doubles(size, -1, 1).toArray(), dims);
    }
}
