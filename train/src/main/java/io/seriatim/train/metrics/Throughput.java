package io.seriatim.train.metrics;

/**
 * The throughput and the duration of steps, as exponential moving averages with a time constant of five seconds. So
 * they follow changes quickly, but do not flicker with short steps.
 * <p>
 * The first steps are much slower than later ones, while code is JIT-compiled and caches are cold. The throughput
 * counts as steady from the moment when the averages over one second and over five seconds agree within a quarter.
 */
final class Throughput {
    private static final double MEMORY_SECONDS = 5;
    private static final double SHORT_MEMORY_SECONDS = 1;
    private static final double TOLERANCE = 1.25;
    /** The minimum before the averages can be steady. */
    private static final int LEAST_STEPS = 10;
    private static final double LEAST_SECONDS = 2;
    /** The time after which the averages count as steady in any case. */
    private static final double MOST_SECONDS = 20;

    private double units;
    private double seconds;
    private double steps;
    private double lastSeconds;
    private double lastSteps;
    private long allSteps;
    private double allSeconds;
    private boolean steady;

    void add(long stepUnits, double stepSeconds) {
        double kept = Math.exp(-stepSeconds / MEMORY_SECONDS);
        units = units * kept + stepUnits;
        seconds = seconds * kept + stepSeconds;
        steps = steps * kept + 1;
        double lastKept = Math.exp(-stepSeconds / SHORT_MEMORY_SECONDS);
        lastSeconds = lastSeconds * lastKept + stepSeconds;
        lastSteps = lastSteps * lastKept + 1;
        allSteps++;
        allSeconds += stepSeconds;
        double ratio = secondsPerStep() / (lastSeconds / lastSteps);
        boolean even = ratio < TOLERANCE && ratio > 1 / TOLERANCE;
        steady |= (allSteps >= LEAST_STEPS && allSeconds >= LEAST_SECONDS && even)
                || (allSteps > 1 && allSeconds >= MOST_SECONDS);
    }

    double unitsPerSecond() {
        return units / seconds;
    }

    double secondsPerStep() {
        return seconds / steps;
    }

    /** Returns whether the averages are steady enough for a forecast. */
    boolean isSteady() {
        return steady;
    }
}
