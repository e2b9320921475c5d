package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.device.SimOptions;
import io.seriatim.engine.Engine;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Networks that train on a device, or partly on a device, compute the same bits as on the host, under the race
 * detector.
 */
@Tag("slow")
class DeviceTrainingTest {
    private static final GoldenModels TRAINING = GoldenModels.read("training.npz");
    private static final GoldenModels DYNAMIC = GoldenModels.read("dynamic.npz");
    private static final SimOptions SLOW = SimOptions.DEFAULT.withLaunchLatency(Duration.ofNanos(5_000));
    private static final int STEPS = 3;

    private static Network convolutions() {
        return Network.define(1, g -> {
            Value x = g.data("x", FLOAT32, -1, 3, 8, 8);
            Value features = g.batchNorm(g.conv2d(x, 4, 3, 1, 1)).relu().maxPool2d(2, 2, 0);
            Value more = g.dropout(g.batchNorm(g.conv2d(features, 4, 3, 1, 1)).plus(features).relu(), 0.3);
            Value loss = g.softmaxCrossEntropy(g.linear(more.flatten(1), 5), g.data("y", INT64, -1, 1)).mean();
            g.minimize(loss, Momentum.of(0.05).clip(Clip.globalNorm(1)));
            return Outputs.of("loss", loss);
        });
    }

    /** Returns a network with an embedding. With {@code sparse}, its gradient contains only the selected rows. */
    private static Network embedding(boolean sparse) {
        return Network.define(2, g -> {
            Value words = g.embedding(g.data("x", INT64, -1, 4), 30, 6);
            Value loss = g.linear(words.tanh().mean(1), 3).square().mean();
            Program main = g.main();
            for (int i = 0; i < main.global().ops().size(); i++) {
                if (main.global().ops().get(i).type().startsWith("lookup_table")) {
                    main.global().set(i, main.global().ops().get(i).with("is_sparse", sparse));
                }
            }
            g.minimize(loss, sparse ? Sgd.of(0.1) : Adam.of(0.01));
            return Outputs.of("loss", loss);
        });
    }

    private static Network recurrent() {
        return Network.define(4, g -> {
            Value x = g.data("x", FLOAT32, -1, 6);
            Value last = g.data("n", INT64, 1);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(last)),
                    v -> List.of(v.getFirst().plus(1),
                            g.ifElse(v.get(1).mean().greaterThan(0), () -> v.get(1).times(0.9),
                                    () -> v.get(1).plus(0.5)).tanh()),
                    g.full(INT64, 0, 1), g.linear(x, 6));
            Value chosen = end.get(1).maskedSelect(end.get(1).greaterThan(0.1)).sum();
            Value loss = end.get(1).square().mean().plus(chosen.times(0.01));
            g.minimize(loss, Adam.of(0.02));
            return Outputs.of("loss", loss, "chosen", chosen);
        });
    }

    private static Expected expected(String what, Network network, List<Map<String, Tensor>> fed) {
        return Expected.of(what, network.startup(), network.main(), Expected.names(network), fed);
    }

    static Stream<Arguments> networks() {
        List<Expected> all = new ArrayList<>();
        List<Map<String, Tensor>> images = new ArrayList<>();
        List<Map<String, Tensor>> words = new ArrayList<>();
        List<Map<String, Tensor>> numbers = new ArrayList<>();
        for (int i = 0; i < STEPS + 1; i++) {
            int rows = i == STEPS ? 2 : 3;
            images.add(Map.of("x", Bits.normal(i, rows, 3, 8, 8), "y", Bits.below(5, i, rows, 1)));
            words.add(Map.of("x", Bits.below(30, i, rows, 4)));
            numbers.add(Map.of("x", Bits.normal(i, rows, 6), "n", Bits.longs(i)));
        }
        all.add(expected("convolutions", convolutions(), images));
        all.add(expected("embedding", embedding(false), words));
        all.add(expected("embedding of rows", embedding(true), words));
        all.add(expected("loop", recurrent(), numbers));
        return all.stream()
                .flatMap(each -> Stream.of("sim", "mixed", "mixed, 3 threads", "mixed, shuffled", "mixed, slow")
                        .map(how -> Arguments.of(each, how)));
    }

    private static Program placed(Program program, String how, long seed) {
        return how.startsWith("mixed") ? RandomNetworks.placed(program, seed, RandomPlacementTest.PLACES) : program;
    }

    private static Executor executor(String how, Devices devices, @Nullable Engine engine) {
        return executor(builder(how, devices), how, engine);
    }

    private static Executor.Builder builder(String how, Devices devices) {
        return Executor.builder().devices(devices).eager().place(how.equals("sim") ? Place.sim(0) : Place.CPU);
    }

    private static Executor executor(Executor.Builder builder, String how, @Nullable Engine engine) {
        return (engine != null
                ? builder.engine(engine)
                : builder.threads(how.contains("threads") || how.contains("slow") ? 3 : 1)).build();
    }

    private static @Nullable Engine engine(String how) {
        return how.contains("shuffled") ? Engine.builder().shuffled(how.hashCode()).checked(true).build() : null;
    }

    private static Devices devices(String how) {
        return Devices.builder().sim(how.contains("slow") ? SLOW : SimOptions.DEFAULT).build();
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("networks")
    void networksTrainAsTheInterpreterTrainsThem(Expected network, String how) {
        for (long seed = 0; seed < (how.equals("sim") ? 1 : 3); seed++) {
            Expected placed = new Expected(network.what(), placed(network.startup(), how, seed),
                    placed(network.main(), how, seed),
                    network.fetches(),
                    network.fed(), network.results(), network.left());
            try (Devices devices = devices(how);
                    Engine engine = engine(how);
                    Executor executor = executor(how, devices, engine)) {
                placed.check(executor, how + ", seed " + seed);
            }
        }
    }

    static Stream<Arguments> trainings() {
        return TRAINING.names().stream()
                .flatMap(name -> Stream.of("sim", "mixed, 3 threads").map(how -> Arguments.of(name, how)));
    }

    /** Trains and returns the losses and the variables after training. */
    private static Map<String, Tensor> train(String model, Program main, Executor executor) {
        List<String> feeds = List.copyOf(TRAINING.under(model + "/shape/").keySet());
        String loss = TRAINING.text(model + "/fetch");
        executor.run(TRAINING.program(model + "/startup"));
        GoldenModels.setParameters(main, executor.scope());
        Plan plan = executor.compile(main, new Feeds(feeds), Executor.fetches(loss));
        Map<String, Tensor> values = new TreeMap<>();
        for (int i = 0; i < STEPS; i++) {
            int step = i;
            Tensor[] batch = feeds.stream()
                    .map(feed -> TRAINING.batch(model, feed, feed + "/" + step,
                            TRAINING.get(model + "/shape/" + feed).toLongArray()))
                    .toArray(Tensor[]::new);
            values.put("loss " + i, plan.run(batch).get(loss));
        }
        main.persistables().forEach(each -> values.put(each.name(), executor.scope().get(each.name())));
        return values;
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("trainings")
    void paddlesProgramsTrainAsOnTheHost(String model, String how) {
        Program main = TRAINING.program(model + "/main");
        // Operations that request different places are not joined, so a factor of a product is rounded by itself. Both
        // executors do without that pass.
        Pass[] without = how.equals("sim") ? new Pass[0] : new Pass[]{Pass.EPILOGUES};
        try (Devices devices = devices(how);
                Executor host = Executor.builder().without(without).build();
                Executor executor = executor(builder(how, devices).without(without), how, null)) {
            Map<String, Tensor> expected = train(model, main, host);
            Map<String, Tensor> found = train(model, placed(main, how, model.hashCode()), executor);
            assertEquals(expected.keySet(), found.keySet());
            expected.forEach(
                    (name, tensor) -> Bits.assertSame(tensor, Objects.requireNonNull(found.get(name)),
                            model + ", " + how + ", " + name));
        }
    }

    static Stream<Arguments> dynamic() {
        return DYNAMIC.names().stream()
                .flatMap(name -> Stream.of("sim", "mixed, 3 threads").map(how -> Arguments.of(name, how)));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("dynamic")
    void paddlesProgramsOfUnknownShapesDoWhatTheyDoOnTheHost(String name, String how) {
        Program main = DYNAMIC.program(name + "/main");
        List<String> feeds = List.copyOf(DYNAMIC.under(name + "/0/in/").keySet());
        Fetches fetches = new Fetches(DYNAMIC.text(name + "/fetches").lines().toList());
        try (Devices devices = devices(how);
                Executor host = Executor.on(Place.CPU);
                Executor executor = executor(how, devices, null)) {
            for (Executor each : List.of(host, executor)) {
                each.run(DYNAMIC.program(name + "/startup"));
                GoldenModels.setParameters(main, each.scope());
            }
            Plan expected = host.compile(main, new Feeds(feeds), fetches);
            Plan found = executor.compile(placed(main, how, name.hashCode()), new Feeds(feeds), fetches);
            for (int k = 0; k < DYNAMIC.groups(name); k++) {
                int group = k;
                Tensor[] batch = feeds.stream().map(feed -> DYNAMIC.get(name + "/" + group + "/in/" + feed))
                        .toArray(Tensor[]::new);
                Map<String, Tensor> there = found.run(batch).all();
                expected.run(batch).all()
                        .forEach((fetch, tensor) -> Bits.assertSame(tensor, Objects.requireNonNull(there.get(fetch)),
                                name + ", " + how
                                        + ", " + group + ", " + fetch));
            }
        }
    }
}
