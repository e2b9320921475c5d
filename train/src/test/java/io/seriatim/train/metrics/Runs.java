package io.seriatim.train.metrics;

import io.seriatim.train.TrainingListener;
import io.seriatim.train.TrainingListener.Evaluation;
import io.seriatim.train.TrainingListener.Started;
import io.seriatim.train.TrainingListener.Step;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A simulated training, with the same numbers at the same steps each time. */
final class Runs {
    static final long STEPS = 5000;

    private Runs() {
    }

    static Started started(long firstStep, long steps) {
        return new Started("lenet", "cpu", 2, 32, firstStep, steps, 5, 61_706, 9000, "images");
    }

    static Step step(long step) {
        Random random = new Random(step);
        return new Step(step, (int) (step / 1000) + 1, 1 + random.nextGaussian(),
                Map.of("accuracy", random.nextDouble()),
                1 / (double) step, 0.01 + random.nextDouble(), 32);
    }

    static Evaluation evaluation(long step) {
        return new Evaluation(step, (int) (step / 1000), 2 - step / 5000.0, Map.of("accuracy", step / 6000.0), true,
                0.25);
    }

    /** Reports steps, with an evaluation and a checkpoint after every hundredth. */
    static void tell(List<TrainingListener> listeners, long from, long to) throws IOException {
        for (TrainingListener listener : listeners) {
            for (long step = from; step <= to; step++) {
                listener.step(step(step));
                if (step % 100 == 0) {
                    listener.evaluated(evaluation(step));
                    listener.saved(step, Path.of("run", "checkpoints", Long.toString(step)));
                }
            }
        }
    }
}
