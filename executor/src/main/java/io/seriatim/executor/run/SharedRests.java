package io.seriatim.executor.run;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ConstantElements;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.graph.program.Block;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * The plans of what follows late sizes in a block. Plans for different sizes share the plan of what follows if its
 * operations and constants are the same: else a block with several late sizes, such as a mixture of experts, would be
 * compiled for each combination of them instead of for each size. Thread-safe.
 *
 * @param <P>
 *            a plan
 */
public final class SharedRests<P> {
    /** Enough for many parts whose holder runs once. */
    private static final int MOST_IDLE = 512;
    private static final long MOST_IDLE_BYTES = 64L << 20;

    private final ToLongFunction<P> bytes;
    private final Consumer<P> close;
    @GuardedBy("this")
    private final Map<Form, Shared<P>> byForm = new HashMap<>();
    @GuardedBy("this")
    private final Map<P, Shared<P>> byPlan = new HashMap<>();
    /** The plans that nothing holds, the one that was released first first. */
    @GuardedBy("this")
    private final Map<P, Shared<P>> idle = new LinkedHashMap<>();

    /**
     * What a plan is made for. A numbering follows from the block, the operations, and the variables that are given and
     * wanted.
     *
     * @param depth
     *            the number of plans of the block that it runs inside of
     * @param external
     *            the variables that it is given
     * @param wanted
     *            the variables that it gives
     */
    private record Form(int depth, Block block, List<Integer> operations, List<String> external, List<String> wanted,
            Map<String, ConstantElements> constants) {
        static Form of(int depth, ValueNumbering block, Map<String, Tensor> constants) {
            return new Form(depth, block.block(), block.operations().stream().map(Access::index).toList(),
                    Arrays.stream(block.externals()).mapToObj(value -> block.values().get(value).name()).toList(),
                    block.wanted().stream().map(value -> block.values().get(value).name()).toList(),
                    constants.entrySet().stream()
                            .collect(Collectors.toMap(Map.Entry::getKey,
                                    each -> new ConstantElements(each.getValue()))));
        }
    }

    /** A plan and the number of plans that it follows. */
    private static final class Shared<P> {
        private final Form form;
        private final P plan;
        private int holders;

        Shared(Form form, P plan) {
            this.form = form;
            this.plan = plan;
        }
    }

    /**
     * Creates a store without plans.
     *
     * @param bytes
     *            the memory that a plan holds
     * @param close
     *            frees it
     */
    public SharedRests(ToLongFunction<P> bytes, Consumer<P> close) {
        this.bytes = bytes;
        this.close = close;
    }

    /**
     * Returns the plans of what follows the tasks of a plan, which the caller releases.
     *
     * @param depth
     *            the number of plans of the block that they run inside of
     * @param make
     *            makes the plan of a part that knows some variables
     */
    public RestPlans<P> hold(Task.Rest task, int depth,
            BiFunction<Task.Rest.Part, Map<String, Tensor>, P> make) {
        return new RestPlans<>(task, (part, constants) -> held(Form.of(depth, part.block(), constants),
                () -> make.apply(part, constants)));
    }

    private synchronized P held(Form form, Supplier<P> make) {
        Shared<P> shared = byForm.get(form);
        if (shared == null) {
            shared = new Shared<>(form, make.get());
            byForm.put(form, shared);
            byPlan.put(shared.plan, shared);
        }
        shared.holders++;
        idle.remove(shared.plan);
        return shared.plan;
    }

    /**
     * Releases plans. Those that nothing holds are kept for a while.
     *
     * @param isAgain
     *            whether the caller has released them before; then only the memory of plans that are no longer kept is
     *            freed, since the caller may have used them once more
     */
    public void release(RestPlans<P> plans, boolean isAgain) {
        for (P plan : plans.all()) {
            (isAgain ? forgotten(plan) : released(plan)).forEach(close);
        }
    }

    private synchronized List<P> forgotten(P plan) {
        return byPlan.containsKey(plan) ? List.of() : List.of(plan);
    }

    private synchronized List<P> released(P plan) {
        Shared<P> shared = byPlan.get(plan);
        if (shared == null) {
            return List.of(plan);
        }
        shared.holders--;
        if (shared.holders > 0) {
            return List.of();
        }
        idle.put(plan, shared);
        List<P> gone = new ArrayList<>();
        long sum = idle.keySet().stream().mapToLong(bytes).sum();
        while (idle.size() > MOST_IDLE || (sum > MOST_IDLE_BYTES && !idle.isEmpty())) {
            P first = idle.keySet().iterator().next();
            sum -= bytes.applyAsLong(first);
            remove(first);
            gone.add(first);
        }
        return gone;
    }

    @GuardedBy("this")
    private void remove(P plan) {
        idle.remove(plan);
        Shared<P> shared = byPlan.remove(plan);
        if (shared != null) {
            byForm.remove(shared.form);
        }
    }

    /** Returns the memory of plans as far as it counts for one of their holders. */
    public long share(RestPlans<P> plans) {
        long sum = 0;
        for (P plan : plans.all()) {
            sum += bytes.applyAsLong(plan) / Math.max(1, holders(plan));
        }
        return sum;
    }

    private synchronized int holders(P plan) {
        Shared<P> shared = byPlan.get(plan);
        return shared == null ? 0 : shared.holders;
    }

    /** Returns all plans, with those that nothing holds. */
    public synchronized List<P> all() {
        return List.copyOf(byPlan.keySet());
    }

    /** Frees the memory of plans that nothing holds. */
    public void clear() {
        List<P> gone;
        synchronized (this) {
            gone = List.copyOf(idle.keySet());
            gone.forEach(this::remove);
        }
        gone.forEach(close);
    }
}
