package io.seriatim.cluster.transport;

import java.io.IOException;

/** A peer runs another collective than this rank. */
final class DivergedException extends IOException {
    private static final long serialVersionUID = 1L;

    DivergedException() {
        super("the ranks have called different collectives");
    }
}
