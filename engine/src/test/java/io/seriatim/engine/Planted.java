package io.seriatim.engine;

/** A failure that a test has planted. */
final class Planted extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Planted(String message) {
        super(message);
    }
}
