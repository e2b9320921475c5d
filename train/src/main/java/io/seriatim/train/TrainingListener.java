package io.seriatim.train;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/**
 * Is told what happens in a training, in the thread that trains, in order. What it throws ends the training after the
 * step.
 */
public interface TrainingListener {
    /**
     * What is about to happen.
     *
     * @param model
     *            for people
     * @param place
     *            where, such as {@code cpu}, or {@code sim:0,sim:1}
     * @param threads
     *            that work on one step
     * @param batch
     *            examples of a step
     * @param firstStep
     *            0, or more if it is a continued training: so many steps have been done
     * @param steps
     *            how many there will be in all, with those that have been done
     * @param epochs
     *            passages through the data
     * @param parameters
     *            elements that are trained
     * @param examples
     *            of an epoch
     * @param unit
     *            what throughput counts, such as {@code tokens}
     */
    record Begun(String model, String place, int threads, int batch, long firstStep, long steps, int epochs,
            long parameters,
            int examples, String unit) {
    }

    /**
     * A step has ended.
     *
     * @param step
     *            from 1
     * @param epoch
     *            from 1
     * @param loss
     *            of its batch, before the step
     * @param metrics
     *            of its batch, by their names for people
     * @param rate
     *            learning rate; NaN if the program has none
     * @param seconds
     *            the step took, with reading
     * @param units
     *            it has trained, such as tokens
     */
    record Step(long step, int epoch, double loss, Map<String, Double> metrics, double rate, double seconds,
            long units) {
    }

    /**
     * The model has been judged by the validation examples.
     *
     * @param step
     *            after which
     * @param epoch
     *            of that step, from 1
     * @param loss
     *            mean over all examples
     * @param metrics
     *            means over all examples, by their names for people
     * @param best
     *            whether it is the smallest loss so far
     * @param seconds
     *            that it took
     */
    record Evaluation(long step, int epoch, double loss, Map<String, Double> metrics, boolean best, double seconds) {
    }

    /** Why a training has ended. */
    enum End {
        /** All steps were done. */
        DONE,
        /** The validation loss had not fallen for as long as was allowed. */
        EARLY,
        /** Someone asked for it; it can be continued. */
        STOPPED
    }

    /**
     * The training has begun: variables are set, plans are made, and the next is the first step.
     *
     * @param begun
     *            what is about to happen
     * @throws IOException
     *             if something cannot be written
     */
    default void begun(Begun begun) throws IOException {
        // Not every listener wants it.
    }

    /**
     * A step has ended.
     *
     * @param step
     *            what came out
     * @throws IOException
     *             if something cannot be written
     */
    default void step(Step step) throws IOException {
        // Not every listener wants it.
    }

    /**
     * The model has been judged.
     *
     * @param evaluation
     *            what came out
     * @throws IOException
     *             if something cannot be written
     */
    default void evaluated(Evaluation evaluation) throws IOException {
        // Not every listener wants it.
    }

    /**
     * A checkpoint is complete.
     *
     * @param step
     *            after which
     * @param folder
     *            where it is
     * @throws IOException
     *             if something cannot be written
     */
    default void saved(long step, Path folder) throws IOException {
        // Not every listener wants it.
    }

    /**
     * The training has ended other than by a failure.
     *
     * @param end
     *            why
     * @param step
     *            the last one
     * @throws IOException
     *             if something cannot be written
     */
    default void ended(End end, long step) throws IOException {
        // Not every listener wants it.
    }
}
