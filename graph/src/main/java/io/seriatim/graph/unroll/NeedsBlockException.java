package io.seriatim.graph.unroll;

/** What happens in an iteration cannot be written without a block. */
final class NeedsBlockException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NeedsBlockException() {
        super(null, null, false, false);
    }
}
