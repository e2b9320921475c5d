package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.array.NDArray;
import io.seriatim.tensor.array.NDArrays;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Compiles and runs the programs of the README and of docs/networks.md that run plans, line by line as they are
 * printed.
 */
class ReadmeTest {
    private static final int DIGITS = 10;
    private static final Random RANDOM = new Random(1);

    /** The class that the examples in the README assume. */
    record Batch(Tensor images, Tensor labels) {
        /** Returns images that are bright in the rows of their digit. */
        static Batch draw() {
            double[] pixels = new double[32 * 784];
            double[] labels = new double[32];
            for (int i = 0; i < labels.length; i++) {
                labels[i] = RANDOM.nextInt(DIGITS);
                for (int j = 0; j < 784; j++) {
                    pixels[i * 784 + j] = RANDOM.nextDouble() * (j / 78 == (int) labels[i] ? 1 : 0.2);
                }
            }
            return new Batch(Tensor.of(FLOAT32, pixels, labels.length, 784),
                    Tensor.of(INT64, labels, labels.length, 1));
        }
    }

    private static Network network() {
        Network net = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 784), y = g.data("y", INT64, -1, 1);
            Value loss = g.softmaxCrossEntropy(g.linear(g.linear(x, 512).relu(), 10), y).mean();
            g.minimize(loss, Adam.of(1e-3));
            return Outputs.of("loss", loss);
        });
        return net;
    }

    @Test
    void thePlanTrains() {
        List<Batch> batches = Stream.generate(Batch::draw).limit(30).toList();
        List<Double> losses = new ArrayList<>();
        Network net = network();

        String loss = net.outputs().get("loss").name();
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(net.startup()); // parameters, into executor.scope()
            Plan step = executor.compile(net.main(), feeds("x", "y"), fetches(loss)); // analysed once
            for (Batch batch : batches) {
                losses.add(step.run(batch.images(), batch.labels()).scalar(loss));
            }
        }

        assertTrue(losses.getFirst() > 1.5 && losses.getLast() < 0.5,
                "from " + losses.getFirst() + " to " + losses.getLast());
    }

    @Test
    void thePlanIsPushedAmongArrays() throws InterruptedException {
        Network net = network();
        String loss = net.outputs().get("loss").name();
        List<Double> losses = new ArrayList<>();
        try (Engine engine = Engine.create(); Executor executor = Executor.on(Place.CPU)) {
            executor.run(net.startup());
            Plan step = executor.compile(net.main(), feeds("x", "y"), fetches(loss));

            NDArrays nd = NDArrays.on(engine);
            NDArray x = nd.generator(1).uniform(0, 255, 32, 784), y = nd.full(7, INT64, 32, 1), value = nd.zeros();
            for (int i = 0; i < 20; i++) {
                // returns at once
                step.push(engine, executor.scope(), Map.of("x", x.divide(255), "y", y), Map.of(loss, value));
            }
            engine.waitToRead(executor.scope().var()); // all steps; throws if one has failed
            losses.add((double) value.toArray()[0]);
        }

        assertTrue(losses.getFirst() < 0.1, "the loss is " + losses);
    }

    /** The lines in this class are equal to those in the documents. */
    @Test
    void theDocumentsSayTheSame() throws IOException {
        saysTheSame(Files.readString(Path.of("../docs/networks.md")).replaceFirst("(?s).*## Run and train programs\\s+",
                ""));
        saysTheSame(Files.readString(Path.of("../README.md"))
                .replaceFirst("(?s).*## A network in ten lines\\s+(.*?)\n## .*", "$1"));
    }

    private static void saysTheSame(String section) throws IOException {
        List<String> here = code(Files.readString(Path.of("src/test/java/io/seriatim/executor/ReadmeTest.java")));
        List<String> missing = Stream.of(section.split("```java", -1)).skip(1)
                .flatMap(block -> code(block.substring(0, block.indexOf("```"))).stream())
                .filter(line -> !here.contains(line)).toList();
        assertEquals(List.of("System.out.println(step.run(batch.images(), batch.labels()).scalar(loss));"), missing);
    }

    private static List<String> code(String text) {
        return text.lines().map(line -> line.replaceFirst("\\s*// .*", "").strip()).filter(line -> !line.isEmpty())
                .toList();
    }
}
