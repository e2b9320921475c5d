package io.seriatim.spark;

import io.seriatim.train.TrainingListener;
import java.io.IOException;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;

/** What rank 0 tells the driver while it trains: the events of a {@link TrainingListener} with consecutive numbers. */
sealed interface RankEvent extends Serializable {
    /** Returns the number among the events of an attempt, from 0. */
    long number();

    /** Returns the last step before the event. */
    long step();

    /** Calls the method of the event. */
    void tell(TrainingListener listener) throws IOException;

    /**
     * The training starts; {@code examples} are those of rank 0.
     *
     * @param number
     *            the number among the events of an attempt, from 0
     * @param model
     *            the name of the model
     * @param place
     *            where the steps are computed
     * @param threads
     *            the number of threads of a rank
     * @param batch
     *            the examples of a step, those of all ranks together
     * @param firstStep
     *            the step after which the training begins
     * @param steps
     *            the number of steps
     * @param epochs
     *            the number of epochs
     * @param parameters
     *            the number of elements of the parameters
     * @param examples
     *            the number of examples
     * @param unit
     *            what the throughput counts
     */
    record Began(long number, String model, String place, int threads, int batch, long firstStep, long steps,
            int epochs, long parameters, int examples, String unit) implements RankEvent {
        private static final long serialVersionUID = 1;

        static Began of(long number, TrainingListener.Started from) {
            return new Began(number, from.model(), from.place(), from.threads(), from.batch(), from.firstStep(),
                    from.steps(), from.epochs(), from.parameters(), from.examples(), from.unit());
        }

        @Override
        public long step() {
            return firstStep;
        }

        /** Returns the event with the examples of all ranks. */
        Began withExamples(int all) {
            return new Began(number, model, place, threads, batch, firstStep, steps, epochs, parameters, all, unit);
        }

        @Override
        public void tell(TrainingListener listener) throws IOException {
            listener.started(new TrainingListener.Started(model, place, threads, batch, firstStep, steps, epochs,
                    parameters, examples, unit));
        }
    }

    /**
     * Some steps are done; the last one is {@code step}.
     *
     * @param number
     *            the number among the events of an attempt, from 0
     * @param step
     *            the last step before the event
     * @param epoch
     *            the epoch of the step, from 1
     * @param loss
     *            the loss
     * @param metrics
     *            the metrics by name
     * @param rate
     *            the learning rate; NaN if the program has no schedule
     * @param seconds
     *            the duration of the step
     * @param units
     *            the number of processed units, such as tokens
     */
    record Stepped(long number, long step, int epoch, double loss, HashMap<String, Double> metrics, double rate,
            double seconds, long units) implements RankEvent {
        private static final long serialVersionUID = 1;

        @Override
        public void tell(TrainingListener listener) throws IOException {
            listener.step(new TrainingListener.Step(step, epoch, loss, Map.copyOf(metrics), rate, seconds, units));
        }
    }

    /**
     * The model was evaluated.
     *
     * @param number
     *            the number among the events of an attempt, from 0
     * @param step
     *            the last step before the event
     * @param epoch
     *            the epoch of the step, from 1
     * @param loss
     *            the mean loss over all examples
     * @param metrics
     *            the metrics by name
     * @param best
     *            whether the loss is the smallest so far
     * @param seconds
     *            the duration of the evaluation
     */
    record Evaluated(long number, long step, int epoch, double loss, HashMap<String, Double> metrics, boolean best,
            double seconds) implements RankEvent {
        private static final long serialVersionUID = 1;

        static Evaluated of(long number, TrainingListener.Evaluation from) {
            return new Evaluated(number, from.step(), from.epoch(), from.loss(), new HashMap<>(from.metrics()),
                    from.best(), from.seconds());
        }

        @Override
        public void tell(TrainingListener listener) throws IOException {
            listener.evaluated(new TrainingListener.Evaluation(step, epoch, loss, Map.copyOf(metrics), best, seconds));
        }
    }

    /**
     * The training has ended.
     *
     * @param number
     *            the number among the events of an attempt, from 0
     * @param end
     *            why it has ended
     * @param step
     *            the last step before the event
     */
    record Ended(long number, TrainingListener.End end, long step) implements RankEvent {
        private static final long serialVersionUID = 1;

        @Override
        public void tell(TrainingListener listener) throws IOException {
            listener.ended(end, step);
        }
    }
}
