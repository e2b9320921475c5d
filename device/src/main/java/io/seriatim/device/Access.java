package io.seriatim.device;

import java.util.Objects;

/**
 * A range of bytes that work on a stream reads or writes.
 *
 * @param buffer
 *            the buffer
 * @param offset
 *            the index of the first byte, from 0
 * @param bytes
 *            the number of bytes
 * @param write
 *            whether the work writes the bytes, which it may then read as well
 */
public record Access(Buffer buffer, long offset, long bytes, boolean write) {
    /**
     * Validates the range.
     *
     * @throws IndexOutOfBoundsException
     *             if the bytes are not within the buffer
     */
    public Access {
        Objects.checkFromIndexSize(offset, bytes, buffer.bytes());
    }

    /**
     * Declares that a whole buffer is read.
     *
     * @param buffer
     *            the buffer
     * @return an access to all its bytes
     */
    public static Access read(Buffer buffer) {
        return new Access(buffer, 0, buffer.bytes(), false);
    }

    /**
     * Declares that a whole buffer is written.
     *
     * @param buffer
     *            the buffer
     * @return an access to all its bytes
     */
    public static Access write(Buffer buffer) {
        return new Access(buffer, 0, buffer.bytes(), true);
    }
}
