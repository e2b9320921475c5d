package io.seriatim.graph.interpret;

/** Runs the blocks of branches, loops and recurrences in its own way. */
@FunctionalInterface
public interface BlockExecution {
    /**
     * Runs all operations of a block once.
     *
     * @param block
     *            with the variables that it reads; it gets those that it writes
     */
    void run(BlockSession block);
}
