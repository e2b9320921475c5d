package io.seriatim.executor.run;

import org.jspecify.annotations.Nullable;

/** Runs the operations that follow values whose types are known only at run time. */
@FunctionalInterface
public interface RestOfBlock {
    /**
     * Runs them.
     *
     * @param context
     *            the run that they continue, with their external values
     * @return the results, in order
     */
    @Nullable
    Object[] run(RunContext context);
}
