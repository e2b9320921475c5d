package io.seriatim.engine;

/**
 * A variable: it stands for a resource that operations read and mutate, but holds no value itself. Created by
 * {@link Engine#newVar()}.
 */
public interface Var {
    /**
     * Returns the name.
     *
     * @return the name given to {@link Engine#newVar(String)}, or a generated one
     */
    String name();

    /**
     * Returns the number of mutations so far.
     *
     * @return the number of mutations that have ended, including failed and skipped ones
     */
    long version();
}
