package io.seriatim.engine;

import java.util.Objects;

/**
 * A value that a variable protects. On an engine built with {@link Engine.Builder#checked}, an operation that accesses
 * the value without having declared the variable gets an exception. Outside operations, {@code get} and {@code set}
 * neither check nor wait.
 *
 * @param <T>
 *            the type of the value
 */
public final class Guarded<T> {
    private final Var var;
    /** Guarded by the variable, of which the operations that access the value declare a use. */
    private T value;

    private Guarded(Var var, T value) {
        this.var = var;
        this.value = value;
    }

    /**
     * Creates a guarded value with a new variable.
     *
     * @param <T>
     *            the type of the value
     * @param e
     *            the engine that orders the accesses
     * @param name
     *            the name of the variable
     * @param value
     *            the initial value
     * @return the guarded value
     */
    public static <T> Guarded<T> of(Engine e, String name, T value) {
        Var var = Objects.requireNonNull(e, "engine").newVar(name);
        return new Guarded<>(var, value);
    }

    /**
     * Returns the variable, for {@link OpBuilder#reads}, {@link OpBuilder#mutates} and {@link OpBuilder#overwrites}.
     *
     * @return the variable
     */
    public Var var() {
        return var;
    }

    /**
     * Returns the value.
     *
     * @return the current value
     * @throws IllegalStateException
     *             in checked mode, if the calling operation declares neither a read nor a mutation of the variable
     */
    public T get() {
        ((Variable) var).checkAccess(false);
        return value;
    }

    /**
     * Sets the value.
     *
     * @param value
     *            the new value
     * @throws IllegalStateException
     *             in checked mode, if the calling operation does not declare a mutation of the variable
     */
    public void set(T value) {
        ((Variable) var).checkAccess(true);
        this.value = value;
    }
}
