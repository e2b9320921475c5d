package io.seriatim.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The README's code occurs in compiled sources, and its table of figures is short. */
class ReadmeTest {
    private static final int MOST_ROWS = 10;

    private static Document readme() throws IOException {
        return Document.of("../README.md");
    }

    @Test
    void itsCodeIsCompiled() throws IOException {
        List<String> missing = readme().missingIn(
                Path.of("../engine/src/test/java/io/seriatim/engine/ReadmeTest.java"),
                Path.of("../executor/src/test/java/io/seriatim/executor/ReadmeTest.java"),
                Path.of("../spark/src/test/java/io/seriatim/spark/DocumentTest.java"),
                Document.main("train/SpiralTraining.java"), Document.test("GuideTest.java"));
        assertEquals(List.of("System.out.println(step.run(batch.images(), batch.labels()).scalar(loss));"), missing);
    }

    @Test
    void itHasOneTableOfFewFigures() throws IOException {
        String figures = readme().text().replaceFirst("(?s).*\n## Figures\n(.*?)\n## .*", "$1");
        long rows = figures.lines().filter(line -> line.startsWith("|")).count() - 2;
        assertTrue(rows > 0 && rows <= MOST_ROWS, "rows: " + rows);
        assertEquals(1, figures.split("\n\\|--", -1).length - 1, "tables");
    }
}
