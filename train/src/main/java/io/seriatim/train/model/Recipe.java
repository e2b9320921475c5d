package io.seriatim.train.model;

import io.seriatim.graph.optimizer.AdamW;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.MixedPrecision;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.optimizer.Schedule;
import java.util.function.Predicate;

/**
 * The settings of a training that are not part of the network. Each {@link Architecture} has default ones.
 *
 * @param batch
 *            the number of examples of a step, at least 1
 * @param epochs
 *            the number of epochs, at least 1
 * @param rate
 *            the highest learning rate, greater than 0
 * @param warmUp
 *            the number of steps in which the rate rises to the highest, at least 0
 * @param clip
 *            the limit of the global norm of the gradients; 0 for no clipping
 * @param decay
 *            the decoupled weight decay of matrices and filters, at least 0; biases and normalisation parameters do not
 *            decay
 * @param dropout
 *            the dropout probability, from 0 to below 1
 * @param seed
 *            the seed of the initial parameters and of dropout
 * @param bfloat16
 *            whether training computes products and convolutions in bfloat16; parameters stay float32
 */
public record Recipe(int batch, int epochs, double rate, long warmUp, double clip, double decay, double dropout,
        long seed,
        boolean bfloat16) {
    private static final double LAST = 0.1;

    /**
     * Validates the settings.
     *
     * @throws IllegalArgumentException
     *             if one is out of range
     */
    public Recipe {
        atLeast("batch", 1, batch);
        atLeast("epochs", 1, epochs);
        atLeast("warmUp", 0, warmUp);
        notNegative("clip", clip);
        notNegative("decay", decay);
        if (!(rate > 0) || Double.isInfinite(rate)) {
            throw new IllegalArgumentException("The learning rate must be a finite number above 0, but is " + rate);
        }
        if (!(dropout >= 0 && dropout < 1)) {
            throw new IllegalArgumentException(
                    "The probability of dropout must be from 0 to below 1, but is " + dropout);
        }
    }

    private static void atLeast(String name, long least, long value) {
        if (value < least) {
            throw new IllegalArgumentException(
                    "'" + name + "' of a recipe must be at least " + least + ", but is " + value);
        }
    }

    private static void notNegative(String name, double value) {
        if (!(value >= 0) || Double.isInfinite(value)) {
            throw new IllegalArgumentException(
                    "'" + name + "' of a recipe must be a finite number from 0 on, but is " + value);
        }
    }

    /**
     * Creates settings without warm-up, clipping, decay and dropout, with seed 0, in float32.
     *
     * @param batch
     *            the number of examples of a step
     * @param epochs
     *            the number of epochs
     * @param rate
     *            the highest learning rate
     * @return the recipe
     */
    public static Recipe of(int batch, int epochs, double rate) {
        return new Recipe(batch, epochs, rate, 0, 0, 0, 0, 0, false);
    }

    /**
     * Returns a copy with another batch size.
     *
     * @param value
     *            at least 1
     * @return a copy
     */
    public Recipe withBatch(int value) {
        return new Recipe(value, epochs, rate, warmUp, clip, decay, dropout, seed, bfloat16);
    }

    /**
     * Returns a copy with another number of epochs.
     *
     * @param value
     *            at least 1
     * @return a copy
     */
    public Recipe withEpochs(int value) {
        return new Recipe(batch, value, rate, warmUp, clip, decay, dropout, seed, bfloat16);
    }

    /**
     * Returns a copy with another learning rate.
     *
     * @param value
     *            the highest rate, greater than 0
     * @return a copy
     */
    public Recipe withRate(double value) {
        return new Recipe(batch, epochs, value, warmUp, clip, decay, dropout, seed, bfloat16);
    }

    /**
     * Returns a copy with another warm-up.
     *
     * @param value
     *            the number of steps, at least 0
     * @return a copy
     */
    public Recipe withWarmUp(long value) {
        return new Recipe(batch, epochs, rate, value, clip, decay, dropout, seed, bfloat16);
    }

    /**
     * Returns a copy with another clipping.
     *
     * @param value
     *            the limit of the global norm; 0 for no clipping
     * @return a copy
     */
    public Recipe withClip(double value) {
        return new Recipe(batch, epochs, rate, warmUp, value, decay, dropout, seed, bfloat16);
    }

    /**
     * Returns a copy with another weight decay.
     *
     * @param value
     *            at least 0
     * @return a copy
     */
    public Recipe withDecay(double value) {
        return new Recipe(batch, epochs, rate, warmUp, clip, value, dropout, seed, bfloat16);
    }

    /**
     * Returns a copy with another dropout.
     *
     * @param value
     *            from 0 to below 1
     * @return a copy
     */
    public Recipe withDropout(double value) {
        return new Recipe(batch, epochs, rate, warmUp, clip, decay, value, seed, bfloat16);
    }

    /**
     * Returns a copy with another seed.
     *
     * @param value
     *            any
     * @return a copy
     */
    public Recipe withSeed(long value) {
        return new Recipe(batch, epochs, rate, warmUp, clip, decay, dropout, value, bfloat16);
    }

    /**
     * Returns a copy with another precision.
     *
     * @param value
     *            whether products and convolutions are computed in bfloat16
     * @return a copy
     */
    public Recipe withBfloat16(boolean value) {
        return new Recipe(batch, epochs, rate, warmUp, clip, decay, dropout, seed, value);
    }

    /**
     * Returns the total number of steps. Examples that do not fill a batch are left out.
     *
     * @param examples
     *            the number of training examples, at least 1
     * @return at least 1
     */
    public long steps(int examples) {
        atLeast("examples", 1, examples);
        return (long) epochs * Math.max(1, examples / batch);
    }

    /**
     * Returns the learning rate schedule: linear warm-up, then cosine decay to a tenth of the highest rate. If there
     * are fewer steps than twice the warm-up, half of them are warm-up.
     *
     * @param steps
     *            the number of steps of the whole training, at least 1; afterwards the rate stays constant
     * @return the schedule
     */
    public Schedule schedule(long steps) {
        atLeast("steps", 1, steps);
        long rising = Math.min(warmUp, steps / 2);
        long falling = Math.max(1, steps - rising);
        Schedule cosine = Schedule.cosine(rate, falling, LAST * rate);
        Schedule fall = step -> cosine.rate(Math.min(step, falling));
        return fall.warmUp(rising, rate / Math.max(1, rising), rate);
    }

    /** Returns Adam with decoupled weight decay of the parameters that {@code decays} selects. */
    Optimizer optimizer(long steps, Predicate<String> decays) {
        Optimizer optimizer = AdamW.of(schedule(steps)).weightDecay(decay).decays(decays);
        if (clip > 0) {
            optimizer = optimizer.clip(Clip.globalNorm(clip));
        }
        return bfloat16 ? optimizer.precision(MixedPrecision.bfloat16()) : optimizer;
    }
}
