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

    /** The training starts; {@code examples} are those of rank 0. */
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

    /** Some steps are done; the last one is {@code step}. */
    record Stepped(long number, long step, int epoch, double loss, HashMap<String, Double> metrics, double rate,
            double seconds, long units) implements RankEvent {
        private static final long serialVersionUID = 1;

        @Override
        public void tell(TrainingListener listener) throws IOException {
            listener.step(new TrainingListener.Step(step, epoch, loss, Map.copyOf(metrics), rate, seconds, units));
        }
    }

    /** The model was evaluated. */
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

    /** The training has ended. */
    record Ended(long number, TrainingListener.End end, long step) implements RankEvent {
        private static final long serialVersionUID = 1;

        @Override
        public void tell(TrainingListener listener) throws IOException {
            listener.ended(end, step);
        }
    }
}
