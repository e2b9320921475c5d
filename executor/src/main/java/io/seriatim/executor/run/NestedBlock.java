package io.seriatim.executor.run;

import io.seriatim.executor.ir.ValueNumbering;
import java.util.function.Consumer;

/** The block of a branch or loop, which a plan runs on values by index. */
public interface NestedBlock {
    /** Returns the numbering of its values. */
    ValueNumbering accesses();

    /** Runs the block once. {@code results} takes the results from the frame before another run can use it. */
    void run(RunContext context, Consumer<Frame> results);
}
