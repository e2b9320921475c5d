package io.seriatim.onnx.emit;

/** An operation has no counterpart in ONNX; all of a model are reported together. */
public final class UnwritableException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    /** Creates it with a message that names the operation. */
    public UnwritableException(String message) {
        super(message);
    }
}
