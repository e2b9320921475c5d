package io.seriatim.device;

import java.io.Serial;

/** There is no such device on this machine. The message says what was looked for and what to install. */
public final class DeviceNotFoundException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;
    private final transient Place place;

    /**
     * Says why.
     *
     * @param place
     *            what was asked for
     * @param reason
     *            what was looked for, and what to do; a whole sentence
     */
    public DeviceNotFoundException(Place place, String reason) {
        super("'" + place + "' was not found: " + reason);
        this.place = place;
    }

    /**
     * What was asked for.
     *
     * @return the place
     */
    public Place place() {
        return place;
    }
}
