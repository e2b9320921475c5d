package io.seriatim.device;

import org.jspecify.annotations.Nullable;

/** Checks and routing of copies. */
final class Copies {
    private Copies() {
    }

    static void check(String operation, Access source, Access target) {
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
     * For a copy on a host stream, returns the default stream of the accelerator that takes part, or null if none does.
     */
    static @Nullable Stream other(Access source, Access target, Stream host) {
        if (!source.buffer().device().equals(host.device())) {
            return source.buffer().device().defaultStream();
        }
        return target.buffer().device().equals(host.device()) ? null : target.buffer().device().defaultStream();
    }
}
