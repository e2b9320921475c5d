package io.seriatim.device;

import java.io.Serial;

/**
 * Thrown if two accesses to the same bytes, at least one of which is a write, are ordered neither by a stream nor by an
 * event.
 */
public final class DataRaceException extends IllegalStateException {
    @Serial
    private static final long serialVersionUID = 1;
    /** The operation that was launched first. */
    private final String earlier;
    /** The operation that was not ordered after it. */
    private final String later;

    DataRaceException(String message, String earlier, String later) {
        super(message);
        this.earlier = earlier;
        this.later = later;
    }

    /**
     * Returns the name of the operation that was launched first.
     *
     * @return its name
     */
    public String earlier() {
        return earlier;
    }

    /**
     * Returns the name of the operation that is not ordered after the earlier one.
     *
     * @return its name
     */
    public String later() {
        return later;
    }
}
