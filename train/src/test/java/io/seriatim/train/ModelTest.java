package io.seriatim.train;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Predictor;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.train.data.Split;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelTest {
    private static Network network() {
        return Network.define(5, g -> {
            Value point = g.data("x", FLOAT32, -1, 2);
            Value arm = g.data("y", INT64, -1, 1);
            Value logits = g.linear(g.linear(point, 8).relu(), 3);
            Value loss = g.softmaxCrossEntropy(logits, arm).mean();
            Value accuracy = g.accuracy(logits, arm, 1);
            g.minimize(loss, Adam.of(0.01));
            return Outputs.of("loss", loss, "accuracy", accuracy, "logits", logits).and("probabilities",
                    logits.softmax(-1));
        });
    }

    @Test
    void isMadeOfTheNamesOfOutputs() {
        Network network = network();
        Model model = Model.of("arms", network).loss("loss").metric("accuracy").predicts("probabilities");
        assertEquals(List.of("x", "y"), model.feeds());
        assertEquals(network.outputs().get("loss").name(), model.loss());
        assertEquals(Map.of("accuracy", network.outputs().get("accuracy").name()), model.metrics());
        assertEquals(List.of("x"), model.inputs());
        assertEquals(List.of("probabilities"), model.outputs());
        assertEquals(network.schedules(), model.schedules());
        // The calls may come in another order, and the saved model computes all outputs that are left by default.
        Model other = Model.of("arms", network).predicts("accuracy", "logits").metric("accuracy");
        assertEquals(List.of("logits"), other.outputs());
        assertEquals(List.of("x"), other.inputs());
        assertEquals(List.of("logits", "probabilities"), Model.of("arms", network).metric("accuracy").outputs());
    }

    @Test
    void savesResultsUnderTheirNames(@TempDir Path folder) throws IOException {
        Model model = Model.of("arms", network()).loss("loss").metric("accuracy").predicts("probabilities", "logits");
        Trainer trainer = Trainer.of(model, new Split(new Spirals(60, 1), new Spirals(30, 2))).batch(20).epochs(2)
                .seed(1).build();
        trainer.run();
        trainer.save(folder.resolve("arms"));
        Tensor point = Tensor.of(new float[]{0.5f, -0.25f}, 1, 2);
        try (Predictor predictor = Predictor.load(folder.resolve("arms.pdmodel"))) {
            Map<String, Tensor> results = predictor.run(Map.of("x", point)).all();
            assertEquals(List.of("probabilities", "logits"), List.copyOf(results.keySet()));
            float sum = 0;
            for (float each : Objects.requireNonNull(results.get("probabilities")).toFloatArray()) {
                sum += each;
            }
            assertEquals(1, sum, 1e-6f);
        }
    }

    @Test
    void aNetworkIsAModelForInference() {
        Network network = network();
        try (InferenceModel model = InferenceModels.of(network, "logits")) {
            assertEquals(List.of("x"), model.feeds());
            assertEquals(List.of("logits"), model.fetches());
            Map<String, Tensor> results = Interpreter.of(Kernels.system()).run(model.program(),
                    given(model, "x", Tensor.of(new float[4], 2, 2)), model.fetches());
            assertEquals(List.of(2L, 3L),
                    Arrays.stream(Objects.requireNonNull(results.get("logits")).shape().dims()).boxed().toList());
            try (InferenceModel again = InferenceModels.of(network)) {
                assertEquals(List.of("x", "y"), again.feeds());
                assertEquals(List.of("loss", "accuracy", "logits", "probabilities"), again.fetches());
                model.parameters().forEach((name, value) -> assertArrayEquals(value.toFloatArray(),
                        Objects.requireNonNull(again.parameters().get(name)).toFloatArray(),
                        "equal seeds give equal parameters"));
            }
        }
    }

    private static Map<String, Tensor> given(InferenceModel model, String feed, Tensor value) {
        Map<String, Tensor> given = new HashMap<>(model.parameters());
        given.put(feed, value);
        return given;
    }

    @Test
    void unknownOutputsAreNamed() {
        Model model = Model.of("arms", network());
        for (String message : List.of(
                assertThrows(IllegalArgumentException.class, () -> model.loss("los")).toString(),
                assertThrows(IllegalArgumentException.class, () -> model.metric("los")).toString(),
                assertThrows(IllegalArgumentException.class, () -> model.predicts("los")).toString(),
                assertThrows(IllegalArgumentException.class, () -> InferenceModels.of(network(), "los")).toString())) {
            assertTrue(message.contains("no output 'los'")
                    && message.contains("[loss, accuracy, logits, probabilities]"), message);
        }
    }
}
