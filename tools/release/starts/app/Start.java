package app;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Predictor;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.onednn.OneDnn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Learns whether the sum of four numbers is positive, saves the network as an ONNX file, and asks it. */
public final class Start {
    private static final int ROWS = 64;
    private static final int COLUMNS = 4;

    private Start() {
    }

    /** Prints the losses and the answers; the last line has the kernels and both classes. */
    public static void main(String[] args) throws IOException {
        float[] numbers = new float[ROWS * COLUMNS];
        long[] classes = new long[ROWS];
        for (int i = 0; i < ROWS; i++) {
            double sum = 0;
            for (int j = 0; j < COLUMNS; j++) {
                numbers[i * COLUMNS + j] = (float) Math.sin(1.7 * i + 2.3 * j * j + 1);
                sum += numbers[i * COLUMNS + j];
            }
            classes[i] = sum > 0 ? 1 : 0;
        }
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, COLUMNS);
            Value y = g.data("y", INT64, -1, 1);
            Value logits = g.linear(g.linear(x, 16).tanh(), 2);
            Value loss = g.softmaxCrossEntropy(logits, y).mean();
            g.minimize(loss, Adam.of(0.05));
            return Outputs.of("loss", loss, "logits", logits);
        });
        Path file = Files.createTempDirectory("start").resolve("model.onnx");
        String loss = network.outputs().get("loss").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(network.startup());
            Plan step = executor.compile(network.main(), Executor.feeds("x", "y"), Executor.fetches(loss));
            Tensor x = Tensor.of(numbers, ROWS, COLUMNS);
            Tensor y = Tensor.of(classes, ROWS, 1);
            double first = step.run(x, y).scalar(loss);
            double last = first;
            for (int i = 0; i < 60; i++) {
                last = step.run(x, y).scalar(loss);
            }
            System.out.println("loss from " + first + " to " + last);
            InferenceModels.save(file, InferenceModels.of(network, executor.scope()::find, "logits"));
        }
        try (Predictor predictor = Predictor.load(file)) {
            System.out.println((OneDnn.status().loaded() ? "oneDNN" : "Java") + ": " + kind(predictor, 0.7f) + " and "
                    + kind(predictor, -0.7f));
        }
        Files.delete(file);
        Files.delete(file.getParent());
    }

    private static String kind(Predictor predictor, float value) {
        Tensor x = Tensor.of(new float[]{value, value, value, value}, 1, COLUMNS);
        float[] scores = predictor.run(Map.of("x", x)).get("logits").toFloatArray();
        return scores[1] > scores[0] ? "positive" : "negative";
    }
}
