package io.seriatim.engine;

/** The work of an operation. */
@FunctionalInterface
public interface Body {
    /**
     * Does the work.
     *
     * @throws Exception
     *             any exception makes the operation fail, and the variables that it mutates carry the exception
     */
    void run() throws Exception;
}
