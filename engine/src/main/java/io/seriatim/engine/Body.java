package io.seriatim.engine;

/** What an operation does. */
@FunctionalInterface
public interface Body {
    /**
     * Does it.
     *
     * @throws Exception
     *             anything: the operation has failed, and its variables carry what was thrown
     */
    void run() throws Exception;
}
