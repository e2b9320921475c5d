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
}
