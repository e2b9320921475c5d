package io.seriatim.graph.interpret;

import io.seriatim.graph.program.Block;

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

    /**
     * Begins the runs of a block in one execution of a loop or recurrence, or of its gradient.
     *
     * @param block
     *            a block of the program
     * @return runs the block, one run after the other
     */
    default Steps begin(Block block) {
        return new Steps() {
            @Override
            public void run(BlockSession step) {
                BlockExecution.this.run(step);
            }

            @Override
            public void close() {
                // Nothing is kept between two steps.
            }
        };
    }

    /** The runs of one block in one execution of a loop. Of one thread at a time. */
    interface Steps extends AutoCloseable {
        /**
         * Runs all operations of the block once.
         *
         * @param step
         *            a session of the block, with the same environment around it as in the other steps
         */
        void run(BlockSession step);

        /** Ends the runs, also if one has failed. */
        @Override
        void close();
    }
}
