package io.seriatim.train;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/**
 * A listener for the events of a training. The training thread calls it, in order. An exception ends the training after
 * the current step.
 */
public interface TrainingListener {
    /**
     * The properties of a training that starts.
     *
     * @param model
     *            the name of the model
     * @param place
     *            the places, such as {@code cpu} or {@code sim:0,sim:1}
     * @param threads
     *            the number of threads of a step
     * @param batch
     *            the number of examples of a step
     * @param firstStep
     *            the number of completed steps: 0, or more for a resumed training
     * @param steps
     *            the total number of steps, including completed ones
     * @param epochs
     *            the number of epochs
     * @param parameters
     *            the number of trained elements
     * @param examples
     *            the number of training examples
     * @param unit
     *            the unit of throughput, such as {@code tokens}
     */
    record Started(String model, String place, int threads, int batch, long firstStep, long steps, int epochs,
            long parameters,
            int examples, String unit) {
    }

    /**
     * The results of a step.
     *
     * @param step
     *            the number of the step, from 1
     * @param epoch
     *            the number of the epoch, from 1
     * @param loss
     *            the loss of the batch, before the update
     * @param metrics
     *            the metrics of the batch, by name
     * @param rate
     *            the learning rate; NaN if the program has no schedule
     * @param seconds
     *            the duration of the step, including the wait for its batch
     * @param units
     *            the number of processed units, such as tokens
     */
    record Step(long step, int epoch, double loss, Map<String, Double> metrics, double rate, double seconds,
            long units) {
    }

    /**
     * The results of an evaluation on the validation examples.
     *
     * @param step
     *            the step after which the model was evaluated
     * @param epoch
     *            the epoch of that step, from 1
     * @param loss
     *            the mean loss over all examples
     * @param metrics
     *            the mean metrics over all examples, by name
     * @param best
     *            whether the loss is the smallest so far
     * @param seconds
     *            the duration of the evaluation
     */
    record Evaluation(long step, int epoch, double loss, Map<String, Double> metrics, boolean best, double seconds) {
    }

    /** The reason for the end of a training. */
    enum End {
        /** All steps are complete. */
        DONE,
        /** Early stopping: the validation loss has not fallen for some evaluations. */
        EARLY,
        /** The end was requested by a {@link StopSignal}; the training can be resumed. */
        STOPPED
    }

    /**
     * Called before the first step, when the variables are set and the plans are compiled.
     *
     * @param started
     *            the properties of the training
     * @throws IOException
     *             if a file cannot be written
     */
    default void started(Started started) throws IOException {
        // Does nothing by default.
    }

    /**
     * Called after each step.
     *
     * @param step
     *            the results of the step
     * @throws IOException
     *             if a file cannot be written
     */
    default void step(Step step) throws IOException {
        // Does nothing by default.
    }

    /**
     * Called after each evaluation.
     *
     * @param evaluation
     *            the results of the evaluation
     * @throws IOException
     *             if a file cannot be written
     */
    default void evaluated(Evaluation evaluation) throws IOException {
        // Does nothing by default.
    }

    /**
     * Called when a checkpoint is complete.
     *
     * @param step
     *            the step of the checkpoint
     * @param folder
     *            the folder of the checkpoint
     * @throws IOException
     *             if a file cannot be written
     */
    default void saved(long step, Path folder) throws IOException {
        // Does nothing by default.
    }

    /**
     * Called when the training has ended without a failure.
     *
     * @param end
     *            the reason
     * @param step
     *            the last step
     * @throws IOException
     *             if a file cannot be written
     */
    default void ended(End end, long step) throws IOException {
        // Does nothing by default.
    }
}
