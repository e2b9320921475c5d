package io.seriatim.device;

import java.io.Serial;

/** Two accesses to the same bytes, one of them a write, are ordered neither by a stream nor by an event. */
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
     * The operation that was launched first.
     *
     * @return its name
     */
    public String earlier() {
        return earlier;
    }

    /**
     * The operation that was not ordered after it.
     *
     * @return its name
     */
    public String later() {
        return later;
    }
}
