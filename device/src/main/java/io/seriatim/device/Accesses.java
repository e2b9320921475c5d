package io.seriatim.device;

import java.util.List;

/** Checks of declared accesses that the streams of all devices make. */
public final class Accesses {
    private Accesses() {
    }

    /**
     * Checks the operands of {@link Stream#copy}.
     *
     * @param operation
     *            the name of the copy
     * @param source
     *            the bytes to read
     * @param target
     *            the bytes to write
     * @throws IllegalArgumentException
     *             if the lengths differ, {@code source} is declared as written, or {@code target} as read
     */
    public static void checkCopy(String operation, Access source, Access target) {
        if (source.write() || !target.write()) {
            throw new IllegalArgumentException(
                    "The copy '" + operation
                            + "' must read its source and write its target: use Access.read and Access.write");
        }
        if (source.bytes() != target.bytes()) {
            throw new IllegalArgumentException(
                    "The copy '" + operation + "' must have a source and a target of the same length, but they have "
                            + source.bytes()
                            + " and " + target.bytes() + " bytes");
        }
    }

    /**
     * Checks that work of {@link Stream#launchHost} accesses only memory of the host.
     *
     * @param operation
     *            the name of the work
     * @param accesses
     *            the bytes that it accesses
     * @throws IllegalArgumentException
     *             if one of them is of another device
     */
    public static void checkHost(String operation, List<Access> accesses) {
        for (Access access : accesses) {
            if (!access.buffer().device().place().isHost()) {
                throw new IllegalArgumentException("'" + operation
                        + "' is launched to run on the host, so it can access only memory of the host, but it declares"
                        + " the buffer " + access.buffer() + ": copy it to the host first");
            }
        }
    }
}
