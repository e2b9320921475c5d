package io.seriatim.train.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.MixedPrecision;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.Model;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

class ProgramModelTest {
    /** Programs without an optimizer. */
    private static final Set<String> UNTRAINED = Set.of("gradients_twice");

    @TempDir
    private Path folder = Path.of("");

    private static Map<String, Tensor> golden() throws IOException, URISyntaxException {
        return Npz.read(
                Path.of(Objects.requireNonNull(ProgramModelTest.class.getResource("/golden/programs.npz")).toURI()));
    }

    private static Program program(Map<String, Tensor> golden, String key) throws IOException {
        long[] values = Objects.requireNonNull(golden.get(key), key).toLongArray();
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return ProgramFiles.parse(key, bytes);
    }

    private static String loss(Program main) {
        return main.global().ops().stream()
                .filter(op -> op.attribute("op_role") instanceof Attribute.Int(int role) && role == 256)
                .findFirst()
                .orElseThrow().outputNames().getFirst();
    }

    /**
     * Finds, in programs of PaddlePaddle, the variables that minimize has marked, the feeds and the exported variables.
     */
    @TestFactory
    Stream<DynamicTest> findsThePartsOfPaddlesPrograms() throws IOException, URISyntaxException {
        Map<String, Tensor> golden = golden();
        Set<String> names = new TreeSet<>();
        golden.keySet().forEach(key -> names.add(key.substring(0, key.indexOf('/'))));
        assertTrue(names.size() > 20, names.toString());
        return names.stream().map(name -> DynamicTest.dynamicTest(name, () -> {
            Program main = program(golden, name + "/main");
            Program startup = program(golden, name + "/startup");
            if (UNTRAINED.contains(name)) {
                assertTrue(
                        refused(() -> ProgramModel.of(name, main, startup, List.of(), "x")).contains("none of these"),
                        name);
                return;
            }
            Model model = ProgramModel.scheduled(ProgramModel.of(name, main, startup, List.of(), null),
                    Schedule.constant(0.01));
            assertEquals(loss(main), model.loss());
            Set<String> fed = new HashSet<>();
            golden.keySet().stream().filter(key -> key.startsWith(name + "/feed/"))
                    .forEach(key -> fed.add(key.substring(name.length() + 6)));
            assertEquals(fed, Set.copyOf(model.feeds()));
            assertEquals(1, model.outputs().size(), model.outputs().toString());
            if (golden.containsKey(name + "/inference")) {
                checkInference(program(golden, name + "/inference"), model);
            }
            trains(golden, name, model);
        }));
    }

    private static void checkInference(Program exported, Model model) {
        OpDesc last = exported.global().ops().stream().filter(op -> op.type().equals("scale")).reduce((_, op) -> op)
                .orElseThrow();
        assertEquals(last.input("X"), model.outputs());
        assertEquals(
                exported.global().ops().stream().filter(op -> op.type().equals("feed"))
                        .map(op -> op.output("Out").getFirst()).toList(),
                model.inputs());
    }

    private void trains(Map<String, Tensor> golden, String name, Model model) throws IOException {
        if (!name.equals("gradient_penalty")) {
            TinyRun.checkEvaluation(model);
        }
        Tensor[] batch = model.feeds().stream().map(feed -> Objects.requireNonNull(golden.get(name + "/feed/" + feed)))
                .toArray(Tensor[]::new);
        try (TinyRun run = new TinyRun(model)) {
            double first = run.evaluate(batch);
            run.train(5, batch);
            double last = run.evaluate(batch);
            assertTrue(Double.isFinite(last) && last != first, name + ": the loss was " + first + " and is " + last);
            Tensor[] inputs = model.inputs().stream()
                    .map(feed -> Objects.requireNonNull(golden.get(name + "/feed/" + feed)))
                    .toArray(Tensor[]::new);
            run.checkSaved(folder, inputs);
        }
    }

    private static Network classifier(Function<Graph, Value> extra, @Nullable MixedPrecision precision) {
        return Network.define(graph -> {
            Value x = graph.data("image", DType.FLOAT32, -1, 6);
            Value label = graph.data("class", DType.INT64, -1, 1);
            Value logits = graph.linear(graph.dropout(graph.linear(x, 8).relu(), 0.5), 3);
            Value each = graph.softmaxCrossEntropy(logits, label);
            Value loss = each.times(extra.apply(graph)).mean();
            graph.accuracy(logits, label, 1);
            Adam adam = Adam.of(0.01);
            graph.minimize(loss, precision == null ? adam.clip(Clip.globalNorm(1)) : adam.precision(precision));
            return Outputs.of("loss", loss, "logits", logits);
        });
    }

    private static void check(Network network, List<String> feeds, String output) {
        Model model = ProgramModel.of("own", network.main(), network.startup(), List.of(), null);
        assertEquals(network.outputs().get("loss").name(), model.loss());
        assertEquals(feeds, model.feeds());
        assertEquals(List.of("image"), model.inputs());
        assertEquals(List.of(network.outputs().get("logits").name() + output), model.outputs());
        assertEquals(Set.of("accuracy"), model.metrics().keySet());
        TinyRun.checkEvaluation(model);
    }

    @Test
    void findsThePartsOfOwnPrograms() {
        check(classifier(graph -> graph.full(DType.FLOAT32, 2, 1), null), List.of("image", "class"), "");
        // The loss reads a weight per example, which is not a label.
        check(classifier(graph -> graph.data("weight", DType.FLOAT32, -1, 1), null),
                List.of("image", "class", "weight"), "");
    }

    /** Backward starts from the scaled loss. */
    @Test
    void findsTheLossOfMixedPrecision() {
        check(classifier(graph -> graph.full(DType.FLOAT32, 2, 1), MixedPrecision.bfloat16()),
                List.of("image", "class"), ".cast_fp32");
    }

    @Test
    void whatIsGivenNeedNotBeFound() {
        Network network = classifier(graph -> graph.full(DType.FLOAT32, 2, 1), null);
        Model model = ProgramModel.of("own", network.main(), network.startup(), List.of("class", "image"),
                network.outputs().get("loss").name());
        assertEquals(List.of("class", "image"), model.feeds());
        assertEquals(List.of("image"), model.inputs());
    }

    private static Network autoencoder(int losses) {
        return Network.define(graph -> {
            Value x = graph.data("x", DType.FLOAT32, -1, 4);
            Value code = graph.linear(x, 2).tanh();
            Value again = graph.linear(code, 4);
            for (int i = 0; i < losses; i++) {
                graph.minimize(graph.meanSquaredError(again, x), Sgd.of(0.1 * (i + 1)));
            }
            return Outputs.of("again", again, "mean", again.mean(0));
        });
    }

    /**
     * An autoencoder: its input is also its label. The prediction is the operand of the loss that depends on
     * parameters.
     */
    @Test
    void findsThePredictionOfAnAutoencoder() {
        Network network = autoencoder(1);
        Model model = ProgramModel.of("autoencoder", network.main(), network.startup(), List.of(), null);
        assertEquals(List.of("x"), model.feeds());
        assertEquals(List.of("x"), model.inputs());
        assertEquals(List.of(network.outputs().get("again").name()), model.outputs());
    }

    @Test
    void findsTheRate() {
        assertEquals(Optional.of("learning_rate_0"), ProgramModel.rate(autoencoder(1).main()));
        assertEquals(Optional.empty(), ProgramModel.rate(autoencoder(0).main()));
        Model model = ProgramModel.of("one", autoencoder(1).main(), autoencoder(1).startup(), List.of(), null);
        assertEquals(Map.of(), model.schedules());
        assertEquals(0.5, Objects.requireNonNull(
                ProgramModel.scheduled(model, Schedule.constant(0.5)).schedules().get("learning_rate_0")).rate(3));
    }

    private static String refused(Runnable action) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, action::run).getMessage());
    }

    @Test
    void saysWhatToGive() {
        Program two = autoencoder(2).main();
        Program startup = autoencoder(2).startup();
        assertTrue(refused(() -> ProgramModel.of("two", two, startup, List.of(), null))
                .matches("The program has several losses, \\[.*, .*\\]: give one with --loss NAME"));
        String second = two.global().ops().stream()
                .filter(op -> op.attribute("op_role") instanceof Attribute.Int(int role) && role == 256)
                .reduce((_, last) -> last).orElseThrow().outputNames().getFirst();
        assertEquals(second, ProgramModel.of("two", two, startup, List.of(), second).loss());
        assertTrue(refused(() -> ProgramModel.of("two", two, startup, List.of(), "nothing"))
                .startsWith("The program has no variable 'nothing': give one of its variables with --loss"));
        assertTrue(refused(() -> ProgramModel.of("two", two, startup, List.of("nothing"), second))
                .startsWith("The program has no variable 'nothing': give one of its variables with --feed"));
        Network network = autoencoder(1);
        assertEquals("The loss must have one element, but '" + network.outputs().get("mean").name()
                + "' is float32[4]: give its mean with --loss NAME",
                refused(() -> ProgramModel.of("one", network.main(), network.startup(), List.of(),
                        network.outputs().get("mean").name())));
        assertTrue(refused(() -> ProgramModel.of("none", autoencoder(0).main(), startup, List.of(), null))
                .endsWith("save the main program after minimize(loss)"));
        assertEquals("The program's loss cannot be found, as no operation begins backward: give it with --loss NAME",
                refused(() -> ProgramModel.loss(autoencoder(0).main())));
    }

    /**
     * Without backward operations, the loss is the variable that the program fetches; its feed operations determine the
     * feeds and their order.
     */
    @Test
    void takesFeedAndFetchOperations() {
        Program main = autoencoder(0).main();
        main.global().add(0, OpDesc.of("feed").in("X", "feed").out("Out", "x").attr("col", 0).build());
        main.global().add(OpDesc.of("fetch").in("X", "linear_1.tmp_1").out("Out", "fetch").attr("col", 0).build());
        assertEquals("linear_1.tmp_1", ProgramModel.loss(main));
        assertEquals(List.of("x"), ProgramModel.feeds(main));
    }
}
