package io.seriatim.train.report;

/** Takes the noise out of a series. */
final class Smoothing {
    /** An average reaches over about this part of a series. */
    private static final double PARTS = 40;

    private Smoothing() {
    }

    /**
     * An exponential moving average, whose first values are weighted as if there had been nothing before them (as
     * Adam's moments are, Kingma and Ba 2015, section 3). What is not finite is left out of it and stays as it is.
     */
    static double[] smoothed(double[] values) {
        double decay = 1 - 2 / (Math.max(1, values.length / PARTS) + 1);
        double[] smoothed = new double[values.length];
        double sum = 0;
        double weight = 0;
        for (int i = 0; i < values.length; i++) {
            smoothed[i] = values[i];
            if (Double.isFinite(values[i])) {
                sum = decay * sum + (1 - decay) * values[i];
                weight = decay * weight + (1 - decay);
                smoothed[i] = sum / weight;
            }
        }
        return smoothed;
    }
}
