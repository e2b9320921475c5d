package io.seriatim.examples;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Plan;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program of docs/paddle.md: this test compiles and runs the page's lines. */
class PaddlePageTest {
    /** The parts that the page does not show. */
    record Batch(Tensor images, Tensor labels) {
        /** Two images, the brighter one of class 1. */
        static Batch of() {
            float[] pixels = new float[2 * 784];
            Arrays.fill(pixels, 784, 2 * 784, 1);
            return new Batch(Tensor.of(pixels, 2, 784), Tensor.of(new long[]{0, 1}, 2, 1));
        }
    }

    @Test
    void theProgramTrainsAndIsSaved(@TempDir Path folder) throws IOException {
        List<Batch> batches = Stream.generate(Batch::of).limit(20).toList();
        List<Double> losses = new ArrayList<>();

        Network net = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 784), y = g.data("y", INT64, -1, 1);
            Value logits = g.linear(g.linear(x, 128).relu(), 10);
            Value loss = g.softmaxCrossEntropy(logits, y).mean();
            g.minimize(loss, Adam.of(1e-3).clip(Clip.globalNorm(1)));
            return Outputs.of("loss", loss, "logits", logits);
        });
        String loss = net.outputs().get("loss").name(), logits = net.outputs().get("logits").name();
        try (Executor exe = Executor.on(Place.CPU)) {
            exe.run(net.startup());
            Plan step = exe.compile(net.main(), feeds("x", "y"), fetches(loss));
            for (Batch batch : batches) {
                double value = step.run(batch.images(), batch.labels()).scalar(loss);
                losses.add(value);
            }
            InferenceModels.save(folder.resolve("digits"), net.main(), List.of("x"), List.of(logits),
                    exe.scope()::find);
        }

        assertTrue(losses.getLast() < 0.5 * losses.getFirst(), losses::toString);
        try (InferenceModels.InferenceModel saved = InferenceModels.load(folder.resolve("digits"))) {
            assertEquals(List.of("matmul_v2", "elementwise_add", "relu", "matmul_v2", "elementwise_add"),
                    saved.program().global().ops().stream().map(OpDesc::type).toList());
        }
    }

    @Test
    void thePageSaysTheSame() throws IOException {
        assertEquals(List.of(), Document.of("paddle.md").missingIn(Document.test("PaddlePageTest.java")));
    }
}
