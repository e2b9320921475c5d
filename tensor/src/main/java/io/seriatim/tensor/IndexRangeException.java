package io.seriatim.tensor;

import java.io.Serial;

/**
 * An element of a tensor that stands for a place, such as an index, a label or the number of an image, is not one of
 * the places that there are. The executor tells by its type that values are wrong, not a program.
 */
public final class IndexRangeException extends IllegalArgumentException {
    @Serial
    private static final long serialVersionUID = 1;

    /**
     * An index that is out of range.
     *
     * @param message
     *            the operation, which index it is, the range, and the value that was found
     */
    public IndexRangeException(String message) {
        super(message);
    }
}
