package io.seriatim.executor;

import io.seriatim.executor.compile.PlanCompiler;
import io.seriatim.executor.ir.OpenSizes;
import io.seriatim.executor.run.Cancellation;
import io.seriatim.tensor.TensorSpec;
import org.jspecify.annotations.Nullable;

/**
 * Finds the sizes of a block's external values that change from one iteration to the next, such as the length of a
 * sequence to which each iteration appends. Sizes that differ between runs only, such as that of a batch, are not among
 * them. Thread-safe.
 */
final class ChangingSizes {
    private OpenSizes known = OpenSizes.NONE;
    private @Nullable Cancellation run;
    private @Nullable TensorSpec @Nullable [] before;
    private OpenSizes changed = OpenSizes.NONE;

    /**
     * Records the external values of an iteration for which there is no plan.
     *
     * @param of
     *            the run to which the iteration belongs
     * @return the sizes that have changed repeatedly, in this run or an earlier one; none if the values do not have
     *         these dimensions
     */
    synchronized OpenSizes observe(Cancellation of, @Nullable Object[] externals) {
        @Nullable
        TensorSpec[] now = PlanCompiler.specs(externals);
        OpenSizes more = run != of || before == null ? null : OpenSizes.between(before, now);
        if (more != null && !more.isNone() && more.contains(changed) && changed.contains(more)) {
            // A size that changes once may be that of a first value only.
            known = known.and(more);
        }
        changed = more == null ? OpenSizes.NONE : more;
        run = of;
        before = now;
        return known.suit(now) ? known : OpenSizes.NONE;
    }
}
