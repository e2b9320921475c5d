package io.seriatim.benchmarks.models;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The times of one model with one number of threads.
 *
 * @param name
 *            the name of the model
 * @param threads
 *            the number of threads of each system
 * @param ours
 *            the median of a run for each round, ms
 * @param peers
 *            the same for each peer that ran the model
 * @param difference
 *            the largest difference of a result from a peer's, relative to the largest value of the output
 */
record ModelFigures(String name, int threads, List<Double> ours, Map<String, List<Double>> peers,
        OptionalDouble difference) {
    /** Results that differ more are wrong: float32 sums in another order differ less. */
    static final double MOST_DIFFERENCE = 1e-3;

    ModelFigures {
        ours = List.copyOf(ours);
        peers = Collections.unmodifiableMap(new LinkedHashMap<>(peers));
    }

    double millis() {
        return median(ours);
    }

    OptionalDouble millis(String peer) {
        List<Double> times = peers.get(peer);
        return times == null ? OptionalDouble.empty() : OptionalDouble.of(median(times));
    }

    /** Returns our time divided by that of the faster peer. */
    OptionalDouble ratio() {
        OptionalDouble fastest = peers.values().stream().mapToDouble(ModelFigures::median).min();
        return fastest.isPresent() ? OptionalDouble.of(millis() / fastest.getAsDouble()) : fastest;
    }

    boolean isRight() {
        return difference.isEmpty() || difference.getAsDouble() <= MOST_DIFFERENCE;
    }

    static double median(Collection<Double> values) {
        return median(values.stream().mapToDouble(Double::doubleValue).toArray());
    }

    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int n = sorted.length;
        return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }
}
