package io.seriatim.graph.ops.text;

/** Sums and products of probabilities that are given by their logarithms. */
final class LogSpace {
    private LogSpace() {
    }

    /** ln(eᵃ + eᵇ). */
    static double add(double a, double b) {
        double larger = Math.max(a, b);
        return larger == Double.NEGATIVE_INFINITY ? larger : larger + Math.log1p(Math.exp(Math.min(a, b) - larger));
    }

    /** The logarithms of the softmax of some numbers. */
    static void softmax(double[] values, int at, int count, double[] to, int toAt) {
        double largest = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            largest = Math.max(largest, values[at + i]);
        }
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += Math.exp(values[at + i] - largest);
        }
        double all = largest + Math.log(sum);
        for (int i = 0; i < count; i++) {
            to[toAt + i] = values[at + i] - all;
        }
    }
}
