package io.seriatim.examples.serve;

/** Is thrown for a request that gets no prediction. */
final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    private final int status;

    /** With HTTP's status, and one line for the client. */
    RefusedException(int status, String message) {
        super(message, null, false, false);
        this.status = status;
    }

    int status() {
        return status;
    }
}
