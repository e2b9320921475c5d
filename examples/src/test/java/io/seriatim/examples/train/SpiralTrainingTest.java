package io.seriatim.examples.train;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpiralTrainingTest {
    @TempDir
    private Path folder;

    @Test
    void itLearnsInThreeEpochs() throws IOException {
        SpiralTraining.main(folder.toString(), "3");

        Spirals examples = new Spirals(300, 9);
        List<Integer> predicted = SpiralTraining.predict(folder.resolve("model"), examples);
        int right = 0;
        for (int i = 0; i < examples.size(); i++) {
            right += predicted.get(i) == examples.points().get(i).arm() ? 1 : 0;
        }
        assertTrue(right > 270, "right are " + right + " of 300");
        List<String> metrics = Files.readAllLines(folder.resolve("metrics.jsonl"));
        assertEquals(3 * 93,
                metrics.stream().filter(line -> line.startsWith("{\"event\":\"step\"")).count(),
                () -> String.join("\n", metrics.subList(0, 3)));
        assertTrue(Files.isDirectory(folder.resolve("checkpoints")));
    }

    @Test
    void batchesHoldTheExamplesThatWereAskedFor() {
        Spirals spirals = new Spirals(9, 1);
        List<Tensor> batch = spirals.batch(new int[]{4, 2});
        assertArrayEquals(new long[]{1, 2}, batch.get(1).toLongArray());
        assertArrayEquals(
                new float[]{spirals.points().get(4).x(), spirals.points().get(4).y(), spirals.points().get(2).x(),
                        spirals.points().get(2).y()},
                batch.getFirst().toFloatArray());
    }
}
