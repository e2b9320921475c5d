package io.seriatim.graph.program;

import java.util.Arrays;

/**
 * The bytes of a description in a file, kept if they differ from those that would be written for it: because of unknown
 * fields, another order or another encoding. A description that is not changed is written with these bytes; one that is
 * changed keeps the fields that are not known.
 */
public final class OriginalMessage {
    private final byte[] read;
    private final byte[] written;

    /**
     * Copies what it is given.
     *
     * @param read
     *            the message as the file has it
     * @param written
     *            the message as it is written for what was understood of it
     */
    public OriginalMessage(byte[] read, byte[] written) {
        this.read = read.clone();
        this.written = written.clone();
    }

    /**
     * The message as the file has it.
     *
     * @return a copy
     */
    public byte[] read() {
        return read.clone();
    }

    /**
     * The message as it is written for what was understood of it when it was read.
     *
     * @return a copy
     */
    public byte[] written() {
        return written.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof OriginalMessage original && Arrays.equals(read, original.read)
                && Arrays.equals(written, original.written);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(read);
    }

    @Override
    public String toString() {
        return read.length + " bytes of a file";
    }
}
