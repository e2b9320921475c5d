package io.seriatim.engine.core;

import io.seriatim.engine.dependency.Operation;

/** Is told of operations that become ready; a walk over pending operations needs to know. */
@FunctionalInterface
public interface ReadyListener {
    /** An operation has become ready; under the tracker lock. Throws nothing. */
    void becameReady(Operation op);
}
