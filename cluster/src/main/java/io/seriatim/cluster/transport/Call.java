package io.seriatim.cluster.transport;

import java.nio.charset.StandardCharsets;

/**
 * What a rank calls: all ranks must call the same.
 *
 * @param name
 *            of the collective
 * @param detail
 *            everything else that must be the same: size, type, root, algorithm
 */
public record Call(String name, String detail) {
    /** Before the first call. */
    static final Call NONE = new Call("nothing", "");

    private static final long PRIME = 0x100000001b3L;
    private static final long START = 0xcbf29ce484222325L;

    /** FNV-1a, of 64 bits. It detects mistakes: forgery is the handshake's matter. */
    long hash() {
        long hash = START;
        for (byte each : toString().getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (each & 0xff)) * PRIME;
        }
        return hash;
    }

    @Override
    public String toString() {
        return detail.isEmpty() ? name : name + " of " + detail;
    }
}
