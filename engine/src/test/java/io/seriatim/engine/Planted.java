package io.seriatim.engine;

/** A failure that a test provokes. */
final class Planted extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Planted(String message) {
        super(message);
    }
}
