package io.seriatim.train.report;

/** Smooths a series. */
final class Smoothing {
    /** The window of the average, as a fraction of the series. */
    private static final double PARTS = 40;

    private Smoothing() {
    }

    /**
     * Returns an exponential moving average with bias correction (as for Adam's moments, Kingma and Ba 2015, section
     * 3). Values that are not finite are excluded and returned unchanged.
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
