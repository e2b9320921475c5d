package io.seriatim.device;

import java.io.Serial;

/**
 * Thrown if a device does not exist on this machine. The message says which device was searched for and what to
 * install.
 */
public final class DeviceNotFoundException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;
    private final transient Place place;

    /**
     * Creates an exception.
     *
     * @param place
     *            the requested place
     * @param reason
     *            why it was not found and what to do, as a sentence
     */
    public DeviceNotFoundException(Place place, String reason) {
        super("'" + place + "' was not found: " + reason);
        this.place = place;
    }

    /**
     * Returns the requested place.
     *
     * @return the place
     */
    public Place place() {
        return place;
    }
}
