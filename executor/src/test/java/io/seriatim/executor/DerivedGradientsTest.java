package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Plans of second gradients that are derived from steps give what the interpreter gives. */
class DerivedGradientsTest {
    private static final double BOUND = 1e-9;

    static Stream<Supplier<Executor.Builder>> executors() {
        return Stream.of(Executor::builder, () -> PlanProbe.eager(Executor.builder().threads(2)),
                () -> Executor.builder().inPlace(false), () -> Executor.builder().without(Pass.values()));
    }

    private static Value layers(Graph g, Value x) {
        Value norm = g.op("layer_norm").in("X", x).attr("begin_norm_axis", 2).all("Y", "Mean", "Variance")
                .getFirst();
        Value waves = g.op("softmax").in("X", norm).attr("axis", -1).one("Out").exp();
        Value pooled = g.op("pool2d").in("X", waves).attr("ksize", new int[]{2, 2}).attr("strides", new int[]{2, 2})
                .attr("pooling_type", "max").one("Out");
        Value product = g.op("reduce_prod").in("X", pooled).attr("dim", new int[]{3}).one("Out");
        Value running = g.op("cumprod").in("X", product).attr("dim", 1).one("Out");
        return g.op("log_softmax").in("X", running).attr("axis", 1).one("Out").sin();
    }

    private static Network network() {
        return Network.define(1, g -> {
            Value x = g.data("x", DType.FLOAT64, 2, 3, 4, 6).wantGradient();
            Value loss = layers(g, x).square().sum();
            Value first = Objects.requireNonNull(g.gradients(List.of(loss), List.of(x)).getFirst());
            Value second = Objects.requireNonNull(
                    g.gradients(List.of(first.sin().sum()), List.of(x)).getFirst());
            return Outputs.of("first", first, "second", second);
        });
    }

    @ParameterizedTest
    @MethodSource("executors")
    void givesWhatTheInterpreterGives(Supplier<Executor.Builder> builder) {
        Network network = network();
        List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
        Tensor x = Tensor.of(DType.FLOAT64, Bits.normal(3, 2, 3, 4, 6).toDoubleArray(), 2, 3, 4, 6);
        Map<String, Tensor> expected = Interpreter.of(Kernels.portable()).run(network.main(), Map.of("x", x), names);
        try (Executor executor = builder.get().build()) {
            Plan plan = executor.compile(network.main(), Executor.feeds("x"), new Fetches(names));
            for (int run = 0; run < 2; run++) {
                Results results = plan.run(x);
                for (String name : names) {
                    assertArrayEquals(Objects.requireNonNull(expected.get(name)).toDoubleArray(),
                            results.get(name).toDoubleArray(), BOUND, name);
                }
            }
        }
    }

    /** A loop in a loop, a branch, a list and a recurrence, whose gradients themselves have gradients. */
    private static Network controlFlow() {
        return Network.define(1, g -> {
            Value x = g.data("x", DType.FLOAT64, 2, 3).wantGradient();
            Value two = g.full(DType.INT64, 2, 1);
            Value three = g.full(DType.INT64, 3, 1);
            List<Value> outer = g.whileLoop(v -> List.of(v.getFirst().lessThan(three)), v -> {
                List<Value> inner = g.whileLoop(w -> List.of(w.getFirst().lessThan(two)),
                        w -> List.of(w.getFirst().plus(1), w.get(1).times(x).sin()), g.full(DType.INT64, 0, 1),
                        v.get(1));
                Value grown = inner.get(1);
                Value chosen = g.ifElse(v.getFirst().lessThan(two), () -> grown.times(x), () -> grown.exp());
                return List.of(v.getFirst().plus(1), chosen);
            }, g.full(DType.INT64, 0, 1), x.tanh());
            Value list = g.op("write_to_array").in("X", outer.get(1)).in("I", g.full(DType.INT64, 0, 1)).one("Out");
            g.whileLoop(v -> List.of(v.getFirst().lessThan(two)), v -> {
                Value next = v.getFirst().plus(1);
                Value before = g.op("read_from_array").in("X", list).in("I", v.getFirst()).one("Out");
                g.op("write_to_array").in("X", before.times(x).sin()).in("I", next).to("Out", list).append();
                return List.of(next);
            }, g.full(DType.INT64, 0, 1));
            Value all = g.op("tensor_array_to_tensor").in("X", list).attr("use_stack", true).all("Out", "OutIndex")
                    .getFirst();
            Value last = g.staticRnn(rnn -> {
                Value state = rnn.state(x);
                Value next = rnn.step(all).times(state).tanh();
                rnn.update(state, next);
                rnn.output(next);
            }).getFirst();
            Value loss = last.square().sum();
            Value first = Objects.requireNonNull(g.gradients(List.of(loss), List.of(x)).getFirst());
            Value second = Objects.requireNonNull(
                    g.gradients(List.of(first.sin().sum()), List.of(x)).getFirst());
            return Outputs.of("first", first, "second", second);
        });
    }

    @ParameterizedTest
    @MethodSource("executors")
    void givesWhatTheInterpreterGivesThroughControlFlow(Supplier<Executor.Builder> builder) {
        Network network = controlFlow();
        List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        try (Executor executor = builder.get().build()) {
            Plan plan = executor.compile(network.main(), Executor.feeds("x"), new Fetches(names));
            for (int run = 0; run < 3; run++) {
                Tensor x = Tensor.of(DType.FLOAT64, Bits.normal(3 + run, 2, 3).toDoubleArray(), 2, 3);
                Map<String, Tensor> expected = interpreter.run(network.main(), Map.of("x", x), names);
                Results results = plan.run(x);
                for (String name : names) {
                    assertArrayEquals(Objects.requireNonNull(expected.get(name)).toDoubleArray(),
                            results.get(name).toDoubleArray(), BOUND, name);
                }
            }
        }
    }
}
