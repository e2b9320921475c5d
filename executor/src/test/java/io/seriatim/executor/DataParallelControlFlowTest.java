package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Trains programs with branches and loops on several places. Each place decides by its own rows, so that a step is
 * compared with the interpreter's steps from the same parameters on the rows of each place: with plain gradient
 * descent, the parameters after the step are the mean of theirs. What computes each row on its own is compared with one
 * place that has the whole batch.
 */
@Tag("slow")
class DataParallelControlFlowTest {
    private static final double TOLERANCE = 1e-4;
    private static final int SEEDS = Boolean.getBoolean("seriatim.full") ? 150 : 3;
    private static final int ROWS = 12;
    private static final GoldenModels GOLDEN = GoldenModels.read("dynamic.npz");
    /** The values of the feed n, for each step. */
    private static final long[] NUMBERS = {2, 0, 3};

    private static List<Place> places(String text) {
        return Arrays.stream(text.split(",", -1)).map(Place::parse).toList();
    }

    private static Executor executor(List<Place> places, Devices devices) {
        return Executor.builder().devices(devices).place(places.getFirst()).threads(2).eager().build();
    }

    private static Map<String, Tensor> persistables(Program program, Executor executor) {
        Map<String, Tensor> values = new LinkedHashMap<>();
        for (VarDesc desc : program.persistables()) {
            Tensor value = executor.scope().find(desc.name());
            if (value != null) {
                values.put(desc.name(), Bits.copy(Bits.onHost(value)));
            }
        }
        return values;
    }

    /**
     * A program to train, and its batches. After a step of an optimizer that is linear in gradients, what outlives runs
     * is the mean over the places.
     */
    private record Training(Program main, Program startup, List<String> feeds, List<String> fetches,
            IntFunction<Tensor[]> batches, boolean isLinear) {
        DataParallel on(List<Place> places) {
            return DataParallel.of(main, startup, feeds, fetches.getFirst(), fetches, places);
        }
    }

    private static Training random(long seed) {
        Network network = RandomControlFlow.of(seed, true);
        return new Training(network.main(), network.startup(), List.of("x", "n"),
                Stream.of("loss", "last", "chosen").map(name -> network.outputs().get(name).name()).toList(),
                step -> new Tensor[]{Bits.normal(seed + step, ROWS, RandomControlFlow.WIDTH),
                        Bits.longs(NUMBERS[step])},
                true);
    }

    /** A program that PaddlePaddle has made; each batch has the rows of two of its batches. */
    private static Training golden(String name) {
        Program main = GOLDEN.program(name + "/main");
        List<String> feeds = List.copyOf(GOLDEN.under(name + "/0/in/").keySet());
        return new Training(main, GOLDEN.program(name + "/startup"), feeds,
                List.of(GOLDEN.text(name + "/fetches").split("\n", -1)[0]),
                step -> feeds.stream().map(feed -> {
                    Tensor first = GOLDEN.get(name + "/" + step % 2 * 2 + "/in/" + feed);
                    Tensor second = GOLDEN.get(name + "/" + (2 - step % 2 * 2) + "/in/" + feed);
                    return main.global().get(feed).tensor().dims().getFirst() < 0 ? rows(first, second) : first;
                }).toArray(Tensor[]::new), !name.equals("branch"));
    }

    private static Tensor rows(Tensor a, Tensor b) {
        long[] dims = a.shape().dims();
        dims[0] += b.shape().dim(0);
        return Tensor.of(a.dtype(), DoubleStream
                .concat(DoubleStream.of(a.toDoubleArray()), DoubleStream.of(b.toDoubleArray())).toArray(), dims);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"cpu,cpu", "cpu,sim:0", "sim:0,cpu,sim:0"})
    void stepsAreMeansOfThoseOfEachPlace(String where) {
        for (long seed = 1000; seed < 1000 + SEEDS; seed++) {
            try {
                Training training = random(seed);
                compare(training, training.on(places(where)));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("Seed " + seed + " on " + where + " fails: " + e.getMessage(), e);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"loop;cpu,cpu", "loop;cpu,sim:0,cpu", "branch;cpu,cpu", "branch;sim:0,cpu",
            "recurrent;cpu,cpu", "recurrent;cpu,sim:0", "unrolled_forwards;cpu,cpu", "unrolled_forwards;sim:0,cpu",
            "unrolled_backwards;cpu,cpu", "unrolled_backwards;sim:0,sim:1"})
    void programsOfPaddleTakeTheMeanStep(String name, String where) {
        Training training = golden(name);
        compare(training, training.on(places(where)));
    }

    /** One variable that the block of the second place has in common with that of the first. */
    @Test
    void aVariableOfABlockThatIsNotRenamedIsFound() {
        Network network = network("while");
        Training training = new Training(network.main(), network.startup(), List.of("x", "y"),
                List.of(network.outputs().get("loss").name()),
                step -> new Tensor[]{Bits.normal(step, ROWS, 5, 6), Bits.below(3, step, ROWS, 1)}, false);
        DataParallel right = training.on(places("cpu,cpu"));
        compare(training, right);
        Program main = right.main().copy();
        Block own = main.block(main.blocks().size() - 2);
        String suffix = "@cpu#2";
        List<OpDesc> ops = new ArrayList<>(own.ops());
        // What the loop carries, not its condition: the loop still ends.
        int at = 0;
        for (int i = 0; i < ops.size(); i++) {
            VarDesc written = main.global().var(ops.get(i).outputNames().getFirst());
            if (written != null && written.tensor().dtype() == FLOAT32) {
                at = i;
            }
        }
        OpDesc carried = ops.get(at);
        assertTrue(carried.type().equals("assign") && carried.outputNames().getFirst().endsWith(suffix),
                carried.toString());
        ops.set(at, carried.renamed(name -> name, name -> name.replace(suffix, "")));
        own.setOps(ops);
        DataParallel wrong = new DataParallel(main, right.startup(), right.broadcast(), right.places(), right.feeds(),
                right.loss(), right.fetches(), 0, 1, right.owners(), right.gather());
        AssertionError found = assertThrows(AssertionError.class, () -> compare(training, wrong));
        assertTrue(String.valueOf(found.getMessage()).contains("step 0, " + training.fetches().getFirst()),
                found.getMessage());
    }

    private static void compare(Training training, DataParallel parallel) {
        List<Place> places = parallel.places();
        Program main = training.main();
        List<String> fetches = training.fetches();
        String loss = fetches.getFirst();
        try (Devices devices = Devices.builder().build(); Executor executor = executor(places, devices)) {
            executor.run(parallel.startup());
            Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()),
                    new Fetches(parallel.fetches()));
            for (int step = 0; step < NUMBERS.length; step++) {
                Tensor[] batch = training.batches().apply(step);
                Tensor[] parts = parallel.split(batch);
                Map<String, Tensor> before = persistables(main, executor);
                Results results = plan.run(parts);
                List<Map<String, Tensor>> fetched = new ArrayList<>();
                Map<String, double[]> after = new LinkedHashMap<>();
                for (List<String> own : parallel.feeds()) {
                    Interpreter interpreter = Interpreter.of(Kernels.system());
                    interpreter.run(training.startup(), Map.of(), List.of());
                    before.forEach((name, value) -> interpreter.set(name, Bits.copy(value)));
                    Map<String, Tensor> fed = new LinkedHashMap<>();
                    for (int i = 0; i < own.size(); i++) {
                        fed.put(training.feeds().get(i), parts[parallel.feedNames().indexOf(own.get(i))]);
                    }
                    fetched.add(interpreter.run(main, fed, fetches));
                    before.keySet().forEach(name -> after.merge(name, interpreter.get(name).toDoubleArray(),
                            (a, b) -> sum(a, b)));
                }
                String at = "step " + step + ", ";
                for (int i = 1; i < fetches.size(); i++) {
                    String name = fetches.get(i);
                    assertArrayEquals(
                            fetched.stream().flatMapToDouble(each -> DoubleStream.of(values(each, name)))
                                    .toArray(),
                            results.get(parallel.fetches().get(i)).toDoubleArray(), TOLERANCE, at + name);
                }
                assertEquals(
                        fetched.stream().mapToDouble(each -> values(each, loss)[0]).average().orElseThrow(),
                        results.scalar(parallel.loss()), TOLERANCE, at + loss);
                Map<String, Tensor> found = persistables(main, executor);
                if (training.isLinear()) {
                    after.forEach((name, sum) -> assertArrayEquals(
                            DoubleStream.of(sum).map(value -> value / places.size()).toArray(),
                            values(found, name), TOLERANCE, at + name));
                }
                requireReplicasEqual(main, parallel, executor);
            }
        }
    }

    private static double[] values(Map<String, Tensor> tensors, String name) {
        return Objects.requireNonNull(tensors.get(name), name).toDoubleArray();
    }

    private static double[] sum(double[] a, double[] b) {
        double[] sum = a.clone();
        Arrays.setAll(sum, i -> a[i] + b[i]);
        return sum;
    }

    private static void requireReplicasEqual(Program main, DataParallel parallel, Executor executor) {
        for (Place place : parallel.places()) {
            for (VarDesc desc : main.parameters()) {
                Tensor other = executor.scope().find(desc.name() + "@" + place);
                if (other != null) {
                    Bits.assertSame(Bits.onHost(executor.scope().get(desc.name())), Bits.onHost(other),
                            desc.name() + " at " + place);
                }
            }
        }
    }

    private static Network network(Optimizer optimizer, BiFunction<Graph, Value, Value> body) {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, 5, 6);
            Value scores = g.linear(body.apply(g, x), 3);
            Value loss = g.softmaxCrossEntropy(scores, g.data("y", INT64, -1, 1)).mean();
            g.minimize(loss, optimizer);
            return Outputs.of("loss", loss);
        });
    }

    private static Network network(String kind) {
        if (kind.equals("update")) {
            return BranchesOfOptimizers.in(network(Sgd.of(0.1), (g, x) -> g.linear(x.reshape(-1, 30), 6).tanh()));
        }
        return network(Adam.of(0.01).epsilon(1e-3).clip(Clip.globalNorm(0.5)), (g, x) -> switch (kind) {
            case "while" -> {
                Value first = g.linear(x.slice(1, 0, 1).reshape(-1, 6), 6).tanh();
                Value weights = g.parameter(ParameterSpec.DEFAULT, FLOAT32, 6, 6);
                yield g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(INT64, 3, 1))),
                        v -> List.of(v.getFirst().plus(1), v.get(1).matmul(weights).plus(first).tanh()),
                        g.full(INT64, 0, 1), first).get(1);
            }
            case "recurrent" -> {
                Value weights = g.parameter(ParameterSpec.DEFAULT, FLOAT32, 6, 6);
                Value first = g.linear(x.reshape(-1, 30), 6).tanh();
                Value sequence = x.transpose(1, 0, 2);
                yield g.staticRnn(rnn -> {
                    Value input = rnn.step(sequence);
                    Value state = rnn.state(first);
                    Value next = state.matmul(weights).plus(input).tanh();
                    rnn.update(state, next);
                    rnn.output(next);
                }).getFirst().mean(0);
            }
            case "if" -> {
                Value hidden = g.linear(x.reshape(-1, 30), 6).tanh();
                yield g.ifElse(g.full(INT64, 1, 1).greaterThan(0), () -> g.linear(hidden, 6).relu(),
                        () -> g.linear(hidden, 6).tanh());
            }
            default -> throw new IllegalArgumentException(kind);
        });
    }

    private static List<Double> train(Executor executor, Program main, Program startup, List<String> feeds, String loss,
            UnaryOperator<Tensor[]> split) {
        executor.run(startup);
        Plan plan = executor.compile(main, new Feeds(feeds), Executor.fetches(loss));
        List<Double> losses = new ArrayList<>();
        for (int step = 0; step < 8; step++) {
            losses.add(plan.run(split.apply(
                    new Tensor[]{Bits.normal(step, ROWS, 5, 6), Bits.below(3, step, ROWS, 1)})).scalar(loss));
        }
        return losses;
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"while;cpu,cpu", "while;cpu,sim:0", "if;cpu,cpu", "if;sim:0,sim:1,cpu",
            "recurrent;cpu,cpu", "recurrent;cpu,sim:0", "update;cpu,cpu", "update;sim:0,cpu,sim:0"})
    void whatComputesEachRowTrainsAsWithTheWholeBatch(String kind, String where) {
        Network network = network(kind);
        String loss = network.outputs().get("loss").name();
        List<Double> expected;
        Map<String, Tensor> left;
        try (Executor alone = Executor.on(Place.CPU)) {
            expected = train(alone, network.main(), network.startup(), List.of("x", "y"), loss, batch -> batch);
            left = persistables(network.main(), alone);
        }
        List<Place> places = places(where);
        DataParallel parallel = DataParallel.of(network.main(), network.startup(), List.of("x", "y"), loss, List.of(),
                places);
        try (Devices devices = Devices.builder().build(); Executor executor = executor(places, devices)) {
            List<Double> losses = train(executor, parallel.main(), parallel.startup(), parallel.feedNames(),
                    parallel.loss(), parallel::split);
            assertArrayEquals(expected.stream().mapToDouble(d -> d).toArray(),
                    losses.stream().mapToDouble(d -> d).toArray(), TOLERANCE);
            assertTrue(losses.getLast() < losses.getFirst() + 1, losses.toString());
            Map<String, Tensor> found = persistables(network.main(), executor);
            left.forEach((name, value) -> assertArrayEquals(value.toDoubleArray(), values(found, name),
                    TOLERANCE, name));
            requireReplicasEqual(network.main(), parallel, executor);
        }
    }
}
