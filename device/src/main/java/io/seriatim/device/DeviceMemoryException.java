package io.seriatim.device;

import java.io.Serial;

/** A device has not enough memory. The message lists its largest open buffers. A smaller request may still succeed. */
public final class DeviceMemoryException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    DeviceMemoryException(String message) {
        super(message);
    }
}
