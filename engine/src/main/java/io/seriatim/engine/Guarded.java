package io.seriatim.engine;

import java.util.Objects;

/**
 * A value behind a variable. On an engine made with {@link Engine.Builder#checked}, touching it in an operation that
 * did not declare the variable throws. Outside any operation, get and set are unchecked and do not wait.
 *
 * @param <T>
 *            the type of the value
 */
public final class Guarded<T> {
    private final Var var;
    private T value;

    private Guarded(Var var, T value) {
        this.var = var;
        this.value = value;
    }

    /**
     * Puts a value behind a new variable.
     *
     * @param <T>
     *            the type of the value
     * @param e
     *            the engine that orders its uses
     * @param name
     *            the name of the variable
     * @param value
     *            the first value
     * @return the guarded value
     */
    public static <T> Guarded<T> of(Engine e, String name, T value) {
        Var var = Objects.requireNonNull(e, "engine").newVar(name);
        return new Guarded<>(var, value);
    }

    /**
     * The variable, for use in {@link OpBuilder#reads} and the like.
     *
     * @return the variable
     */
    public Var var() {
        return var;
    }

    /**
     * The value.
     *
     * @return the value
     * @throws IllegalStateException
     *             in checked mode, in an operation that neither reads nor mutates the variable
     */
    public T get() {
        Implementation.RUNTIME.checkReads(var);
        return value;
    }

    /**
     * Sets the value.
     *
     * @param value
     *            the new value
     * @throws IllegalStateException
     *             in checked mode, in an operation that does not mutate the variable
     */
    public void set(T value) {
        Implementation.RUNTIME.checkMutates(var);
        this.value = value;
    }
}
