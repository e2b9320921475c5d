package io.seriatim.graph;

import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The network of docs/networks.md: its lines are compiled here as they stand there, and run. */
class DocumentTest {
    private static final int DIGITS = 10;

    /** The parts that the document leaves to its reader. */
    record Batch(Tensor images, Tensor labels) {
        /** Images that are bright in the rows of their digit. */
        static Batch draw(Random random, int size) {
            double[] pixels = new double[size * 784];
            double[] labels = new double[size];
            for (int i = 0; i < size; i++) {
                labels[i] = random.nextInt(DIGITS);
                for (int j = 0; j < 784; j++) {
                    pixels[i * 784 + j] = random.nextDouble() * (j / 78 == (int) labels[i] ? 1 : 0.2);
                }
            }
            return new Batch(Tensor.of(FLOAT32, pixels, size, 784), Tensor.of(INT64, labels, size, 1));
        }
    }

    @Test
    @SuppressWarnings("NullAway") // What was asked for is there; the document does not dwell on it.
    void theNetworkLearns(@TempDir Path folder) throws IOException {
        Random random = new Random(1);
        List<Batch> batches = Stream.generate(() -> Batch.draw(random, 32)).limit(30).toList();
        List<Double> losses = new ArrayList<>();

        Network net = Network.define(g -> { // a main and a startup program
            Value x = g.data("x", FLOAT32, -1, 784);
            Value y = g.data("y", INT64, -1, 1);
            Value logits = g.linear(g.linear(x, 512).relu(), 10);
            Value loss = g.softmaxCrossEntropy(logits, y).mean();
            g.minimize(loss, Adam.of(1e-3).clip(Clip.globalNorm(1)));
            return Outputs.of("loss", loss, "logits", logits);
        });
        ProgramFiles.write(folder.resolve("mlp.pdmodel"), net.main());

        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(net.startup(), Map.of(), List.of());
        String loss = net.outputs().get("loss").name();
        for (Batch batch : batches) {
            Map<String, Tensor> results = interpreter.run(net.main(), Map.of("x", batch.images(), "y", batch.labels()),
                    List.of(loss));
            losses.add(results.get(loss).getDouble());
        }

        assertTrue(losses.getFirst() > 1.5 && losses.getLast() < 0.5,
                "from " + losses.getFirst() + " to " + losses.getLast());
        assertEquals(net.main().toString(), ProgramFiles.read(folder.resolve("mlp.pdmodel")).toString());
        assertTrue(net.main().toSvg().startsWith("<svg"));
    }

    /** The lines that this class repeats are those of the document. */
    @Test
    void theDocumentSaysTheSame() throws IOException {
        List<String> readme = code(
                Files.readString(Path.of("../docs/networks.md")).replaceFirst("(?s).*## Networks\\s+```java(.*?)```.*",
                        "$1"));
        List<String> here = code(Files.readString(Path.of("src/test/java/io/seriatim/graph/DocumentTest.java")));
        List<String> missing = readme.stream().filter(line -> !here.contains(line)).toList();
        assertEquals(
                List.of("ProgramFiles.write(Path.of(\"mlp.pdmodel\"), net.main());", "System.out.println(net.main());",
                        "System.out.println(results.get(loss).getDouble());"),
                missing);
    }

    private static List<String> code(String text) {
        return text.lines().map(line -> line.replaceFirst("\\s*// .*", "").strip()).filter(line -> !line.isEmpty())
                .toList();
    }
}
