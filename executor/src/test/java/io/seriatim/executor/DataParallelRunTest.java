package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.MixedPrecision;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the results and variables of data-parallel runs: statistics, random numbers, fetches and copies. */
class DataParallelRunTest {
    private static final String TWO = "sim:0,sim:1";
    private static final double TOLERANCE = 1e-5;
    private static final int ROWS = 12;

    private static List<Place> places(String text) {
        return Arrays.stream(text.split(",", -1)).map(Place::parse).toList();
    }

    private static Network network(long seed, Optimizer optimizer, BiFunction<Graph, Value, Value> body) {
        return Network.define(seed, g -> {
            Value x = g.data("x", FLOAT32, -1, 6);
            Value scores = g.linear(body.apply(g, x), 3);
            Value labels = g.data("y", INT64, -1, 1);
            Value loss = g.softmaxCrossEntropy(scores, labels).mean();
            Value accuracy = g.accuracy(scores, labels, 1);
            g.minimize(loss, optimizer);
            return Outputs.of("loss", loss, "scores", scores, "accuracy", accuracy);
        });
    }

    private static Tensor[] batch(int step) {
        return new Tensor[]{Bits.normal(step, ROWS, 6), Bits.below(3, step, ROWS, 1)};
    }

    private static DataParallel parallel(Network network, String where, String... more) {
        String loss = network.outputs().get("loss").name();
        List<String> fetches = new ArrayList<>(List.of(loss));
        fetches.addAll(List.of(more));
        return DataParallel.of(network.main(), network.startup(), List.of("x", "y"), loss, fetches, places(where));
    }

    /** Runs some training steps and returns their losses. The executor's scope keeps the variables. */
    private static List<Double> train(DataParallel parallel, Executor executor, int steps) {
        Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()), new Fetches(parallel.fetches()));
        List<Double> losses = new ArrayList<>();
        for (int i = 0; i < steps; i++) {
            losses.add(plan.run(parallel.split(batch(i))).scalar(parallel.loss()));
        }
        return losses;
    }

    private static Executor executor(DataParallel parallel, Devices devices) {
        return Executor.builder().devices(devices).place(parallel.places().getFirst()).threads(2).eager().build();
    }

    @ParameterizedTest
    @ValueSource(strings = {TWO, "cpu,cpu"})
    void eachPlaceDropsOtherElementsAndEachTrainingTheSame(String where) {
        for (long seed : new long[]{0, 7}) {
            Network network = network(seed, Sgd.of(0.1), (g, x) -> g.dropout(x, 0.5));
            String mask = network.main().global().ops().stream().filter(op -> op.type().equals("dropout")).findFirst()
                    .orElseThrow()
                    .output("Mask").getFirst();
            List<List<Double>> losses = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                DataParallel parallel = parallel(network, where);
                String suffix = parallel.feeds().get(1).getFirst().substring(1);
                try (Devices devices = Devices.builder().build(); Executor executor = executor(parallel, devices)) {
                    executor.run(parallel.startup());
                    GoldenModels.setParameters(network.main(), executor.scope());
                    executor.run(parallel.broadcast());
                    Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()),
                            Executor.fetches(mask, mask + suffix));
                    Results results = plan.run(parallel.split(batch(0)));
                    assertFalse(Bits.same(results.get(mask), results.get(mask + suffix)), "seed " + seed);
                    losses.add(train(parallel, executor, 4));
                }
            }
            assertEquals(losses.get(0), losses.get(1), "seed " + seed);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TWO, "cpu,cpu"})
    void theStatisticsThatAreLeftAreThoseOfTheFirstPlacesRows(String where) {
        Network network = network(1, Momentum.of(0.1),
                (g, x) -> g.batchNorm(g.linear(x, 4).reshape(-1, 4, 1, 1)).flatten(1));
        OpDesc normalisation = network.main().global().ops().stream().filter(op -> op.type().equals("batch_norm"))
                .findFirst()
                .orElseThrow();
        DataParallel parallel = parallel(network, where);
        try (Devices devices = Devices.builder().build();
                Executor executor = executor(parallel, devices);
                Executor alone = Executor.on(Place.CPU)) {
            executor.run(parallel.startup());
            alone.run(network.startup());
            for (String name : alone.scope().names()) {
                alone.scope().set(name, Bits.copy(Bits.onHost(executor.scope().get(name))));
            }
            train(parallel, executor, 1);
            Tensor[] half = parallel.split(batch(0));
            alone.compile(network.main(), Executor.feeds("x", "y"),
                    Executor.fetches(network.outputs().get("loss").name())).run(half[0],
                            half[1]);
            for (String slot : List.of("MeanOut", "VarianceOut")) {
                String name = normalisation.output(slot).getFirst();
                Bits.assertSame(alone.scope().get(name), Bits.onHost(executor.scope().get(name)), name);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TWO, "cpu,cpu", "sim:0"})
    void fetchesAreMeansAndAllRows(String where) {
        Network network = network(1, Sgd.of(0.1), (g, x) -> g.linear(x, 5).tanh());
        String scores = network.outputs().get("scores").name();
        String accuracy = network.outputs().get("accuracy").name();
        String correct = network.main().global().ops().stream().filter(op -> op.type().equals("accuracy")).findFirst()
                .orElseThrow()
                .output("Correct").getFirst();
        String weights = network.main().parameters().getFirst().name();
        String gradient = weights + "@GRAD";
        List<String> wanted = List.of(scores, accuracy, correct, weights, gradient);
        DataParallel parallel = parallel(network, where, wanted.toArray(String[]::new));
        try (Devices devices = Devices.builder().build();
                Executor executor = executor(parallel, devices);
                Executor alone = Executor.on(Place.CPU)) {
            executor.run(parallel.startup());
            alone.run(network.startup());
            for (String name : alone.scope().names()) {
                alone.scope().set(name, Bits.copy(Bits.onHost(executor.scope().get(name))));
            }
            Results expected = alone.compile(network.main(), Executor.feeds("x", "y"), new Fetches(wanted))
                    .run(batch(0));
            Results found = executor
                    .compile(parallel.main(), new Feeds(parallel.feedNames()), new Fetches(parallel.fetches()))
                    .run(parallel.split(batch(0)));
            for (int i = 0; i < wanted.size(); i++) {
                Tensor one = expected.get(wanted.get(i));
                Tensor all = found.get(parallel.fetches().get(i + 1));
                assertEquals(one.spec(), all.spec(), wanted.get(i));
                assertArrayEquals(one.toDoubleArray(), all.toDoubleArray(), TOLERANCE, wanted.get(i));
            }
        }
    }

    @Test
    void whatIsSetFromOutsideIsCopiedToAllPlaces() {
        Network network = network(1, Adam.of(0.01), (g, x) -> g.linear(x, 5).tanh());
        DataParallel parallel = parallel(network, "sim:0,sim:1,sim:2");
        List<String> left = network.main().persistables().stream().map(desc -> desc.name()).toList();
        try (Devices devices = Devices.builder().build();
                Executor executor = executor(parallel, devices);
                Executor resumed = executor(parallel, devices)) {
            executor.run(parallel.startup());
            train(parallel, executor, 3);
            resumed.run(parallel.startup());
            left.forEach(name -> resumed.scope().set(name, Bits.copy(Bits.onHost(executor.scope().get(name)))));
            resumed.run(parallel.broadcast());
            assertEquals(train(parallel, executor, 3), train(parallel, resumed, 3));
            for (String name : left) {
                Bits.assertSame(Bits.onHost(executor.scope().get(name)), Bits.onHost(resumed.scope().get(name)), name);
            }
        }
    }

    @Test
    void theLearningRateIsSetOnceForAllPlaces() {
        Network network = network(1, Sgd.of(0.1), (g, x) -> x);
        DataParallel parallel = parallel(network, TWO);
        String weights = network.main().parameters().getFirst().name();
        try (Devices devices = Devices.builder().build(); Executor executor = executor(parallel, devices)) {
            executor.run(parallel.startup());
            Tensor before = Bits.copy(Bits.onHost(executor.scope().get(weights)));
            String rate = executor.scope().names().stream().filter(name -> name.startsWith("learning_rate")).findFirst()
                    .orElseThrow();
            executor.scope().set(rate, Tensor.of(new float[]{0}, executor.scope().get(rate).shape().dims()));
            train(parallel, executor, 2);
            Bits.assertSame(before, Bits.onHost(executor.scope().get(weights)), weights);
            Bits.assertSame(before, Bits.onHost(executor.scope().get(weights + "@sim:1")), weights + "@sim:1");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TWO, "cpu,cpu"})
    void gradientsOfRowsAreAveragedToo(String where) {
        Network network = Network.define(2, g -> {
            Value words = g.embedding(g.data("x", INT64, -1, 4), 30, 6);
            Value loss = g.linear(words.tanh().mean(1), 3).square().mean();
            Program main = g.main();
            for (int i = 0; i < main.global().ops().size(); i++) {
                if (main.global().ops().get(i).type().startsWith("lookup_table")) {
                    main.global().set(i, main.global().ops().get(i).with("is_sparse", true));
                }
            }
            g.minimize(loss, Sgd.of(0.1));
            return Outputs.of("loss", loss);
        });
        String loss = network.outputs().get("loss").name();
        DataParallel parallel = DataParallel.of(network.main(), network.startup(), List.of("x"), loss, List.of(loss),
                places(where));
        try (Devices devices = Devices.builder().build();
                Executor executor = executor(parallel, devices);
                Executor alone = Executor.on(Place.CPU)) {
            executor.run(parallel.startup());
            alone.run(network.startup());
            Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()),
                    new Fetches(parallel.fetches()));
            Plan one = alone.compile(network.main(), Executor.feeds("x"), Executor.fetches(loss));
            for (int step = 0; step < 6; step++) {
                Tensor words = Bits.below(30, step, 8, 4);
                assertEquals(one.run(words).scalar(loss), plan.run(parallel.split(words)).scalar(parallel.loss()),
                        TOLERANCE);
            }
            network.main().parameters()
                    .forEach(desc -> assertArrayEquals(alone.scope().get(desc.name()).toDoubleArray(),
                            Bits.onHost(executor.scope().get(desc.name())).toDoubleArray(), TOLERANCE, desc.name()));
        }
    }

    @Test
    void mixedPrecisionScalesTheSameLossEverywhere() {
        Network network = network(1, Momentum.of(0.05).precision(MixedPrecision.float16()),
                (g, x) -> g.linear(x, 5).tanh());
        DataParallel parallel = parallel(network, TWO);
        try (Devices devices = Devices.builder().build(); Executor executor = executor(parallel, devices)) {
            executor.run(parallel.startup());
            List<Double> losses = train(parallel, executor, 12);
            assertTrue(losses.stream().allMatch(loss -> loss > 0 && loss < 10), losses.toString());
            network.main().parameters().forEach(desc -> Bits.assertSame(Bits.onHost(executor.scope().get(desc.name())),
                    Bits.onHost(executor.scope().get(desc.name() + "@sim:1")), desc.name()));
        }
    }

    @Test
    void aFailedRunIsFollowedByGoodOnes() {
        Network network = network(1, Sgd.of(0.1), (g, x) -> x);
        DataParallel parallel = parallel(network, TWO);
        try (Devices devices = Devices.builder().build(); Executor executor = executor(parallel, devices)) {
            executor.run(parallel.startup());
            Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()),
                    new Fetches(parallel.fetches()));
            Tensor[] good = batch(0);
            plan.run(parallel.split(good));
            BadRequestException e = assertThrows(BadRequestException.class,
                    () -> plan.run(parallel.split(good[0],
                            Tensor.of(new long[]{0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 99, 0}, ROWS, 1))));
            assertInstanceOf(ProgramFailedException.class, e.getCause());
            train(parallel, executor, 2);
        }
    }
}
