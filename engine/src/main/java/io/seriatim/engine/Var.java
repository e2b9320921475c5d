package io.seriatim.engine;

/** A name for something that operations read and mutate; it holds no value. Made by {@link Engine#newVar()}. */
public interface Var {
    /**
     * Its name.
     *
     * @return the name it was made with
     */
    String name();

    /**
     * How often it has changed.
     *
     * @return the number of mutations that have ended, failed and skipped ones included
     */
    long version();
}
