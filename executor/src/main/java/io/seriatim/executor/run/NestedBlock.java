package io.seriatim.executor.run;

import io.seriatim.executor.ir.ValueNumbering;
import java.util.function.Consumer;

/** The block of a branch or loop, which a plan runs on values by index. */
public interface NestedBlock {
    /** Returns the numbering of its values. */
    ValueNumbering accesses();

    /**
     * Begins the iterations of a loop, or the single run of a branch. Not thread-safe.
     *
     * @param isLoop
     *            whether the block may run more than once
     */
    Iterations begin(boolean isLoop);

    /** The runs of a block in one execution of a loop, which use the same memory and what is bound to it. */
    interface Iterations extends AutoCloseable {
        /** Runs the block once. {@code results} takes the results from the frame before another run can use it. */
        void run(RunContext context, Consumer<Frame> results);

        /** Gives the memory back. */
        @Override
        void close();
    }
}
