package io.seriatim.train;

import io.seriatim.executor.ProgramFailedException;
import io.seriatim.executor.Scope;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the first operation that computed NaN or an infinite value. Because a training is bitwise reproducible, it is
 * repeated from the newest checkpoint in a separate scope, and its last steps run with a check of every result.
 */
final class NonFiniteLocator {
    /** The number of checked steps: the update of an earlier step may have caused the loss. */
    private static final int LOOKED_AT = 3;

    private final Training training;
    private final TrainingState failed;

    NonFiniteLocator(Training training, TrainingState failed) {
        this.training = training;
        this.failed = failed;
    }

    NotFiniteException search(double loss) throws IOException {
        String what = "The loss of step " + (failed.step() + 1) + " is " + (Double.isNaN(loss) ? "NaN" : "infinite")
                + ". ";
        String advice = " Take a smaller learning rate, clip gradients, or look at the data";
        Found found = repeat();
        return found == null
                ? new NotFiniteException(what + "No operation of the last " + LOOKED_AT
                        + " steps computed such a value from finite ones."
                        + advice, null)
                : new NotFiniteException(what + "The first such value came in step " + found.step + ": "
                        + found.failure.getMessage() + "."
                        + advice, found.failure);
    }

    private record Found(long step, ProgramFailedException failure) {
    }

    private @Nullable Found repeat() throws IOException {
        Scope scope = new Scope();
        TrainingState state = training.rewind(scope, failed.data());
        long perEpoch = training.perEpoch();
        try (TrainingReader reader = new TrainingReader(training, state)) {
            long unchecked = Math.max(0, failed.step() + 1 - LOOKED_AT - state.step());
            try (Steps steps = new Steps(training.model(), training.options(), scope, state.step(), false, null)) {
                for (long i = 0; i < unchecked; i++) {
                    run(steps, reader.next());
                    state = state.stepped(perEpoch);
                }
            }
            try (Steps steps = new Steps(training.model(), training.options(), scope, state.step(), true, null)) {
                while (state.step() <= failed.step()) {
                    try {
                        run(steps, reader.next());
                    } catch (ProgramFailedException e) {
                        return new Found(state.step() + 1, e);
                    }
                    state = state.stepped(perEpoch);
                }
            }
            return null;
        }
    }

    private static void run(Steps steps, List<Tensor> batch) {
        try {
            steps.run(batch);
        } finally {
            batch.forEach(Tensor::close);
        }
    }
}
