package io.seriatim.train.metrics;

/**
 * An exponential moving average over about the last twenty values: each value has 0.95 times the weight of its
 * successor. A value that is not finite is returned once and then ignored.
 */
final class Average {
    private static final double KEPT = 0.95;

    private double sum;
    private double weight;
    private double strange;

    void add(double value) {
        if (!Double.isFinite(value)) {
            strange = value;
            return;
        }
        strange = 0;
        sum = sum * KEPT + value;
        weight = weight * KEPT + 1;
    }

    double value() {
        return strange == 0 ? sum / weight : strange;
    }
}
