package io.seriatim.engine;

/** Reports the end of an asynchronous operation. */
public interface Completion {
    /**
     * Completes the operation normally.
     *
     * @throws IllegalStateException
     *             if the operation has already been completed; this call then has no effect
     */
    void complete();

    /**
     * Completes the operation with a failure.
     *
     * @param cause
     *            the reason for the failure
     * @throws IllegalStateException
     *             if the operation has already been completed; this call then has no effect
     */
    void fail(Throwable cause);
}
