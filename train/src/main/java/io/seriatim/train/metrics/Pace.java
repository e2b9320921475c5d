package io.seriatim.train.metrics;

/**
 * How fast steps are, over about the last five seconds: what is that old weighs 1/e of the present. So it follows a
 * change soon, and a training of short steps does not make it flicker.
 * <p>
 * The first steps are many times slower than the later ones, while code is compiled and caches fill. The pace is steady
 * once the last second is as fast as the last five, within a quarter; from then on it counts as steady.
 */
final class Pace {
    private static final double MEMORY_SECONDS = 5;
    private static final double SHORT_MEMORY_SECONDS = 1;
    private static final double TOLERANCE = 1.25;
    /** Before these, a pace may seem steady that is not. */
    private static final int LEAST_STEPS = 10;
    private static final double LEAST_SECONDS = 2;
    /** After these, a forecast is of more use than none. */
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

    /** Whether there are enough measurements for a forecast. */
    boolean isSteady() {
        return steady;
    }
}
