package io.seriatim.benchmarks.metg;

import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The efficiency of a system over the granularity of its tasks.
 *
 * @param samples
 *            in descending order of granularity after construction
 */
record EfficiencyCurve(List<Sample> samples) {
    /** The efficiency at which the granularity is taken. */
    static final double THRESHOLD = 0.5;

    /**
     * One measured size of tasks.
     *
     * @param iterations
     *            the iterations of the kernel in a task of full weight
     * @param tasks
     *            the number of tasks
     * @param nanos
     *            the elapsed time
     * @param granularity
     *            elapsed time times threads divided by tasks, in nanoseconds
     * @param efficiency
     *            floating-point operations per time, divided by those of threads that only run the kernel
     */
    record Sample(int iterations, long tasks, long nanos, double granularity, double efficiency) {
        static Sample of(TaskGraph graph, int steps, int iterations, long nanos, int threads, double peak) {
            long tasks = graph.tasks(steps);
            double flops = (double) graph.iterations(steps, iterations) * FmaKernel.FLOPS;
            return new Sample(iterations, tasks, nanos, (double) nanos * threads / tasks, flops / nanos / peak);
        }
    }

    EfficiencyCurve {
        samples = samples.stream().sorted(Comparator.comparingDouble(Sample::granularity).reversed()).toList();
    }

    /**
     * Returns METG(50 %) in nanoseconds: the smallest granularity with an efficiency of at least one half, interpolated
     * between the two samples around it, linearly in the logarithm of the granularity. If even the smallest measured
     * task reaches one half, its granularity; empty if no sample does.
     */
    OptionalDouble metg() {
        int last = -1;
        for (int i = 0; i < samples.size(); i++) {
            if (samples.get(i).efficiency() >= THRESHOLD) {
                last = i;
            }
        }
        if (last < 0) {
            return OptionalDouble.empty();
        }
        Sample above = samples.get(last);
        if (last + 1 == samples.size()) {
            return OptionalDouble.of(above.granularity());
        }
        Sample below = samples.get(last + 1);
        double share = (above.efficiency() - THRESHOLD) / (above.efficiency() - below.efficiency());
        double logarithm = Math.log(above.granularity())
                + share * (Math.log(below.granularity()) - Math.log(above.granularity()));
        return OptionalDouble.of(Math.exp(logarithm));
    }
}
