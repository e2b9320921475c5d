package io.seriatim.benchmarks.engine;

/**
 * One contender's time for one workload in one round, in nanoseconds per operation. A peer that is a program of its own
 * repeats the workload a few times in a lap, since a fresh process is slower at first; for all others the two times are
 * the same.
 *
 * @param best
 *            the least time
 * @param typical
 *            the median time
 * @param check
 *            whether the result was that of the serial program
 */
record Lap(double best, double typical, ResultCheck check) {
    static Lap of(double nanos, ResultCheck check) {
        return new Lap(nanos, nanos, check);
    }
}
