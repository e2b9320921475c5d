package io.seriatim.engine;

/** A listener for operations that become ready, used by walks over pending operations. */
@FunctionalInterface
interface ReadyListener {
    /** Called when an operation has become ready; under the tracker lock. Must not throw. */
    void becameReady(Operation op);
}
