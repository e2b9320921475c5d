package io.seriatim.train.model;

import io.seriatim.graph.optimizer.AdamW;
import io.seriatim.graph.optimizer.Clip;
import io.seriatim.graph.optimizer.MixedPrecision;
import io.seriatim.graph.optimizer.Optimizer;
import io.seriatim.graph.optimizer.Schedule;
import java.util.function.Predicate;

/**
 * How a network is trained: what is not part of the network itself. Each {@link Architecture} has one to begin with.
 *
 * @param batch
 *            examples of a step, from 1
 * @param epochs
 *            passages through the training examples, from 1
 * @param rate
 *            the highest learning rate, above 0
 * @param warmUp
 *            steps in which the rate rises to it, from 0
 * @param clip
 *            the norm to which all gradients together are clipped; 0 for no clipping
 * @param decay
 *            the decoupled weight decay of matrices and filters, from 0; biases and normalisations do not decay
 * @param dropout
 *            the probability that an element is cleared where the network has dropout, from 0 to below 1
 * @param seed
 *            of the parameters and of dropout; the same ones for the same seed
 * @param bfloat16
 *            whether products and convolutions are computed in bfloat16 in training; parameters stay float32
 */
public record Recipe(int batch, int epochs, double rate, long warmUp, double clip, double decay, double dropout,
        long seed,
        boolean bfloat16) {
    private static final double LAST = 0.1;

    /**
     * Checks all of them.
     *
     * @throws IllegalArgumentException
     *             if one is out of its range
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
     * Without warm-up, clipping, decay and dropout, with seed 0, in float32.
     *
     * @param batch
     *            examples of a step
     * @param epochs
     *            passages through the training examples
     * @param rate
     *            the highest learning rate
     * @return the recipe
     */
    public static Recipe of(int batch, int epochs, double rate) {
        return new Recipe(batch, epochs, rate, 0, 0, 0, 0, 0, false);
    }

    /**
     * With another number of examples in a step.
     *
     * @param value
     *            from 1
     * @return a copy
     */
    public Recipe withBatch(int value) {
        return new Recipe(value, epochs, rate, warmUp, clip, decay, dropout, seed, bfloat16);
    }

    /**
     * With another number of passages.
     *
     * @param value
     *            from 1
     * @return a copy
     */
    public Recipe withEpochs(int value) {
        return new Recipe(batch, value, rate, warmUp, clip, decay, dropout, seed, bfloat16);
    }

    /**
     * With another learning rate.
     *
     * @param value
     *            the highest, above 0
     * @return a copy
     */
    public Recipe withRate(double value) {
        return new Recipe(batch, epochs, value, warmUp, clip, decay, dropout, seed, bfloat16);
    }

    /**
     * With another warm-up.
     *
     * @param value
     *            steps, from 0
     * @return a copy
     */
    public Recipe withWarmUp(long value) {
        return new Recipe(batch, epochs, rate, value, clip, decay, dropout, seed, bfloat16);
    }

    /**
     * With another clipping.
     *
     * @param value
     *            the norm of all gradients together; 0 for no clipping
     * @return a copy
     */
    public Recipe withClip(double value) {
        return new Recipe(batch, epochs, rate, warmUp, value, decay, dropout, seed, bfloat16);
    }

    /**
     * With another weight decay.
     *
     * @param value
     *            from 0
     * @return a copy
     */
    public Recipe withDecay(double value) {
        return new Recipe(batch, epochs, rate, warmUp, clip, value, dropout, seed, bfloat16);
    }

    /**
     * With another dropout.
     *
     * @param value
     *            from 0 to below 1
     * @return a copy
     */
    public Recipe withDropout(double value) {
        return new Recipe(batch, epochs, rate, warmUp, clip, decay, value, seed, bfloat16);
    }

    /**
     * With another seed.
     *
     * @param value
     *            any
     * @return a copy
     */
    public Recipe withSeed(long value) {
        return new Recipe(batch, epochs, rate, warmUp, clip, decay, dropout, value, bfloat16);
    }

    /**
     * In another precision.
     *
     * @param value
     *            whether products and convolutions are computed in bfloat16
     * @return a copy
     */
    public Recipe withBfloat16(boolean value) {
        return new Recipe(batch, epochs, rate, warmUp, clip, decay, dropout, seed, value);
    }

    /**
     * How many steps there are in all. Examples that fill no batch are left out.
     *
     * @param examples
     *            of the training set, from 1
     * @return from 1
     */
    public long steps(int examples) {
        atLeast("examples", 1, examples);
        return (long) epochs * Math.max(1, examples / batch);
    }

    /**
     * The learning rate: it rises evenly in the warm-up, then falls along half a cosine to a tenth of the highest. Of
     * fewer steps than twice the warm-up, half are warm-up.
     *
     * @param steps
     *            of the whole training, from 1; the rate stays as it is at its end from then on
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

    /** Adam with decoupled decay of what has more than one dimension. */
    Optimizer optimizer(long steps, Predicate<String> decays) {
        Optimizer optimizer = AdamW.of(schedule(steps)).weightDecay(decay).decays(decays);
        if (clip > 0) {
            optimizer = optimizer.clip(Clip.globalNorm(clip));
        }
        return bfloat16 ? optimizer.precision(MixedPrecision.bfloat16()) : optimizer;
    }
}
