package io.seriatim.cli.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.cli.CommandRun;
import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code seriatim train} of models that were loaded. */
class TrainModelTest {
    @TempDir
    private Path temp = Path.of("");
    private Path data = Path.of("");

    @BeforeEach
    void writeData() throws IOException {
        data = TinyData.arrays(temp.resolve("data"));
    }

    private CommandRun train(Object... args) {
        List<Object> all = new ArrayList<>(List.of("train"));
        all.addAll(List.of(args));
        return CommandRun.of(all.toArray());
    }

    private RunFolder trained(String name, Object... args) throws IOException {
        Path folder = temp.resolve(name);
        List<Object> all = new ArrayList<>(List.of(args));
        all.addAll(List.of("--threads", 1, "--out", folder));
        CommandRun run = train(all.toArray());
        assertEquals(0, run.code(), run.err());
        return new RunFolder(folder);
    }

    /** A model is trained on one set of classes, then on the same classes with other numbers. */
    @Test
    void aModelOfMlpLearnsOtherLabels() throws IOException {
        RunFolder first = trained("first", "mlp", "--data", data, "--batch", 8, "--epochs", 8);
        Tensor labels = Npy.read(data.resolve("y.npy"));
        Path other = Files.createDirectories(temp.resolve("other"));
        long[] turned = labels.toLongArray();
        for (int i = 0; i < turned.length; i++) {
            turned[i] = (turned[i] + 1) % TinyData.CLASSES;
        }
        Npy.write(other.resolve("y.npy"), Tensor.of(turned, turned.length));
        Files.copy(data.resolve("x.npy"), other.resolve("x.npy"));
        RunFolder second = trained("second", first.path().resolve("model.pdmodel"), "--loss", "cross-entropy", "--data",
                other, "--batch", 8, "--epochs", 25, "--rate", 0.01);
        long last = second.checkpoints().getLast();
        assertTrue(second.loss(1) > 1 && second.loss(last) < 0.3, second.losses()::toString);
        try (InferenceModel model = InferenceModels.load(first.path().resolve("model"));
                InferenceModel tuned = InferenceModels.load(second.path().resolve("model"))) {
            assertEquals(model.feeds(), tuned.feeds());
            assertEquals(model.fetches(), tuned.fetches());
            assertEquals(model.parameters().keySet(), tuned.parameters().keySet());
        }
    }

    @Test
    void aModelWithSeveralFeedsLearnsValues() throws IOException {
        TinyData.program(temp, TinyData.line(-1), 40);
        Network network = Network.define(3, g -> {
            Value left = g.data("left", DType.FLOAT32, -1, 2);
            Value right = g.data("right", DType.FLOAT32, -1, 2);
            return Outputs.of("sum", g.linear(left.plus(right), 1), "left", left.relu());
        });
        Path model = temp.resolve("sum.pdmodel");
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            InferenceModels.save(model, InferenceModels.of(network.main(), List.of("left", "right"),
                    List.of(network.outputs().get("left").name(), network.outputs().get("sum").name()),
                    executor.scope()::find));
        }
        String sum = network.outputs().get("sum").name();
        Object[] feeds = {"--feed", "right=" + temp.resolve("x.npy"), "--feed", "left=" + temp.resolve("x.npy")};
        List<Object> args = new ArrayList<>(List.of(temp.resolve("sum"), "--loss", "mse", "--labels",
                temp.resolve("y.npy"), "--batch", 4, "--epochs", 30, "--rate", 0.05));
        args.addAll(List.of(feeds));
        CommandRun several = train(args.toArray());
        assertEquals(2, several.code());
        assertTrue(several.err().contains("is computed from one of its outputs [") && several.err().contains("none is "
                + "given"), several.err());
        args.addAll(List.of("--output", sum));
        RunFolder run = trained("values", args.toArray());
        assertTrue(run.loss(run.checkpoints().getLast()) < 1e-2, run.losses()::toString);
        // A run is resumed with the settings that it was begun with.
        CommandRun resumed = train("--resume", run.path());
        assertEquals(0, resumed.code(), resumed.err());
    }

    /** The loss of a classifier with softmax, and a copy behind it, is computed from the input of the softmax. */
    @Test
    void aSoftmaxBeforeTheLossCountsOnce() throws IOException {
        Network network = Network.define(3,
                g -> Outputs.of("p", g.op("scale").in("X", g.linear(g.data("x", DType.FLOAT32, -1, 4), 3).softmax(-1))
                        .attr("scale", 1f).attr("bias", 0f).attr("bias_after_scale", true).one("Out")));
        Path model = temp.resolve("softmax.pdmodel");
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            InferenceModels.save(temp.resolve("softmax"), network.main(), List.of("x"),
                    List.of(network.outputs().get("p").name()), executor.scope()::find);
        }
        RunFolder run = trained("p", model, "--loss", "cross-entropy", "--data", data, "--batch", 10, "--epochs", 40,
                "--rate", 0.1);
        assertTrue(run.loss(run.checkpoints().getLast()) < 0.1, run.losses()::toString);
        try (InferenceModel tuned = InferenceModels.load(run.path().resolve("model"))) {
            List<String> types = tuned.program().global().ops().stream().map(OpDesc::type).toList();
            assertEquals(List.of("matmul_v2", "elementwise_add", "softmax", "scale"), types);
        }
    }

    private void assertRefused(String message, Object... args) {
        CommandRun run = train(args);
        assertEquals(2, run.code(), run.err());
        assertTrue(run.err().contains(message), run.err());
    }

    @Test
    void saysWhatIsMissing() throws IOException {
        RunFolder first = trained("first", "mlp", "--data", data, "--batch", 8, "--steps", 1);
        Path model = first.path().resolve("model.pdmodel");
        assertRefused("a model for inference needs --loss cross-entropy or --loss mse", model, "--data", data);
        assertRefused("needs --data", model, "--loss", "cross-entropy");
        assertRefused("--labels FILE.npy and --feed NAME=FILE.npy belong together", model, "--loss", "mse", "--labels",
                data.resolve("y.npy"));
        assertRefused("The labels of a mean squared error must be of the output's type, float32, but are int64", model,
                "--loss", "mse", "--data", data);
        assertRefused("The model is fed [x], but --feed gives [y]", model, "--loss", "mse", "--labels",
                data.resolve("y.npy"), "--feed", "y=" + data.resolve("y.npy"));
        assertRefused("--save must be some of [pdmodel, json, onnx], but is 'h5'", "mlp", "--data", data, "--save",
                "h5");
        assertFalse(Files.exists(temp.resolve("runs")));
        Npy.write(temp.resolve("wide.npy"), Tensor.of(new float[60 * 5], 60, 5));
        Npy.write(temp.resolve("y.npy"), Tensor.of(new long[60], 60));
        assertRefused("Feed 'x' must be float32[-1, 4] (-1 matches any), but 'x' of the data has batches of ", model,
                "--loss", "cross-entropy", "--feed",
                "x=" + temp.resolve("wide.npy"), "--labels", temp.resolve("y.npy"), "--out", temp.resolve("none"));
    }
}
