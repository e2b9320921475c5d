package io.seriatim.benchmarks.common;

/** Another engine cannot take part, or not any more. The message is for the user. */
public final class PeerUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * Says why.
     *
     * @param message
     *            one line: what is missing, and what would help
     */
    public PeerUnavailableException(String message) {
        super(message);
    }

    /**
     * Says why.
     *
     * @param message
     *            one line: what is missing, and what would help
     * @param cause
     *            what went wrong
     */
    public PeerUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
