package io.seriatim.benchmarks.metg;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.metg.EfficiencyCurve.Sample;
import java.util.ArrayList;
import java.util.List;

/**
 * The sizes of tasks that are measured: upward in doubles to the first size whose efficiency is at least {@link #HIGH},
 * or to a limit, then downward in halves from the first size to the first one whose efficiency is below {@link #LOW}. A
 * size below it is measured twice and the better sample counts, so that a short disturbance does not end the sweep.
 */
final class Sweep {
    static final double HIGH = 0.95;
    static final double LOW = 0.3;

    private Sweep() {
    }

    /** Measures one size. */
    @FunctionalInterface
    interface Measurement {
        Sample of(int iterations) throws InterruptedException, WrongValueException, PeerUnavailableException;
    }

    /**
     * Measures the sizes of a sweep.
     *
     * @param first
     *            the size to begin with, at least 1
     * @param most
     *            the greatest size
     */
    static EfficiencyCurve run(int first, int most, Measurement measurement)
            throws InterruptedException, WrongValueException, PeerUnavailableException {
        List<Sample> samples = new ArrayList<>();
        Sample begin = measurement.of(first);
        samples.add(begin);
        Sample largest = begin;
        while (largest.efficiency() < HIGH && largest.iterations() <= most / 2) {
            largest = measurement.of(2 * largest.iterations());
            samples.add(largest);
        }
        Sample smallest = begin;
        while (smallest.efficiency() >= LOW && smallest.iterations() > 1) {
            int size = smallest.iterations() / 2;
            smallest = measurement.of(size);
            if (smallest.efficiency() < LOW) {
                Sample again = measurement.of(size);
                smallest = again.efficiency() > smallest.efficiency() ? again : smallest;
            }
            samples.add(smallest);
        }
        return new EfficiencyCurve(samples);
    }
}
