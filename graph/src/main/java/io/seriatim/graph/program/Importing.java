package io.seriatim.graph.program;

/**
 * Marks that operations are made for a model of another system. Where the calls that make them come from tells nothing
 * about the model, so that no stack is walked for each: a node may be translated many times, below deep graphs.
 */
public final class Importing {
    private static final ScopedValue<Boolean> MODEL = ScopedValue.newInstance();

    private Importing() {
    }

    /**
     * Translates a model. Operations that are made meanwhile do not know where they were built.
     *
     * @param <T>
     *            the type of the result
     * @param <X>
     *            what the translation may throw
     * @param translation
     *            how
     * @return its result
     * @throws X
     *             if the translation throws it
     */
    public static <T, X extends Throwable> T model(ScopedValue.CallableOp<T, X> translation) throws X {
        return ScopedValue.where(MODEL, true).<T, X>call(translation);
    }

    static boolean isActive() {
        return MODEL.isBound();
    }
}
