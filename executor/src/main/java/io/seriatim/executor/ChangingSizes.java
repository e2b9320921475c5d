package io.seriatim.executor;

import io.seriatim.executor.compile.PlanCompiler;
import io.seriatim.executor.ir.OpenSizes;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.run.Cancellation;
import io.seriatim.executor.run.Frame;
import io.seriatim.tensor.TensorSpec;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the sizes of a block's external values that change from one iteration to the next, such as the length of a
 * sequence to which each iteration appends. Sizes that differ between runs only, such as that of a batch, are not among
 * them, unless a program is the body of its caller's loop, which feeds what the run before has given: sizes of such
 * feeds are. Thread-safe.
 */
final class ChangingSizes {
    private OpenSizes known = OpenSizes.NONE;
    private @Nullable Cancellation run;
    private @Nullable TensorSpec @Nullable [] before;
    private OpenSizes changed = OpenSizes.NONE;
    /** The types and sizes of what the latest run of a program has given. */
    private Set<TensorSpec> given = Set.of();

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
        return observe(run != of || before == null ? null : OpenSizes.between(before, now), of, now);
    }

    /**
     * Records the external values of a run of a program for which there is no plan.
     *
     * @return the sizes that have changed repeatedly, where results of each run were fed to the next
     */
    synchronized OpenSizes observe(@Nullable Object[] externals, ValueNumbering values) {
        @Nullable
        TensorSpec[] now = PlanCompiler.specs(externals);
        OpenSizes more = changedFeeds(now, values);
        boolean isGiven = false;
        for (int i = 0; more != null && i < now.length; i++) {
            isGiven |= more.isOpen(i) && now[i] != null && given.contains(now[i]);
        }
        return observe(isGiven ? more : null, null, now);
    }

    /**
     * Records the external values of what follows late sizes, for which there is no plan.
     *
     * @return the sizes that have changed repeatedly, in one run or from run to run
     */
    synchronized OpenSizes observeLate(@Nullable Object[] externals, ValueNumbering values) {
        @Nullable
        TensorSpec[] now = PlanCompiler.specs(externals);
        return observe(changedFeeds(now, values), null, now);
    }

    /** Returns the sizes that differ from those before; null if not only those of what is fed do. */
    private @Nullable OpenSizes changedFeeds(@Nullable TensorSpec[] now, ValueNumbering values) {
        OpenSizes more = before == null ? null : OpenSizes.between(before, now);
        for (int i = 0; more != null && i < now.length; i++) {
            boolean isFed = values.values().get(values.externals()[i]).origin() == ValueNumbering.Origin.FED;
            more = isFed || !more.isOpen(i) ? more : null;
        }
        return more;
    }

    /** Returns what takes the results of the run of a program for which there was no plan: their sizes are recorded. */
    Consumer<Frame> recorded(Consumer<Frame> results) {
        return frame -> {
            Set<TensorSpec> sizes = frame.results();
            synchronized (this) {
                given = sizes;
            }
            results.accept(frame);
        };
    }

    private OpenSizes observe(@Nullable OpenSizes more, @Nullable Cancellation of, @Nullable TensorSpec[] now) {
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
