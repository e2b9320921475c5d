package io.seriatim.train.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seriatim.train.TrainingListener.End;
import io.seriatim.train.TrainingListener.Evaluation;
import io.seriatim.train.TrainingListener.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonLinesTest {
    @TempDir
    Path folder;
    private Path file;

    @BeforeEach
    void nameFile() {
        file = folder.resolve("metrics.jsonl");
    }

    private JsonLines lines() {
        return new JsonLines(file, () -> 1500);
    }

    /** The metrics of an uninterrupted training up to a step. */
    private String whole(long steps) throws IOException {
        Path other = folder.resolve("whole.jsonl");
        try (JsonLines lines = new JsonLines(other, () -> 1500)) {
            lines.started(Runs.started(0, Runs.STEPS));
            Runs.tell(List.of(lines), 1, steps);
            lines.ended(End.DONE, steps);
        }
        return Files.readString(other);
    }

    @Test
    void eachEventIsALineWithTheDocumentedKeys() throws IOException {
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(0, 2900));
            lines.step(new Step(12, 1, 0.5, Map.of("accuracy", 0.25), 1e-3, 0.125, 64));
            lines.evaluated(new Evaluation(12, 1, 0.75, Map.of("accuracy", 0.5), true, 2));
            lines.saved(12, Path.of("checkpoint"));
            lines.ended(End.EARLY, 12);
        }
        assertEquals(
                """
                        {"event":"begun","model":"lenet","place":"cpu","threads":2,"batch":32,"step":0,"steps":2900,"epochs":5,\
                        "parameters":61706,"examples":9000,"unit":"images","wall":1.500}
                        {"event":"step","step":12,"epoch":1,"loss":0.5,"accuracy":0.25,"rate":0.001,"seconds":0.125,"units":64,"wall":1.500}
                        {"event":"evaluation","step":12,"epoch":1,"loss":0.75,"accuracy":0.5,"best":true,"seconds":2.0,"wall":1.500}
                        {"event":"saved","step":12,"folder":"checkpoint","wall":1.500}
                        {"event":"ended","step":12,"end":"early","wall":1.500}
                        """,
                Files.readString(file));
    }

    @Test
    void numbersThatJsonDoesNotHaveAreNullAndStrings() throws IOException {
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(0, 1));
            lines.step(new Step(1, 1, Double.NaN, Map.of("worst", Double.POSITIVE_INFINITY), Double.NaN, 1, 1));
        }
        assertEquals(
                "{\"event\":\"step\",\"step\":1,\"epoch\":1,\"loss\":null,\"worst\":\"Infinity\",\"rate\":null,\"seconds\":1.0,"
                        + "\"units\":1,\"wall\":1.500}",
                Files.readAllLines(file).get(1));
    }

    @Test
    void aMetricMayBeNamedLikeAKey() throws IOException {
        Map<String, Double> metrics = new TreeMap<>(
                Map.of("loss", 2.0, "metric.loss", 3.0, "event", 4.0, "perplexity", 5.0));
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(0, 1));
            lines.step(new Step(1, 1, 1.0, metrics, 0.1, 1, 1));
        }
        JsonLine line = JsonLine.parse(Files.readAllLines(file).get(1));
        assertEquals(metrics, JsonLines.metrics(line));
        assertEquals(1.0, line.number("loss"));
        assertEquals(2.0, line.number("metric.loss"));
    }

    @Test
    void eachLineIsThereAtOnce() throws IOException {
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(0, 2));
            lines.step(Runs.step(1));
            assertEquals(2, Files.readAllLines(file).size());
            lines.step(Runs.step(2));
            assertEquals(3, Files.readAllLines(file).size());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {300, 350, 399})
    void aContinuedTrainingReadsAsIfItHadNotBeenInterrupted(long interrupted) throws IOException {
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(0, Runs.STEPS));
            Runs.tell(List.of(lines), 1, interrupted);
        }
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(300, Runs.STEPS));
            Runs.tell(List.of(lines), 301, 500);
            lines.ended(End.DONE, 500);
        }
        assertEquals(whole(500), Files.readString(file));
    }

    @Test
    void theEndOfAStoppedTrainingIsTakenBack() throws IOException {
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(0, Runs.STEPS));
            Runs.tell(List.of(lines), 1, 300);
            lines.ended(End.STOPPED, 300);
            lines.started(Runs.started(300, Runs.STEPS));
            Runs.tell(List.of(lines), 301, 400);
            lines.ended(End.DONE, 400);
        }
        assertEquals(whole(400), Files.readString(file));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{", "{\"event\":\"step\",\"step\":301", "\0\0\0\0",
            "{\"event\":\"ended\",\"step\":300,\"end\":\"done\",\"wall\":1.500}"})
    void aLineThatWasNotWrittenToItsEndIsDropped(String torn) throws IOException {
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(0, Runs.STEPS));
            Runs.tell(List.of(lines), 1, 300);
        }
        Files.writeString(file, torn, StandardOpenOption.APPEND);
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(300, Runs.STEPS));
            Runs.tell(List.of(lines), 301, 400);
            lines.ended(End.DONE, 400);
        }
        assertEquals(whole(400), Files.readString(file));
    }

    @Test
    void aTrainingThatGoesOnOtherwiseSaysSo() throws IOException {
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(0, 2));
            lines.step(Runs.step(1));
            lines.step(Runs.step(2));
            lines.started(Runs.started(2, 4));
            lines.step(Runs.step(3));
            lines.started(Runs.started(2, 4));
            lines.step(Runs.step(3));
            lines.started(Runs.started(1, 4));
            lines.step(Runs.step(2));
        }
        List<JsonLine> read = Files.readAllLines(file).stream().map(JsonLine::parse).toList();
        assertEquals(List.of("begun 0", "step 1", "begun 1", "step 2"),
                read.stream().map(line -> line.text("event") + " " + line.whole("step")).toList());
        assertEquals(4, read.get(2).whole("steps"));
    }

    @Test
    void aTrainingFromTheBeginningReplacesTheFile() throws IOException {
        Files.writeString(file, "anything\n");
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(0, 2));
        }
        assertEquals(1, Files.readAllLines(file).size());
    }

    @Test
    void aContinuedTrainingWithoutItsFileBeginsOne() throws IOException {
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(100, 200));
            lines.step(Runs.step(101));
        }
        assertEquals(2, Files.readAllLines(file).size());
    }

    @Test
    void aForeignLineIsNamedAndNothingIsLost() throws IOException {
        try (JsonLines lines = lines()) {
            lines.started(Runs.started(0, 3));
            lines.step(Runs.step(1));
        }
        Files.writeString(file, "note to myself\n", StandardOpenOption.APPEND);
        String before = Files.readString(file);
        try (JsonLines lines = lines()) {
            IOException e = assertThrows(IOException.class, () -> lines.started(Runs.started(1, 3)));
            assertEquals(
                    "Line 3 of " + file
                            + " must be one that a training has written, but at character 0: '{' must be there, "
                            + "but 'n' is:"
                            + " delete it, or move the file away",
                    e.getMessage());
        }
        assertEquals(before, Files.readString(file));
    }

    @Test
    void theFolderMustBeThere() throws IOException {
        try (JsonLines lines = new JsonLines(folder.resolve("none").resolve("metrics.jsonl"))) {
            assertThrows(NoSuchFileException.class, () -> lines.started(Runs.started(0, 1)));
        }
    }

    @Test
    void nothingIsWrittenBeforeTheBeginning() throws IOException {
        try (JsonLines lines = lines()) {
            assertThrows(IllegalStateException.class, () -> lines.step(Runs.step(1)));
        }
    }
}
