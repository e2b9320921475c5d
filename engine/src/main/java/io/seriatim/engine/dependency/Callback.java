package io.seriatim.engine.dependency;

import org.jspecify.annotations.Nullable;

/**
 * Code of the user's that is to be called when the tracker knows what it is told of. Linked through itself, so that
 * putting it off allocates nothing.
 */
public abstract class Callback {
    /** The next in a {@link CallbackQueue}; of an operation in a heap of ready ones, its first child. */
    @Nullable
    public Callback following;

    public abstract Owner owner();

    /** Whether it calls code of the user's that may take long. */
    public boolean mayBlock() {
        return true;
    }

    /** Calls it; under no lock, by a thread that holds nothing that another thread could run. */
    public abstract void call();
}
