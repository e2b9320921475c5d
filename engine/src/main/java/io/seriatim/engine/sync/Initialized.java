package io.seriatim.engine.sync;

import java.lang.invoke.MethodHandles;

/**
 * Initialises classes early. A class whose initialisation fails once, at the end of a stack or of the memory, cannot be
 * used any more; so those that an engine needs at such a moment are initialised before it runs.
 */
public final class Initialized {
    private Initialized() {
    }

    /** Initialises the classes that have not been initialised yet. */
    public static void ensure(Class<?>... types) {
        for (Class<?> type : types) {
            try {
                MethodHandles.lookup().ensureInitialized(type);
            } catch (IllegalAccessException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }
}
