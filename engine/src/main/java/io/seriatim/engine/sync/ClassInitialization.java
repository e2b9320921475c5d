package io.seriatim.engine.sync;

import java.lang.invoke.MethodHandles;

/**
 * Initialises classes early. A class whose initialisation fails once, for lack of stack or memory, is unusable from
 * then on. So the classes that an engine needs in such a situation are initialised before it runs.
 */
public final class ClassInitialization {
    private ClassInitialization() {
    }

    /**
     * Initialises the given classes, unless they are initialised already.
     *
     * @param lookup
     *            of a class that has access to them
     */
    public static void ensure(MethodHandles.Lookup lookup, Class<?>... types) {
        for (Class<?> type : types) {
            try {
                lookup.ensureInitialized(type);
            } catch (IllegalAccessException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }
}
