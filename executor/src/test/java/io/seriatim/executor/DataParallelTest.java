package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Decay;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Training on several places computes the same as training on one place with the whole batch, except for rounding, and
 * all places keep the same parameters. The simulated devices detect races.
 */
@Tag("slow")
class DataParallelTest {
    private static final double TOLERANCE = 1e-5;
    private static final int ROWS = 12;
    private static final int STEPS = 15;
    private static final GoldenModels GOLDEN = GoldenModels.read("training.npz");

    /** A program to train, and the batches of each step. */
    record Training(String name, Program main, Program startup, List<String> feeds, String loss,
            Function<Integer, Tensor[]> batches,
            boolean golden) {
        @Override
        public String toString() {
            return name;
        }

        void start(Executor executor, Program started) {
            executor.run(started);
            if (golden) {
                GoldenModels.setParameters(main, executor.scope());
            }
        }
    }

    /** The losses, and the variables after training. */
    private record Trained(List<Double> losses, Map<String, Tensor> left) {
    }

    private static Training training(String name, Network network, Function<Integer, Tensor[]> batches,
            String... feeds) {
        return new Training(name, network.main(), network.startup(), List.of(feeds),
                network.outputs().get("loss").name(), batches, false);
    }

    private static Training perceptron(String name, Optimizer optimizer) {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, 8);
            Value hidden = g.linear(g.linear(x, 16).tanh(), 12).tanh();
            Value loss = g.softmaxCrossEntropy(g.linear(hidden, 5), g.data("y", INT64, -1, 1)).mean();
            g.minimize(loss, optimizer);
            return Outputs.of("loss", loss);
        });
        return training("perceptron, " + name, network,
                step -> new Tensor[]{Bits.normal(step, ROWS, 8), Bits.below(5, step, ROWS, 1)}, "x",
                "y");
    }

    private static Training convolutions(String name, Optimizer optimizer) {
        Network network = Network.define(4, g -> {
            Value x = g.data("x", FLOAT32, -1, 1, 12, 12);
            Value first = g.layers().conv2d(1, 4, 5).padding(2).apply(x).relu().maxPool2d(2, 2, 0);
            Value second = g.layers().conv2d(4, 6, 3).apply(first).relu().maxPool2d(2, 2, 0);
            Value loss = g
                    .softmaxCrossEntropy(g.linear(g.linear(second.flatten(1), 10).relu(), 5), g.data("y", INT64, -1, 1))
                    .mean();
            g.minimize(loss, optimizer);
            return Outputs.of("loss", loss);
        });
        return training("convolutions, " + name, network,
                step -> new Tensor[]{Bits.normal(step, ROWS, 1, 12, 12), Bits.below(5, step, ROWS, 1)}, "x", "y");
    }

    private static Value encoder(Graph g, Value words) {
        Value y = g.layers().embedding(20, 8).apply(words);
        y = g.layers().transformerEncoderLayer(8, 2, 16, 0, true).apply(y);
        return g.layers().linear(8, 20).apply(g.layers().layerNorm(8).apply(y));
    }

    private static Training transformer(String name, Optimizer optimizer) {
        Network network = Network.define(5, g -> {
            Value words = g.data("x", INT64, -1, 6);
            Value loss = g.softmaxCrossEntropy(encoder(g, words), g.data("y", INT64, -1, 6, 1)).mean();
            g.minimize(loss, optimizer);
            return Outputs.of("loss", loss);
        });
        return training("transformer, " + name, network,
                step -> new Tensor[]{Bits.below(20, step, ROWS, 6), Bits.below(20, step + 100, ROWS, 6, 1)}, "x", "y");
    }

    private static Training golden(String name) {
        List<String> feeds = List.copyOf(GOLDEN.under(name + "/shape/").keySet());
        return new Training(name + " of Paddle", GOLDEN.program(name + "/main"), GOLDEN.program(name + "/startup"),
                feeds,
                GOLDEN.text(name + "/fetch"), step -> feeds.stream().map(feed -> {
                    long[] dims = GOLDEN.get(name + "/shape/" + feed).toLongArray();
                    dims[0] = ROWS;
                    return GOLDEN.batch(name, feed, feed + "/" + step % 2, dims);
                }).toArray(Tensor[]::new), true);
    }

    private static List<Training> trainings() {
        // A gradient that consists only of rounding errors, such as that of a key's bias, must not lead to a step of
        // Adam.
        Optimizer adam = Adam.of(0.01).epsilon(1e-3).clip(Clip.globalNorm(0.5));
        Optimizer momentum = Momentum.of(0.05).decay(Decay.l2(0.01));
        List<Training> all = new ArrayList<>();
        all.add(perceptron("SGD", Sgd.of(0.1)));
        all.add(perceptron("momentum", momentum));
        all.add(perceptron("Adam", adam));
        all.add(convolutions("SGD", Sgd.of(0.1)));
        all.add(convolutions("momentum", momentum));
        all.add(convolutions("Adam", adam));
        all.add(transformer("SGD", Sgd.of(0.1)));
        all.add(transformer("momentum", momentum));
        all.add(transformer("Adam", adam));
        for (String name : List.of("mlp_sgd", "mlp_momentum", "mlp_adam", "transformer_sgd", "transformer_momentum")) {
            all.add(golden(name));
        }
        return all;
    }

    private static List<Place> places(String text) {
        return Arrays.stream(text.split(",", -1)).map(Place::parse).toList();
    }

    static Stream<Arguments> trainingsAndPlaces() {
        return trainings().stream()
                .flatMap(training -> Stream.of("sim:0,sim:1", "sim:0,sim:1,sim:2", "cpu,cpu,cpu", "sim:0,cpu,sim:0")
                        .map(places -> Arguments.of(training, places)));
    }

    private static Trained alone(Training training) {
        try (Executor executor = Executor.on(Place.CPU)) {
            training.start(executor, training.startup());
            Plan plan = executor.compile(training.main(), new Feeds(training.feeds()),
                    Executor.fetches(training.loss()));
            List<Double> losses = new ArrayList<>();
            for (int step = 0; step < STEPS; step++) {
                losses.add(plan.run(training.batches().apply(step)).scalar(training.loss()));
            }
            Map<String, Tensor> left = new TreeMap<>();
            training.main().persistables().forEach(desc -> left.put(desc.name(), executor.scope().get(desc.name())));
            return new Trained(losses, left);
        }
    }

    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("trainingsAndPlaces")
    void trainsAsOnePlaceDoesWithTheWholeBatch(Training training, String where) {
        Trained expected = alone(training);
        List<Place> places = places(where);
        DataParallel parallel = DataParallel.of(training.main(), training.startup(), training.feeds(), training.loss(),
                List.of(training.loss()), places);
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().devices(devices).place(places.getFirst()).threads(2).eager()
                        .build()) {
            training.start(executor, parallel.startup());
            if (training.golden()) {
                executor.run(parallel.broadcast());
            }
            Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()),
                    new Fetches(parallel.fetches()));
            for (int step = 0; step < STEPS; step++) {
                double loss = plan.run(parallel.split(training.batches().apply(step))).scalar(parallel.loss());
                double alone = expected.losses().get(step);
                assertEquals(alone, loss, TOLERANCE * Math.max(1, Math.abs(alone)), "loss of step " + step);
            }
            expected.left()
                    .forEach((name, tensor) -> assertNear(name, tensor, Bits.onHost(executor.scope().get(name))));
            assertReplicasAreEqual(training.main(), parallel, executor.scope());
        }
    }

    private static void assertNear(String name, Tensor expected, Tensor found) {
        double[] a = expected.toDoubleArray();
        double[] b = found.toDoubleArray();
        assertEquals(a.length, b.length, name);
        for (int i = 0; i < a.length; i++) {
            assertEquals(a[i], b[i], TOLERANCE * Math.max(1, Math.abs(a[i])), name + "[" + i + "]");
        }
    }

    /** Asserts that all replicas have equal variables. Each place has its own replica, unless it occurs twice. */
    private static void assertReplicasAreEqual(Program main, DataParallel parallel, Scope scope) {
        int copies = 0;
        for (VarDesc desc : main.persistables()) {
            for (Place place : parallel.places()) {
                Tensor copy = scope.find(desc.name() + "@" + place);
                if (copy != null) {
                    copies++;
                    Bits.assertSame(Bits.onHost(scope.get(desc.name())), Bits.onHost(copy),
                            desc.name() + " at " + place);
                }
            }
        }
        boolean isOnePlace = parallel.places().stream().distinct().count() == 1;
        assertTrue(isOnePlace ? copies == 0 : copies >= main.parameters().size(), "copies: " + copies);
    }
}
