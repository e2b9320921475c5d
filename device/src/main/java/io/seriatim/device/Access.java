package io.seriatim.device;

import java.util.Objects;

/**
 * Bytes that a piece of work touches.
 *
 * @param buffer
 *            the memory
 * @param offset
 *            the first byte, from 0
 * @param bytes
 *            how many
 * @param write
 *            whether it writes them; it may read them too
 */
public record Access(Buffer buffer, long offset, long bytes, boolean write) {
    /**
     * Checks the bounds.
     *
     * @throws IndexOutOfBoundsException
     *             if the bytes are not within the buffer
     */
    public Access {
        Objects.checkFromIndexSize(offset, bytes, buffer.bytes());
    }

    /**
     * A whole buffer, read.
     *
     * @param buffer
     *            the memory
     * @return an access to all its bytes
     */
    public static Access read(Buffer buffer) {
        return new Access(buffer, 0, buffer.bytes(), false);
    }

    /**
     * A whole buffer, written.
     *
     * @param buffer
     *            the memory
     * @return an access to all its bytes
     */
    public static Access write(Buffer buffer) {
        return new Access(buffer, 0, buffer.bytes(), true);
    }
}
