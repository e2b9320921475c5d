package io.seriatim.device;

import java.io.Serial;

/**
 * Thrown if a device has not enough memory for a request. The message lists the largest open buffers. A smaller request
 * may still succeed.
 */
public final class DeviceMemoryException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /**
     * A lack of memory.
     *
     * @param message
     *            what is requested of which device, and what is available
     */
    public DeviceMemoryException(String message) {
        super(message);
    }
}
