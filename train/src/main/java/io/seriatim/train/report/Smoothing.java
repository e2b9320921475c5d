package io.seriatim.train.report;

import java.util.Arrays;

/** Takes noise and mere number out of curves. */
final class Smoothing {
    /** An average reaches over about this part of a curve. */
    private static final int PARTS = 40;
    private static final int MOST_POINTS = 2000;

    private Smoothing() {
    }

    /**
     * An exponential moving average, whose first values are weighted as if there had been nothing before them (as Adam's moments are, Kingma and Ba 2015, section 3). What is not finite is left out of it
     * and stays as it is.
     */
    static double[] smoothed(double[] values) {
        double decay = 1 - 2.0 / (Math.max(1.0, values.length / (double) PARTS) + 1);
        double[] smoothed = new double[values.length];
        double sum = 0;
        double weight = 0;
        for (int i = 0; i < values.length; i++) {
            if (Double.isFinite(values[i])) {
                sum = decay * sum + (1 - decay) * values[i];
                weight = decay * weight + (1 - decay);
                smoothed[i] = sum / weight;
            } else {
                smoothed[i] = values[i];
            }
        }
        return smoothed;
    }

    /** Which points of a long curve to draw: of each stretch the first that is not finite, or else its least and its greatest, so that no spike is lost. The first and the last are always drawn. */
    static int[] drawn(double[] values) {
        int n = values.length;
        if (n <= MOST_POINTS) {
            int[] all = new int[n];
            Arrays.setAll(all, i -> i);
            return all;
        }
        int stretches = MOST_POINTS / 2 - 2;
        int[] drawn = new int[MOST_POINTS];
        int count = 0;
        drawn[count++] = 0;
        for (int s = 0; s < stretches; s++) {
            int from = 1 + (int) ((long) (n - 2) * s / stretches);
            int to = 1 + (int) ((long) (n - 2) * (s + 1) / stretches);
            int least = from;
            int greatest = from;
            int broken = -1;
            for (int i = from; i < to; i++) {
                broken = broken < 0 && !Double.isFinite(values[i]) ? i : broken;
                least = values[i] < values[least] ? i : least;
                greatest = values[i] > values[greatest] ? i : greatest;
            }
            if (broken >= 0) {
                drawn[count++] = broken;
            } else {
                drawn[count++] = Math.min(least, greatest);
                if (least != greatest) {
                    drawn[count++] = Math.max(least, greatest);
                }
            }
        }
        drawn[count++] = n - 1;
        return Arrays.copyOf(drawn, count);
    }
}
