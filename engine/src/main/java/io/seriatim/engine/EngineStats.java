package io.seriatim.engine;

/**
 * Counts of an engine's operations at one moment. Waits are not counted.
 *
 * @param pushed
 *            the number of operations pushed, including deletes
 * @param completed
 *            the number of operations that have ended, including failed, skipped and cancelled ones
 * @param failed
 *            the number of operations whose body failed
 * @param skipped
 *            the number of operations that did not run because a variable was poisoned
 * @param cancelled
 *            the number of operations that did not run, or were abandoned after they had started, because of
 *            {@link Engine#shutdownNow}
 * @param workers
 *            the number of the engine's live threads
 */
public record EngineStats(long pushed, long completed, long failed, long skipped, long cancelled, int workers) {
    /**
     * Returns the number of operations that have not ended.
     *
     * @return pushed minus completed
     */
    public long pending() {
        return pushed - completed;
    }
}
