package io.seriatim.executor.run;

import io.seriatim.executor.ir.Task;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The plans of what follows the tasks of a plan: one for each part, or one for each outcome of a condition.
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
     *            makes the plan of a part that knows some variables
     */
    public RestPlans(Task.Rest task, BiFunction<Task.Rest.Part, Map<String, Tensor>, P> make) {
        if (task.condition() < 0) {
            this.condition = -1;
            List<P> made = new ArrayList<>(task.parts().size());
            task.parts().forEach(part -> made.add(make.apply(part, part.constants())));
            this.plans = made;
            return;
        }
        Task.Rest.Part part = task.parts().getFirst();
        this.condition = Arrays.stream(part.externals()).boxed().toList().indexOf(task.condition());
        String name = part.block().values().get(part.block().externals()[condition]).name();
        this.plans = task.outcomes().stream().map(outcome -> {
            Map<String, Tensor> constants = new HashMap<>(part.constants());
            constants.put(name, outcome);
            return make.apply(part, constants);
        }).toList();
    }

    /** Returns the plan of a part for what the condition is in a run. */
    public P of(int part, RunContext context) {
        return plans.get(condition < 0 ? part : isTrue(context.externals()[condition]) ? 1 : 0);
    }

    private static boolean isTrue(@Nullable Object condition) {
        if (!(condition instanceof Tensor tensor)) {
            throw new IllegalStateException("The condition of a branch has no value");
        }
        return tensor.getLong(new long[tensor.shape().rank()]) != 0;
    }

    /** Returns the plans of all parts, or for all outcomes. */
    public List<P> all() {
        return plans;
    }
}
