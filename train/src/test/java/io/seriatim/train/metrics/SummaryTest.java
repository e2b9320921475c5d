package io.seriatim.train.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.train.TrainingListener.End;
import io.seriatim.train.TrainingListener.Evaluation;
import io.seriatim.train.TrainingListener.Step;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class SummaryTest {
    private long now;
    private final History history = new History(() -> now, new Memory() {
        @Override
        public long heap() {
            return 100L << 20;
        }

        @Override
        public long resident() {
            return 300L << 20;
        }

        @Override
        public long peak() {
            return 412L << 20;
        }
    });

    private void train(long firstStep, long steps) throws IOException {
        history.started(Runs.started(firstStep, 9000));
        for (long step = firstStep + 1; step <= firstStep + steps; step++) {
            now += 50_000_000;
            history.step(new Step(step, 1, 1, Map.of(), 0.1, 0.05, 1756));
        }
    }

    @Test
    void aTrainingThatIsDone() throws IOException {
        train(0, 2900);
        history.evaluated(new Evaluation(2320, 4, 1.187, Map.of("accuracy", 0.634), true, 1));
        history.evaluated(new Evaluation(2900, 5, 1.2, Map.of("accuracy", 0.64), false, 1));
        history.ended(End.DONE, 2900);
        Map<String, Path> files = new LinkedHashMap<>();
        files.put("model", Path.of("m.pdmodel"));
        files.put("parameters", Path.of("m.pdiparams"));
        assertEquals(List.of(
                "done: 2,900 steps in 2:25",
                "best validation loss 1.187  accuracy 0.634  after step 2,320",
                "last validation loss 1.200  accuracy 0.640  after step 2,900",
                "35,120 images/s on average, 412 MiB of memory at most",
                "model       m.pdmodel",
                "parameters  m.pdiparams"), Summary.lines(history, files));
    }

    @Test
    void aContinuedTrainingThatIsStopped() throws IOException {
        train(1000, 1);
        history.evaluated(new Evaluation(1001, 4, 0.00012345, Map.of(), true, 1));
        history.ended(End.STOPPED, 1001);
        assertEquals(List.of(
                "stopped, can be continued: 1 step in 0:00, 1,001 in all",
                "best validation loss 0.00012  after step 1,001",
                "35,120 images/s on average, 412 MiB of memory at most"), Summary.lines(history, Map.of()));
    }

    @Test
    void aTrainingThatFailedBeforeItsFirstStep() throws IOException {
        train(0, 0);
        assertEquals(List.of("failed: 0 steps in 0:00"), Summary.lines(history, Map.of()));
    }

    @Test
    void aTrainingThatLearnsNothing() throws IOException {
        train(0, 1);
        history.evaluated(new Evaluation(1, 1, Double.NaN, Map.of(), false, 1));
        history.ended(End.EARLY, 1);
        assertEquals("ended early, since the validation loss no longer fell: 1 step in 0:00",
                Summary.lines(history, Map.of()).getFirst());
        assertEquals(2, Summary.lines(history, Map.of()).size());
    }

    @Test
    void figuresForPeople() {
        assertEquals(
                List.of("0.000", "1.234", "0.05000", "-0.500", "12,346", "1.00e-05", "1.00e+10", "NaN", "-Infinity"),
                List.of(0.0, 1.234, 0.05, -0.5, 12345.6, 1e-5, 1e10, Double.NaN, Double.NEGATIVE_INFINITY).stream()
                        .map(Figures::value)
                        .toList());
        assertEquals(List.of("0:00", "0:47", "1:00", "1:02:03", "?", "?"),
                List.of(0.0, 47.4, 59.6, 3723.0, Double.NaN, -1.0).stream().map(Figures::time).toList());
        assertEquals(List.of("0.250", "12.5", "35,120", "?"),
                List.of(0.25, 12.5, 35_120.4, Double.POSITIVE_INFINITY).stream().map(Figures::speed).toList());
        assertEquals(List.of("1 MiB", "412 MiB", "139.5 GiB"),
                List.of(1L, 412L << 20, 279L << 29).stream().map(Figures::bytes).toList());
    }
}
