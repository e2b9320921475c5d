package io.seriatim.graph;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.autodiff.BackwardTest;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.MixedPrecision;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Programs of mixed precision are those of Paddle's static.amp, and train as float32 does. */
class MixedPrecisionTest {
    private static final int STEPS = 20;
    private static final long SEED = 6;

    @TestFactory
    Stream<DynamicTest> asPaddle() {
        return GradientPrograms.of("precision.txt").stream()
                .map(each -> DynamicTest.dynamicTest(each.name(), () -> compare(each)));
    }

    private static void compare(GradientPrograms golden) {
        Network network = Network.define(graph -> {
            Program before = golden.program();
            before.global().vars().forEach(desc -> {
                graph.main().global().put(desc);
                taken(graph, desc.name());
            });
            graph.main().global().setOps(before.global().ops());
            Optimizer optimizer = golden.name().endsWith("adam") ? Adam.of(0.1) : Sgd.of(0.1);
            MixedPrecision precision = golden.name().endsWith("bfloat16")
                    ? MixedPrecision.bfloat16()
                    : MixedPrecision.float16();
            graph.minimize(graph.value(golden.calls().getFirst().names("loss").getFirst()),
                    optimizer.precision(precision));
            return Outputs.none();
        });
        Set<String> known = new HashSet<>(golden.before());
        known.removeIf(line -> line.startsWith("block "));
        // Paddle leaves the type of batch_norm's reserve, which nothing else reads, as it was.
        List<String> actual = GradientPrograms.lines(network.main()).stream()
                .filter(line -> !known.contains(line) && !line.startsWith("  var batch_norm_0.tmp_3 ")).toList();
        assertEquals(String.join("\n", BackwardTest.inOrder(golden.then())),
                String.join("\n", BackwardTest.inOrder(actual)));
    }

    /** Names that the program has already are not given again. */
    private static void taken(Graph graph, String name) {
        if (name.matches("tmp_\\d+")) {
            graph.names().next("tmp");
        }
    }

    private static Value mlp(Graph g) {
        Value x = g.data("x", FLOAT32, -1, 8);
        Value hidden = g.layerNorm(g.linear(x, 16).relu());
        return g.meanSquaredError(g.linear(hidden, 1), g.data("y", FLOAT32, -1, 1));
    }

    private static Value convolution(Graph g) {
        Value x = g.data("x", FLOAT32, -1, 1, 8, 8);
        Value hidden = g.batchNorm(g.layers().conv2d(1, 4, 3).padding(1).noBias().make().apply(x)).relu().maxPool2d(2,
                2, 0);
        return g.softmaxCrossEntropy(g.linear(hidden.flatten(1), 4), g.data("label", INT64, -1, 1)).mean();
    }

    private static Value branches(Graph g) {
        Value x = g.data("x", FLOAT32, -1, 8);
        Value hidden = g.linear(x, 16);
        Value chosen = g.ifElse(x.mean().greaterThan(0), () -> g.linear(hidden, 4).tanh(),
                () -> g.linear(hidden, 4).sin());
        return g.meanSquaredError(g.linear(chosen, 1), g.data("y", FLOAT32, -1, 1));
    }

    private static double[] losses(Function<Graph, Value> definition, Optimizer optimizer,
            @Nullable MixedPrecision precision) {
        Network network = Network.define(SEED, g -> {
            Value loss = definition.apply(g);
            g.minimize(loss, precision == null ? optimizer : optimizer.precision(precision));
            return Outputs.of("loss", loss);
        });
        Random random = new Random(SEED);
        Interpreter interpreter = Interpreter.of(Kernels.portable());
        interpreter.run(network.startup(), Map.of(), List.of());
        String loss = network.outputs().get("loss").name();
        boolean images = network.main().global().var("label") != null;
        Map<String, Tensor> feeds = images
                ? Map.of("x", Tensor.of(FLOAT32, random.doubles(8 * 64, -1, 1).toArray(), 8, 1, 8, 8), "label",
                        Tensor.of(INT64, random.longs(8, 0, 4).asDoubleStream().toArray(), 8, 1))
                : Map.of("x", Tensor.of(FLOAT32, random.doubles(64, -1, 1).toArray(), 8, 8), "y",
                        Tensor.of(FLOAT32, random.doubles(8, -1, 1).toArray(), 8, 1));
        return IntStream.range(0, STEPS)
                .mapToDouble(
                        _ -> Objects.requireNonNull(interpreter.run(network.main(), feeds, List.of(loss)).get(loss))
                                .toDoubleArray()[0])
                .toArray();
    }

    @TestFactory
    Stream<DynamicTest> trainsAsFloat32() {
        List<DynamicTest> tests = new ArrayList<>();
        Map<String, Function<Graph, Value>> networks = Map.of("mlp", MixedPrecisionTest::mlp, "convolution",
                MixedPrecisionTest::convolution,
                "branches", MixedPrecisionTest::branches);
        networks.forEach((name, network) -> {
            for (Optimizer optimizer : List.of(Sgd.of(0.05), Adam.of(0.01))) {
                for (MixedPrecision precision : List.of(MixedPrecision.float16(), MixedPrecision.bfloat16())) {
                    tests.add(DynamicTest.dynamicTest(name + " " + optimizer.type() + " " + precision.dtype(), () -> {
                        double[] full = losses(network, optimizer, null);
                        double[] mixed = losses(network, optimizer, precision);
                        String what = "seed " + SEED + ": from " + mixed[0] + " to " + mixed[STEPS - 1]
                                + ", in float32 from " + full[0]
                                + " to " + full[STEPS - 1];
                        assertTrue(mixed[STEPS - 1] < 0.9 * mixed[0], what);
                        assertEquals(full[STEPS - 1], mixed[STEPS - 1], 0.02 * full[0], what);
                    }));
                }
            }
        });
        return tests.stream();
    }
}
