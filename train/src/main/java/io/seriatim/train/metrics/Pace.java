package io.seriatim.train.metrics;

/**
 * How fast steps are, over about the last five seconds: what is that old weighs 1/e of the present. So it follows a change soon, and a
 * training of short steps does not make it flicker.
 */
final class Pace {
    private static final double MEMORY_SECONDS = 5;

    private double units;
    private double seconds;
    private double steps;

    void add(long stepUnits, double stepSeconds) {
        double kept = Math.exp(-stepSeconds / MEMORY_SECONDS);
        units = units * kept + stepUnits;
        seconds = seconds * kept + stepSeconds;
        steps = steps * kept + 1;
    }

    double unitsPerSecond() {
        return units / seconds;
    }

    double secondsPerStep() {
        return seconds / steps;
    }
}
