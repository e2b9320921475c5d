package io.seriatim.spark;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.spark.example.ClassifySpirals;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the example program. */
class ExampleTest {
    @TempDir
    private Path folder;

    @Test
    void spiralsAreLearnt() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Path saved = folder.resolve("pipeline");
        double accuracy = ClassifySpirals.run(LocalSpark.session(), saved.toString(), 1,
                new PrintStream(out, true, StandardCharsets.UTF_8));
        assertTrue(accuracy > 0.9, "accuracy: " + accuracy);
        assertTrue(out.toString(StandardCharsets.UTF_8).contains("other points: "), out::toString);
        assertTrue(Files.isDirectory(saved.resolve("stages")), saved::toString);
    }
}
