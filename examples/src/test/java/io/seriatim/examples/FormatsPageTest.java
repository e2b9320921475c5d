package io.seriatim.examples;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program of docs/formats.md: this test compiles and runs the page's lines. */
class FormatsPageTest {
    private static Path saved(Path folder) throws IOException {
        Network original = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 2);
            return Outputs.of("y", g.linear(g.linear(x, 16).relu(), 2));
        });
        Path file = folder.resolve("model.pdmodel");
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(original.startup());
            InferenceModels.save(file, InferenceModels.of(original.main(), List.of("x"),
                    List.of(original.outputs().get("y").name()), executor.scope()::find));
        }
        return file;
    }

    @Test
    void theModelIsTrainedFurther(@TempDir Path folder) throws IOException {
        Map<String, Tensor> batch = Map.of("x", Tensor.of(new float[]{0, 1, 1, 0}, 2, 2), "label",
                Tensor.of(new long[]{0, 1}, 2, 1));
        try (InferenceModel model = InferenceModels.load(saved(folder)); Executor executor = Executor.on(Place.CPU)) {
            Network network = Network.from(model, g -> {
                Value logits = g.var(model.fetches().getFirst());
                Value loss = g.softmaxCrossEntropy(logits, g.data("label", INT64, -1, 1)).mean();
                g.minimize(loss, Adam.of(1e-3));
                return Outputs.of("loss", loss);
            });
            network.values().forEach(executor.scope()::setCopy); // the model's parameters
            executor.run(network.startup()); // the optimizer's variables
            String loss = network.outputs().get("loss").name();
            double first = executor.run(network.main(), batch, Executor.fetches(loss)).scalar(loss);
            double last = first;
            for (int i = 0; i < 300; i++) {
                last = executor.run(network.main(), batch, Executor.fetches(loss)).scalar(loss);
            }
            assertTrue(last < first / 2, first + " to " + last);
            Path tuned = folder.resolve("tuned.pdmodel");
            InferenceModels.save(tuned,
                    InferenceModels.of(network.main(), model.feeds(), model.fetches(), executor.scope()::find));
            try (InferenceModel again = InferenceModels.load(tuned)) {
                assertEquals(model.fetches(), again.fetches());
            }
        }
    }

    @Test
    void itsCodeIsCompiled() throws IOException {
        assertEquals(List.of(), Document.of("../docs/formats.md").missingIn(Document.test("FormatsPageTest.java")));
    }
}
