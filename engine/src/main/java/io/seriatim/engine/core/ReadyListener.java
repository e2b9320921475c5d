package io.seriatim.engine.core;

import io.seriatim.engine.dependency.Operation;

/** A listener for operations that become ready, used by walks over pending operations. */
@FunctionalInterface
public interface ReadyListener {
    /** Called when an operation has become ready; under the tracker lock. Must not throw. */
    void becameReady(Operation op);
}
