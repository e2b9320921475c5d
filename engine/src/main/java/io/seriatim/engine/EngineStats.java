package io.seriatim.engine;

/**
 * Counts of one engine, at one moment. Waits are not counted.
 *
 * @param pushed
 *            operations pushed, deletes included
 * @param completed
 *            operations that have ended, in whatever way
 * @param failed
 *            of those, whose body failed
 * @param skipped
 *            of those, that did not run because a variable was poisoned
 * @param cancelled
 *            of those, that did not run or were given up because of {@link Engine#shutdownNow}
 * @param workers
 *            threads alive now
 */
public record EngineStats(long pushed, long completed, long failed, long skipped, long cancelled, int workers) {
    /**
     * How many operations have not ended.
     *
     * @return pushed less completed
     */
    public long pending() {
        return pushed - completed;
    }
}
