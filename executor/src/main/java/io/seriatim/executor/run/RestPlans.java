package io.seriatim.executor.run;

import io.seriatim.executor.ir.Task;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The plans of what follows the tasks of a plan: one, or one for each outcome of a condition.
 *
 * @param <P>
 *            a plan
 */
public final class RestPlans<P> {
    private final List<P> plans;
    /** The external value that is the condition; −1 if there is none. */
    private final int condition;

    /**
     * Creates the plans.
     *
     * @param make
     *            makes a plan that knows some variables
     */
    public RestPlans(Task.Rest task, Function<Map<String, Tensor>, P> make) {
        if (task.condition() < 0) {
            this.condition = -1;
            this.plans = List.of(make.apply(task.constants()));
            return;
        }
        this.condition = Arrays.stream(task.externals()).boxed().toList().indexOf(task.condition());
        String name = task.block().values().get(task.block().externals()[condition]).name();
        this.plans = task.outcomes().stream().map(outcome -> {
            Map<String, Tensor> constants = new HashMap<>(task.constants());
            constants.put(name, outcome);
            return make.apply(constants);
        }).toList();
    }

    /** Returns the plan for what the condition is in a run. */
    public P of(RunContext context) {
        return plans.get(condition < 0 || !isTrue(context.externals()[condition]) ? 0 : 1);
    }

    private static boolean isTrue(@Nullable Object condition) {
        if (!(condition instanceof Tensor tensor)) {
            throw new IllegalStateException("The condition of a branch has no value");
        }
        return tensor.getLong(new long[tensor.shape().rank()]) != 0;
    }

    /** Returns the plans for all outcomes. */
    public List<P> all() {
        return plans;
    }
}
