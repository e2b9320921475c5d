package io.seriatim.train.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.train.TrainingListener.End;
import io.seriatim.train.TrainingListener.Evaluation;
import io.seriatim.train.TrainingListener.Started;
import io.seriatim.train.TrainingListener.Step;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ProgressTest {
    private static final String HEAD = "names on cpu, 2 threads: 812,345 parameters, 18,560 examples, batches of 64";

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private long now;

    private Progress progress(boolean terminal, int columns, Charset charset) {
        return new Progress(new PrintStream(bytes, true, charset), terminal, columns, () -> now);
    }

    private static Started started(long firstStep, long steps) {
        return new Started("names", "cpu", 2, 64, firstStep, steps, 5, 812_345, 18_560, "tokens");
    }

    /** Steps of a hundredth of a second, 512 tokens each. */
    private void tell(Progress progress, long from, long to, double loss) {
        for (long step = from; step <= to; step++) {
            now += 10_000_000;
            progress.step(
                    new Step(step, (int) ((step - 1) / 580) + 1, loss, Map.of("accuracy", 0.61), 1e-3, 0.01, 512));
        }
    }

    private String printed() {
        return bytes.toString(StandardCharsets.UTF_8).replace(System.lineSeparator(), "\n");
    }

    /** The lines that a terminal displays. */
    private List<String> screen() {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        int column = 0;
        for (char c : printed().toCharArray()) {
            if (c == '\n') {
                lines.add(line.toString().stripTrailing());
                line.setLength(0);
                column = 0;
            } else if (c == '\r') {
                column = 0;
            } else {
                line.replace(column, Math.min(column + 1, line.length()), String.valueOf(c));
                column++;
            }
        }
        lines.add(line.toString().stripTrailing());
        return lines;
    }

    @Test
    void aLineThatIsRedrawn() {
        Progress progress = progress(true, 120, StandardCharsets.UTF_8);
        progress.started(started(0, 2900));
        tell(progress, 1, 1241, 1.234);
        assertEquals(List.of(HEAD,
                "epoch 3/5 ━━━━━━━━╺─────────── 1,241/2,900  loss 1.234  accuracy 0.610  51,200 tokens/s  0:17 left"),
                screen());
        progress.evaluated(new Evaluation(1241, 3, 1.187, Map.of("accuracy", 0.634), true, 2));
        progress.saved(1241, Path.of("c"));
        progress.evaluated(new Evaluation(1241, 3, 1.2, Map.of(), false, 2));
        assertEquals(List.of(HEAD, "step 1,241  validation loss 1.187  accuracy 0.634  best so far",
                "step 1,241  checkpoint c",
                "step 1,241  validation loss 1.200",
                "epoch 3/5 ━━━━━━━━╺─────────── 1,241/2,900  loss 1.234  accuracy 0.610  51,200 tokens/s  0:22 left"),
                screen());
        tell(progress, 1242, 2900, 0.001);
        progress.ended(End.DONE, 2900);
        assertEquals(
                List.of("epoch 5/5 ━━━━━━━━━━━━━━━━━━━━ 2,900/2,900  loss 0.00100  accuracy 0.610  51,200 tokens/s "
                        + " in 0:29",
                        ""),
                screen().subList(4, 6));
        int length = bytes.size();
        progress.close();
        assertEquals(length, bytes.size());
    }

    @Test
    void itIsRedrawnTenTimesASecond() {
        Progress progress = progress(true, 100, StandardCharsets.UTF_8);
        progress.started(started(0, 10_000));
        tell(progress, 1, 2001, 1);
        assertEquals(201, printed().chars().filter(c -> c == '\r').count());
    }

    @Test
    void aSlowStepIsShownEachTime() {
        Progress progress = progress(true, 100, StandardCharsets.UTF_8);
        progress.started(started(0, 4));
        for (int step = 1; step <= 4; step++) {
            now += 3_000_000_000L;
            progress.step(new Step(step, 1, 1, Map.of(), Double.NaN, 3, 6));
        }
        assertEquals(4, printed().chars().filter(c -> c == '\r').count());
        assertEquals("epoch 1/5 ━━━━━━━━━━━━━━━━━━━━ 4/4  loss 1.000  2.0 tokens/s  in 0:12", screen().getLast());
    }

    @Test
    void aFailedTrainingLeavesItsLastState() {
        Progress progress = progress(true, 100, StandardCharsets.UTF_8);
        progress.started(started(0, 100));
        tell(progress, 1, 7, 1);
        progress.step(new Step(8, 1, Double.NaN, Map.of("accuracy", 0.61), 1e-3, 0.01, 512));
        progress.close();
        assertEquals("epoch 1/5 ━╺────────────────── 8/100  loss NaN  accuracy 0.610  51,200 tokens/s",
                screen().get(1));
        assertEquals("", screen().get(2));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 10, 40, 60, 79, 80, 90, 100, 200})
    void itIsNeverWiderThanTheTerminal(int columns) {
        Progress progress = progress(true, columns, StandardCharsets.UTF_8);
        progress.started(started(0, 2900));
        tell(progress, 1, 1240, 1.234);
        String line = screen().getLast();
        assertTrue(line.length() < columns && line.length() >= Math.min(columns - 2, 90), columns + ": " + line);
        assertTrue("epoch 3/5 ".startsWith(line.substring(0, Math.min(9, line.length()))), line);
        assertEquals(columns >= 79, line.endsWith(" left"), line);
        assertEquals(columns >= 90, line.contains("━"), line);
    }

    @Test
    void asciiWhereThereIsNothingElse() {
        Progress progress = progress(true, 100, StandardCharsets.US_ASCII);
        progress.started(started(0, 10));
        tell(progress, 1, 4, 1);
        progress.close();
        assertTrue(screen().get(1).startsWith("epoch 1/5 ========>----------- 4/10  loss"), screen().toString());
    }

    @Test
    void plainLinesAtFixedSteps() {
        Progress progress = progress(false, 40, StandardCharsets.UTF_8);
        progress.started(started(0, 90));
        tell(progress, 1, 10, 2);
        progress.saved(10, Path.of("c"));
        tell(progress, 11, 90, 2);
        progress.ended(End.DONE, 90);
        List<String> lines = printed().lines().toList();
        assertEquals(HEAD, lines.get(0));
        assertEquals("epoch 1/5  1/90  loss 2.000  accuracy 0.610  51,200 tokens/s", lines.get(1));
        assertEquals("epoch 1/5  5/90  loss 2.000  accuracy 0.610  51,200 tokens/s", lines.get(2));
        assertEquals("step 10  checkpoint c", lines.get(4));
        assertEquals("epoch 1/5  90/90  loss 2.000  accuracy 0.610  51,200 tokens/s  in 0:01", lines.getLast());
        assertEquals(21, lines.size());
        assertFalse(printed().chars().anyMatch(c -> c < ' ' && c != '\n'), "no control characters");
    }

    @Test
    void aContinuedTrainingShowsItsFirstStep() {
        Progress progress = progress(false, 40, StandardCharsets.UTF_8);
        progress.started(started(1001, 2000));
        tell(progress, 1002, 1300, 2);
        assertEquals(List.of(HEAD + ", continued after step 1,001",
                "epoch 2/5  1,002/2,000  loss 2.000  accuracy 0.610  51,200 tokens/s",
                "epoch 2/5  1,100/2,000  loss 2.000  accuracy 0.610  51,200 tokens/s",
                "epoch 3/5  1,200/2,000  loss 2.000  accuracy 0.610  51,200 tokens/s",
                "epoch 3/5  1,300/2,000  loss 2.000  accuracy 0.610  51,200 tokens/s  0:07 left"),
                printed().lines().toList());
    }

    /** The first steps are slow because of JIT compilation: an estimate based on them would be many times too long. */
    @Test
    void theForecastWaitsForASteadyPace() {
        Progress progress = progress(false, 40, StandardCharsets.UTF_8);
        progress.started(started(0, 10_000));
        progress.step(new Step(1, 1, 2, Map.of(), 0.1, 1.5, 512));
        for (long step = 2; step <= 10_000; step++) {
            double seconds = Math.max(0.01, 0.2 / step);
            progress.step(new Step(step, 1, 2, Map.of(), 0.1, seconds, 512));
        }
        List<String> lines = printed().lines().toList();
        assertFalse(lines.get(1).contains("left"), lines.get(1));
        // The true remaining time is 1:35; an estimate from the first step would exceed four hours.
        assertTrue(lines.get(2).matches(".* 500/10,000 .*  1:[3-5]\\d left"), lines.get(2));
    }

    @Test
    void aPaceThatNeverBecomesSteadyIsUsedAfterAWhile() {
        Throughput throughput = new Throughput();
        int steps = 0;
        while (!throughput.isSteady()) {
            throughput.add(1, steps++ % 2 == 0 ? 0.1 : 3);
        }
        assertTrue(steps > 10 && steps < 16, "steps: " + steps);
    }

    @Test
    void lossAndThroughputAreRecentOnes() {
        Progress progress = progress(false, 40, StandardCharsets.UTF_8);
        progress.started(started(0, 10_000));
        tell(progress, 1, 4000, 8);
        for (long step = 4001; step <= 5000; step++) {
            progress.step(new Step(step, 1, 2, Map.of(), 0.1, 0.1, 512));
        }
        assertTrue(printed().endsWith("5,000/10,000  loss 2.000  accuracy 0.610  5,120 tokens/s  8:20 left\n"),
                printed());
    }

    @Test
    void theLossIsAMeanOverSteps() {
        Progress progress = progress(false, 40, StandardCharsets.UTF_8);
        progress.started(started(0, 2));
        progress.step(new Step(1, 1, 1, Map.of(), 0.1, 0.1, 1));
        progress.step(new Step(2, 1, 3, Map.of(), 0.1, 0.1, 1));
        assertTrue(printed().contains("1/2  loss 1.000 "), printed());
        assertTrue(printed().contains("2/2  loss 2.026 "), printed());
    }

    @Test
    void widthsThatMakeNoSense() {
        assertEquals(100, Progress.columns(null));
        assertEquals(100, Progress.columns("wide"));
        assertEquals(100, Progress.columns("-80"));
        assertEquals(100, Progress.columns("0"));
        assertEquals(132, Progress.columns("132"));
        assertThrows(IllegalArgumentException.class, () -> progress(true, 1, StandardCharsets.UTF_8));
    }

    @Test
    void nothingIsShownBeforeTheBeginning() {
        assertThrows(IllegalStateException.class, () -> progress(true, 80, StandardCharsets.UTF_8).step(Runs.step(1)));
    }
}
