package io.seriatim.train.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.train.TrainingListener;
import io.seriatim.train.TrainingListener.End;
import io.seriatim.train.TrainingListener.Evaluation;
import io.seriatim.train.TrainingListener.Step;
import io.seriatim.train.metrics.Curve.Point;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

final class HistoryTest {
    private static final long SECOND = 1_000_000_000;

    @TempDir
    Path folder;
    private long now;
    private long asked;

    private History history(long resident, long peak) {
        return new History(() -> now, new Memory() {
            @Override
            public long heap() {
                asked++;
                return 1000 + asked;
            }

            @Override
            public long resident() {
                return resident < 0 ? -1 : resident + asked;
            }

            @Override
            public long peak() {
                return peak;
            }
        });
    }

    @Test
    void aContinuedTrainingHasTheWholeCurves() throws IOException {
        History whole = history(0, 0);
        whole.started(Runs.started(0, Runs.STEPS));
        Runs.tell(List.of(whole), 1, Runs.STEPS);

        Path file = folder.resolve("metrics.jsonl");
        try (JsonLines lines = new JsonLines(file)) {
            lines.started(Runs.started(0, Runs.STEPS));
            Runs.tell(List.<TrainingListener>of(lines), 1, 3456);
        }
        Files.writeString(file, "{\"event\":\"st", StandardOpenOption.APPEND);
        History continued = History.read(file, 3100);
        assertEquals(3100, continued.lastStep());
        assertEquals(31, continued.evaluations().size());
        continued.started(Runs.started(3100, Runs.STEPS));
        Runs.tell(List.of(continued), 3101, Runs.STEPS);

        assertEquals(whole.loss().points(), continued.loss().points());
        assertEquals(List.of("accuracy"), List.copyOf(continued.metrics().keySet()));
        assertEquals(metric(whole, "accuracy"), metric(continued, "accuracy"));
        assertEquals(whole.rate().points(), continued.rate().points());
        assertEquals(whole.throughput().points(), continued.throughput().points());
        assertEquals(whole.evaluations(), continued.evaluations());
        assertEquals(Runs.STEPS, whole.trainedSteps());
        assertEquals(Runs.STEPS - 3100, continued.trainedSteps());
    }

    private static List<Point> metric(History history, String name) {
        return Objects.requireNonNull(history.metrics().get(name)).points();
    }

    @Test
    void unusualNumbersAreReadAgain() throws IOException {
        Path file = folder.resolve("metrics.jsonl");
        try (JsonLines lines = new JsonLines(file)) {
            lines.started(Runs.started(0, 2));
            lines.step(new Step(1, 1, Double.NaN, Map.of("loss", 3.0), Double.NaN, 0.5, 10));
            lines.evaluated(new Evaluation(1, 1, Double.POSITIVE_INFINITY, Map.of(), false, 1));
        }
        History history = History.read(file, 1);
        assertEquals(List.of(new Point(1, 1, Double.NaN, Double.NaN, Double.NaN, 0, 1)), history.loss().points());
        assertEquals(List.of(new Point(1, 1, 3, 3, 3, 1, 0)), metric(history, "loss"));
        assertEquals(List.of(), history.rate().points());
        assertEquals(Double.POSITIVE_INFINITY, history.evaluations().getFirst().loss());
        assertEquals(Optional.empty(), history.best());
    }

    @Test
    void throughputOfAPointIsAllByAll() throws IOException {
        History history = history(0, 0);
        history.started(Runs.started(0, 5000));
        for (long step = 1; step <= 4001; step++) {
            history.step(new Step(step, 1, 1, Map.of(), 0.1, step % 2 == 0 ? 1 : 3, 12));
        }
        Point point = history.throughput().points().get(5);
        assertEquals(4, point.min());
        assertEquals(12, point.max());
        assertEquals(6, point.mean());
        assertEquals(6, history.meanThroughput(), 0.01);
    }

    @Test
    void memoryIsSampledOnceASecond() throws IOException {
        History history = history(5000, 7777);
        now = 42 * SECOND;
        history.started(Runs.started(0, 100));
        for (int step = 1; step <= 35; step++) {
            now += SECOND / 10;
            history.step(Runs.step(step));
        }
        assertEquals(List.of(0L, 1L, 2L, 3L), history.memory().points().stream().map(Point::first).toList());
        assertEquals(4, asked);
        assertEquals("resident memory", history.memory().name());
        assertEquals(5001, history.memory().points().getFirst().mean());
        assertEquals(1001, history.heap().points().getFirst().mean());
        assertEquals(5004, history.peakMemory());
        history.ended(End.DONE, 35);
        assertEquals(7777, history.peakMemory());
        assertEquals(3.5, history.elapsedSeconds());
    }

    @Test
    void theHeapStandsInWhereNothingElseIsKnown() throws IOException {
        History history = history(-1, -1);
        history.started(Runs.started(0, 100));
        now += 2 * SECOND;
        history.step(Runs.step(1));
        history.ended(End.DONE, 1);
        assertEquals("heap", history.memory().name());
        assertEquals(2, history.memory().points().size());
        assertEquals(1002, history.peakMemory());
    }

    @Test
    void theLaterOfTwoEvaluationsAfterAStepCounts() throws IOException {
        History history = history(0, 0);
        history.started(Runs.started(0, 100));
        history.evaluated(new Evaluation(5, 1, 2.0, Map.of(), true, 1));
        history.evaluated(new Evaluation(10, 1, 1.0, Map.of(), true, 1));
        history.evaluated(new Evaluation(15, 1, 1.5, Map.of(), false, 1));
        history.evaluated(new Evaluation(15, 1, 1.25, Map.of(), false, 1));
        assertEquals(List.of(2.0, 1.0, 1.25), history.evaluations().stream().map(Evaluation::loss).toList());
        assertEquals(10, history.best().orElseThrow().step());
    }

    /** A cost that grows with the evaluations so far would take hours. */
    @Test
    @Timeout(60)
    void anEvaluationCostsTheSameAfterAMillionOthers() throws IOException {
        History whole = history(0, 0);
        whole.started(Runs.started(0, 1_000_000));
        SplittableRandom random = new SplittableRandom(7);
        Evaluation best = new Evaluation(0, 1, Double.POSITIVE_INFINITY, Map.of(), false, 1);
        for (int step = 1; step <= 1_000_000; step++) {
            Evaluation evaluation = new Evaluation(step, 1, random.nextInt(10) == 0 ? Double.NaN : random.nextDouble(),
                    Map.of(), false, 1);
            whole.evaluated(evaluation);
            best = evaluation.loss() < best.loss() ? evaluation : best;
            if (step % 1000 == 0) {
                assertEquals(best, whole.best().orElseThrow());
                assertEquals(evaluation, whole.evaluations().getLast());
            }
        }
        List<Long> steps = whole.evaluations().stream().map(Evaluation::step).toList();
        assertTrue(steps.size() <= Curve.MAX_POINTS && steps.size() > Curve.MAX_POINTS / 2 - 1, "" + steps.size());
        for (int i = 1; i < steps.size() - 1; i++) {
            assertEquals(512, steps.get(i) - steps.get(i - 1), "steps " + steps.get(i - 1) + " and " + steps.get(i));
        }
    }

    @Test
    void aRepeatedEvaluationThatWasTheBestGivesWayToTheOneBefore() throws IOException {
        History history = history(0, 0);
        history.started(Runs.started(0, 100));
        history.evaluated(new Evaluation(5, 1, 2.0, Map.of(), true, 1));
        history.evaluated(new Evaluation(10, 1, 3.0, Map.of(), true, 1));
        history.evaluated(new Evaluation(15, 1, 1.5, Map.of(), false, 1));
        history.evaluated(new Evaluation(15, 1, 2.5, Map.of(), false, 1));
        assertEquals(5, history.best().orElseThrow().step());
    }

    @Test
    void whatATrainingDoesNotWriteIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("metrics.jsonl"), """
                {"event":"saved","step":1,"folder":"x","wall":1.0}
                {"event":"step","step":2,"epoch":1,"rate":0.1,"seconds":1,"units":1,"wall":1.0}
                """);
        assertEquals(1, History.read(file, 1).lastStep());
        IOException e = assertThrows(IOException.class, () -> History.read(file, 2));
        assertEquals("Line 2 of " + file
                + " must be one that a training has written, but 'loss' must be a number, but is null: delete it,"
                + " or move the file away", e.getMessage());
    }

    @Test
    void thisProcessTakesMemory() throws IOException {
        History history = new History();
        history.started(Runs.started(0, 1));
        history.ended(End.STOPPED, 0);
        assertTrue(history.peakMemory() > 1 << 20 && history.heap().points().size() == 1,
                "peak " + history.peakMemory());
    }

    @Test
    void memoryIsReadAsLinuxWritesIt() throws IOException {
        Path status = Files.writeString(folder.resolve("status"),
                "Name:\tjava\nVmHWM:\t  204800 kB\nVmRSS:\t  102400 kB\n");
        assertEquals(200L << 20, new Memory.OfProcess(status).peak());
        assertEquals(100L << 20, new Memory.OfProcess(status).resident());
        assertEquals(-1, new Memory.OfProcess(folder.resolve("none")).resident());
        assertEquals(-1, new Memory.OfProcess(Files.writeString(status, "Name:\tjava\n")).peak());
    }

    @Test
    void aStepOfAnotherProcessStandsForAllSinceTheOneBefore() throws IOException {
        History history = History.ofOtherProcess();
        history.started(new TrainingListener.Started("m", "cpu", 1, 4, 10, 30, 1, 1, 1, "examples"));
        history.step(new Step(11, 1, 3, Map.of(), Double.NaN, 0.5, 4));
        history.step(new Step(20, 1, 2, Map.of(), Double.NaN, 1.5, 36));
        history.ended(End.DONE, 20);
        assertEquals(10, history.trainedSteps());
        assertEquals(20, history.meanThroughput());
        assertEquals(List.of(), history.memory().points());
        assertEquals(0, history.peakMemory());
    }
}
