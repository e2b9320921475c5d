package io.seriatim.device;

import org.jspecify.annotations.Nullable;

/** Routing of copies. */
final class Copies {
    private Copies() {
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
