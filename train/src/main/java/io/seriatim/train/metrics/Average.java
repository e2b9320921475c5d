package io.seriatim.train.metrics;

/**
 * A mean over about the last twenty values, in which each weighs a twentieth less than the next; what is not finite
 * shows only once.
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
