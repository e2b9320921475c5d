package io.seriatim.benchmarks.engine;

/**
 * One contender's time for one workload in one round, in nanoseconds per operation. An external program repeats the
 * workload in a lap, because a new process is slower at first; for all others the two times are equal.
 *
 * @param best
 *            the minimum time
 * @param typical
 *            the median time
 * @param check
 *            whether the result equals that of the serial program
 */
record Lap(double best, double typical, ResultCheck check) {
    static Lap of(double nanos, ResultCheck check) {
        return new Lap(nanos, nanos, check);
    }
}
