package io.seriatim.benchmarks.metg;

/** Thrown if a system ran tasks in an order that the graph does not allow, or not all of them, or one twice. */
final class WrongValueException extends Exception {
    private static final long serialVersionUID = 1L;

    WrongValueException(String message) {
        super(message);
    }
}
