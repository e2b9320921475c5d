package io.seriatim.benchmarks.common;

/** Thrown if a peer is not available, or not any more. The message is for the user. */
public final class PeerUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message
     *            one line: what is missing, and what would help
     */
    public PeerUnavailableException(String message) {
        super(message);
    }

    /**
     * Creates an exception.
     *
     * @param message
     *            one line that says what is missing and what to do
     * @param cause
     *            the cause
     */
    public PeerUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
