package io.seriatim.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Results;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Models with branches and loops learn on several places as on one: each place runs blocks of its own on its rows.
 */
final class ParallelControlFlowTest {
    private static final int FLOAT = 1;
    private static final int INT64 = 7;
    private static final int BOOL = 9;
    private static final int ROWS = 6;
    private static final int STEPS = 3;
    private static final int WIDTH = 4;
    /** The feed n of each step: the iterations of a loop, and the branch that is taken if it is above 1. */
    private static final long[] NUMBERS = {2, 1, 4, 3};
    private static final float TOLERANCE = 1e-5f;

    @TempDir
    Path folder = Path.of("");

    /** The results y and the loss of each training step, and the parameter after the last. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Learnt(List<float[]> results, List<Double> losses, float[] parameter) {
    }

    private static WireMessage message() {
        return new WireMessage();
    }

    private static WireMessage node(String type, String output, String... inputs) {
        return message().texts(1, inputs).text(2, output).text(4, type);
    }

    private static WireMessage graph(String name, WireMessage... nodes) {
        WireMessage graph = message().text(2, name);
        for (WireMessage node : nodes) {
            graph.message(1, node);
        }
        return graph;
    }

    private static WireMessage block(String name, WireMessage graph) {
        return message().text(1, name).message(6, graph).number(20, 5);
    }

    private static WireMessage axes(String name, long axis) {
        return message().text(1, name).number(20, 7).number(8, axis);
    }

    private static WireMessage number(String name, long value) {
        return message().number(2, INT64).text(8, name).number(7, value);
    }

    private static WireMessage first() {
        return node("ReduceMean", "first", "x").message(5, axes("axes", 1))
                .message(5, message().text(1, "keepdims").number(3, 0).number(20, 2));
    }

    /** The branch of a run depends on what is fed to all places. */
    private static WireMessage branch() {
        WireMessage yes = graph("yes", node("MatMul", "a", "first", "w"), node("Tanh", "yes_y", "a"))
                .message(12, WireMessage.value("yes_y", FLOAT, -1, WIDTH));
        WireMessage no = graph("no", node("Add", "b", "first", "first"), node("MatMul", "no_y", "b", "w"))
                .message(12, WireMessage.value("no_y", FLOAT, -1, WIDTH));
        return graph("if", first(), node("Greater", "more", "n", "one"),
                node("If", "y", "more").message(5, block("then_branch", yes)).message(5, block("else_branch", no)))
                .message(5, number("one", 1));
    }

    /** Iterations pass on a state, and give values that are stacked. */
    private static WireMessage loop() {
        WireMessage body = graph("body", node("MatMul", "a", "s", "w"), node("Add", "b", "a", "first"),
                node("Tanh", "next", "b"), node("Mul", "given", "next", "next"), node("Identity", "again", "c"))
                .message(11, WireMessage.value("i", INT64)).message(11, WireMessage.value("c", BOOL))
                .message(11, WireMessage.value("s", FLOAT, -1, WIDTH)).message(12, WireMessage.value("again", BOOL))
                .message(12, WireMessage.value("next", FLOAT, -1, WIDTH))
                .message(12, WireMessage.value("given", FLOAT, -1, WIDTH));
        return graph("loop", first(),
                message().texts(1, "n", "", "first").texts(2, "last", "all").text(4, "Loop").message(5,
                        block("body", body)),
                node("ReduceSum", "sum", "all", "zero").message(5,
                        message().text(1, "keepdims").number(3, 0).number(20, 2)),
                node("Add", "y", "last", "sum"))
                .message(5, number("zero", 0).number(1, 1));
    }

    /** The steps of a sequence from its end, of which each gives a value. */
    private static WireMessage scan() {
        WireMessage body = graph("body", node("MatMul", "a", "s", "w"), node("Add", "b", "a", "each"),
                node("Tanh", "next", "b"), node("Mul", "given", "next", "each"))
                .message(11, WireMessage.value("s", FLOAT, -1, WIDTH))
                .message(11, WireMessage.value("each", FLOAT, -1, WIDTH))
                .message(12, WireMessage.value("next", FLOAT, -1, WIDTH))
                .message(12, WireMessage.value("given", FLOAT, -1, WIDTH));
        return graph("scan", first(),
                message().texts(1, "first", "x").texts(2, "last", "all").text(4, "Scan")
                        .message(5, block("body", body))
                        .message(5, message().text(1, "num_scan_inputs").number(3, 1).number(20, 2))
                        .message(5, axes("scan_input_axes", 1)).message(5, axes("scan_input_directions", 1)),
                node("ReduceSum", "sum", "all", "zero").message(5,
                        message().text(1, "keepdims").number(3, 0).number(20, 2)),
                node("Cast", "factor", "n").message(5, message().text(1, "to").number(3, FLOAT).number(20, 2)),
                node("Mul", "scaled", "sum", "factor"), node("Add", "y", "last", "scaled"))
                .message(5, number("zero", 0).number(1, 1));
    }

    private InferenceModel model(WireMessage graph) throws IOException {
        SplittableRandom random = new SplittableRandom(5);
        WireMessage weights = message().number(1, WIDTH).number(1, WIDTH).number(2, FLOAT).text(8, "w");
        for (int i = 0; i < WIDTH * WIDTH; i++) {
            weights.real(4, random.nextFloat() - 0.5f);
        }
        graph.message(5, weights).message(11, WireMessage.value("x", FLOAT, -1, STEPS, WIDTH))
                .message(11, WireMessage.value("n", INT64)).message(12, WireMessage.value("y", FLOAT, -1, WIDTH));
        return OnnxModels.load(Files.write(folder.resolve("made.onnx"), WireMessage.model(graph, 17).toBytes()));
    }

    private static Tensor[] batch(int step) {
        SplittableRandom random = new SplittableRandom(step);
        float[] x = new float[ROWS * STEPS * WIDTH];
        for (int i = 0; i < x.length; i++) {
            x[i] = random.nextFloat() * 2 - 1;
        }
        return new Tensor[]{Tensor.of(x, ROWS, STEPS, WIDTH), Tensor.of(DType.INT64, new long[]{NUMBERS[step]})};
    }

    private static Learnt learnt(InferenceModel model, Network network, Program main, Program startup,
            List<String> feeds, List<String> fetches, UnaryOperator<Tensor[]> split) {
        List<float[]> results = new ArrayList<>();
        List<Double> losses = new ArrayList<>();
        try (Executor executor = Executor.builder().threads(2).build()) {
            network.values().forEach(executor.scope()::setCopy);
            executor.run(startup);
            Plan plan = executor.compile(main, new Feeds(feeds), new Fetches(fetches));
            for (int step = 0; step < NUMBERS.length; step++) {
                Results found = plan.run(split.apply(batch(step)));
                losses.add(found.scalar(fetches.getFirst()));
                results.add(found.get(fetches.getLast()).toFloatArray());
            }
            String parameter = model.parameters().keySet().iterator().next();
            return new Learnt(results, losses, executor.scope().get(parameter).toFloatArray());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"If", "Loop", "Scan"})
    void twoPlacesLearnAsOne(String kind) throws IOException {
        WireMessage graph = switch (kind) {
            case "If" -> branch();
            case "Loop" -> loop();
            default -> scan();
        };
        try (InferenceModel model = model(graph)) {
            assertEquals(List.of("x", "n"), model.feeds());
            Network network = Network.from(model, g -> {
                Value loss = g.var("y").square().mean();
                g.minimize(loss, Sgd.of(0.2));
                return Outputs.of("loss", loss);
            });
            assertTrue(network.main().blocks().size() > 1, "there are blocks");
            String loss = Objects.requireNonNull(network.outputNames().get("loss"));
            List<String> fetches = List.of(loss, "y");
            Learnt one = learnt(model, network, network.main(), network.startup(), model.feeds(), fetches,
                    batch -> batch);
            DataParallel parallel = DataParallel.of(network.main(), network.startup(), model.feeds(), loss, fetches,
                    List.of(Place.CPU, Place.CPU));
            Learnt two = learnt(model, network, parallel.main(), parallel.startup(), parallel.feedNames(),
                    parallel.fetches(), parallel::split);
            for (int step = 0; step < NUMBERS.length; step++) {
                assertEquals(ROWS * WIDTH, two.results.get(step).length);
                assertArrayEquals(one.results.get(step), two.results.get(step), TOLERANCE, "y of step " + step);
                assertEquals(one.losses.get(step), two.losses.get(step), TOLERANCE, "the loss of step " + step);
            }
            assertArrayEquals(one.parameter, two.parameter, TOLERANCE, "the parameter");
            float[] before = model.parameters().values().iterator().next().toFloatArray();
            double change = 0;
            for (int i = 0; i < before.length; i++) {
                change = Math.max(change, Math.abs(before[i] - one.parameter[i]));
            }
            assertTrue(change > 100 * TOLERANCE, "training changes the parameter by " + change);
        }
    }
}
