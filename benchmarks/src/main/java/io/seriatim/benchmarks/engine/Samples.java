package io.seriatim.benchmarks.engine;

import java.util.ArrayList;
import java.util.List;

/** The laps of one contender at one workload. */
final class Samples {
    private final List<Lap> laps = new ArrayList<>();

    void add(Lap lap) {
        laps.add(lap);
    }

    boolean isEmpty() {
        return laps.isEmpty();
    }

    double min() {
        return laps.stream().mapToDouble(Lap::best).min().orElse(Double.NaN);
    }

    /** Returns the median. */
    double median() {
        double[] sorted = laps.stream().mapToDouble(Lap::typical).sorted().toArray();
        int n = sorted.length;
        return n == 0 ? Double.NaN : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }

    /** Returns the worst check of all laps. */
    ResultCheck check() {
        return laps.stream().map(Lap::check).reduce(ResultCheck.SAME,
                (a, b) -> a == ResultCheck.WRONG || b == ResultCheck.SAME ? a : b);
    }
}
