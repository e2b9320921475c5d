package io.seriatim.examples.serve;

/** Thrown for a request that is refused. */
final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    private final int status;

    /** Creates an exception with an HTTP status and one line for the client. */
    RefusedException(int status, String message) {
        super(message, null, false, false);
        this.status = status;
    }

    int status() {
        return status;
    }
}
