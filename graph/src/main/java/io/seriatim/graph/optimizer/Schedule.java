package io.seriatim.graph.optimizer;

import java.util.Arrays;

/**
 * A learning rate that changes from step to step. It adds no operation: before each run the interpreter or the
 * executor sets the variable of the rate.
 */
@FunctionalInterface
public interface Schedule {
    /**
     * The rate of a step.
     *
     * @param step
     *            from 0
     * @return the learning rate
     */
    double rate(long step);

    /**
     * Always the same.
     *
     * @param rate
     *            the learning rate
     * @return the schedule
     */
    static Schedule constant(double rate) {
        return _ -> rate;
    }

    /**
     * rate · gamma^step.
     *
     * @param rate
     *            at step 0
     * @param gamma
     *            the factor of each step
     * @return the schedule
     */
    static Schedule exponential(double rate, double gamma) {
        return step -> rate * Math.pow(gamma, (double) step);
    }

    /**
     * rate · e^(−gamma·step).
     *
     * @param rate
     *            at step 0
     * @param gamma
     *            how fast it falls
     * @return the schedule
     */
    static Schedule naturalExponential(double rate, double gamma) {
        return step -> rate * Math.exp(-gamma * step);
    }

    /**
     * rate / (1 + gamma·step).
     *
     * @param rate
     *            at step 0
     * @param gamma
     *            how fast it falls
     * @return the schedule
     */
    static Schedule inverseTime(double rate, double gamma) {
        return step -> rate / (1 + gamma * step);
    }

    /**
     * Falls from the rate to an end along (1 − step/steps)^power.
     *
     * @param rate
     *            at step 0
     * @param steps
     *            until the end
     * @param end
     *            the rate from then on
     * @param power
     *            1 for a line
     * @return the schedule
     */
    static Schedule polynomial(double rate, long steps, double end, double power) {
        if (steps < 1) {
            throw new IllegalArgumentException("A polynomial schedule takes at least 1 step, but " + steps);
        }
        return step -> (rate - end) * Math.pow(1 - (double) Math.min(step, steps) / steps, power) + end;
    }

    /**
     * Half a period of a cosine from the rate down to an end, and up again (Loshchilov, Hutter, 2017, without
     * restarts).
     *
     * @param rate
     *            at step 0
     * @param steps
     *            until the end
     * @param end
     *            the rate there
     * @return the schedule
     */
    static Schedule cosine(double rate, long steps, double end) {
        if (steps < 1) {
            throw new IllegalArgumentException("A cosine schedule takes at least 1 step, but " + steps);
        }
        return step -> end + (rate - end) * (1 + Math.cos(Math.PI * step / steps)) / 2;
    }

    /**
     * Falls by a factor every so many steps.
     *
     * @param rate
     *            at step 0
     * @param size
     *            how many steps are alike
     * @param gamma
     *            the factor
     * @return the schedule
     */
    static Schedule step(double rate, long size, double gamma) {
        if (size < 1) {
            throw new IllegalArgumentException("The rate falls after at least 1 step, but after " + size);
        }
        return step -> rate * Math.pow(gamma, (double) Math.floorDiv(step, size));
    }

    /**
     * A rate for each part of the training.
     *
     * @param boundaries
     *            the first steps of the second part, the third and so on, ascending
     * @param rates
     *            one more than boundaries
     * @return the schedule
     */
    static Schedule piecewise(long[] boundaries, double[] rates) {
        if (rates.length != boundaries.length + 1) {
            throw new IllegalArgumentException(
                    "A piecewise schedule has one rate more than boundaries, but " + rates.length + " and "
                            + boundaries.length);
        }
        long[] starts = boundaries.clone();
        for (int i = 1; i < starts.length; i++) {
            if (starts[i] <= starts[i - 1]) {
                throw new IllegalArgumentException(
                        "The boundaries of a piecewise schedule rise, but they are " + Arrays.toString(starts));
            }
        }
        double[] values = rates.clone();
        return step -> {
            int part = 0;
            while (part < starts.length && step >= starts[part]) {
                part++;
            }
            return values[part];
        };
    }

    /**
     * rate · size^−½ · min(step^−½, step · warm-up^−1½): that of the Transformer (Vaswani et al., 2017). 0 at step 0.
     *
     * @param rate
     *            the factor
     * @param size
     *            of the model
     * @param warmUp
     *            steps until the highest rate
     * @return the schedule
     */
    static Schedule noam(double rate, long size, long warmUp) {
        if (size < 1 || warmUp < 1) {
            throw new IllegalArgumentException(
                    "The size and the steps of a warm-up are at least 1, but " + size + " and " + warmUp);
        }
        return step -> rate / Math.sqrt((double) size)
                * Math.min(step == 0 ? 1 : 1 / Math.sqrt((double) step), step * Math.pow((double) warmUp, -1.5));
    }

    /**
     * Rises evenly from a start to this schedule's first rate, and then follows this schedule from its beginning.
     *
     * @param steps
     *            how many rise
     * @param start
     *            the rate at step 0
     * @param end
     *            the rate when the rise ends
     * @return the schedule
     */
    default Schedule warmUp(long steps, double start, double end) {
        if (steps < 0) {
            throw new IllegalArgumentException("A warm-up takes no negative number of steps, but " + steps);
        }
        return step -> step < steps ? start + (end - start) * step / steps : rate(step - steps);
    }
}
