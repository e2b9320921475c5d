package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.executor.ir.OpenSizes;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.op.Operations;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How often each combination of sizes of a plan with open sizes has come, and the plans of those that come again and
 * again. Such a plan is made when the time that the interpreter has taken for the combination is about that of
 * compiling. What it gains is that elementwise operations are fused; other operations take about as long when they are
 * interpreted again and again, and one plan for all sizes has its carried variables in memory that it knows. So after
 * the first such plan no more are made if it fuses few operations. Thread-safe.
 */
final class SizeUses {
    /** The most combinations that are remembered. */
    private static final int MOST = 512;
    /** The most plans for one combination each, a part of those that a block keeps. */
    private static final int MOST_PLANS = 32;
    /** About how many operations the interpreter runs while a plan is compiled. */
    private static final int COMPILATION = 512;
    /** The same for what follows late sizes, which gains more: weights are packed, and tasks are divided. */
    private static final int LATE_COMPILATION = 128;
    /** Plans of their own pay if at least this part of the interpreted operations is fused with others. */
    private static final int LEAST_FUSED = 4;

    private final OpenSizes open;
    /** The operations that are interpreted because of their sizes. */
    private final Set<Integer> interpreted;
    private final int enough;
    /** Whether the plan is for what follows late sizes. */
    private final boolean isLate;
    private volatile boolean pays;
    @GuardedBy("this")
    private final Map<List<Long>, Use> uses = new LinkedHashMap<>(16, 0.75f, true);
    @GuardedBy("this")
    private int plans;

    private static final class Use {
        private int count;
        private BlockPlan.@Nullable Variant plan;
    }

    SizeUses(CompiledPlan plan, boolean isLate) {
        this.isLate = isLate;
        this.open = plan.open();
        this.interpreted = plan.tasks().stream().<Integer>mapMulti((task, operations) -> {
            if (task instanceof Task.Interpreted each
                    && Operations.system().get(each.access().op().type()).isLowered()) {
                operations.accept(each.access().index());
            }
        }).collect(Collectors.toSet());
        this.enough = Math.max(2, (isLate ? LATE_COMPILATION : COMPILATION) / Math.max(1, interpreted.size()));
        this.pays = interpreted.size() > 1;
    }

    /** Makes no plans for single combinations of sizes: the interpreter fuses what they would. */
    void isFused() {
        pays = false;
    }

    /** Returns whether a plan for certain sizes fuses enough of what is interpreted in the plan for all. */
    private boolean fuses(CompiledPlan made) {
        long fused = 0;
        for (Task task : made.tasks()) {
            if (task instanceof Task.Compute compute && compute.stages().stream()
                    .anyMatch(each -> each.computation() instanceof Chain || each.computation() instanceof Binary)) {
                long own = compute.operations().stream().filter(each -> interpreted.contains(each.index())).count();
                fused += Math.max(0, own - 1);
            }
        }
        return fused > 0 && fused * LEAST_FUSED >= interpreted.size();
    }

    /**
     * Returns the plan for some values: one for these sizes only, if they come often, or else the plan with open sizes.
     */
    BlockPlan.Variant plan(@Nullable Object[] externals, BlockPlan.Variant all, BlockPlan of, Sharing sharing) {
        if (!pays) {
            return all;
        }
        Use use;
        synchronized (this) {
            List<Long> sizes = open.sizes(externals);
            use = uses.computeIfAbsent(sizes, _ -> new Use());
            if (uses.size() > MOST) {
                Use eldest = uses.remove(uses.keySet().iterator().next());
                plans -= eldest != null && eldest.plan != null ? 1 : 0;
            }
            if (use.plan != null && !use.plan.isClosed()) {
                return use.plan;
            }
            if (use.plan != null) {
                use.plan = null;
                use.count = 0;
                plans--;
            }
            use.count++;
            if (use.count < enough || plans >= (isLate ? MOST : MOST_PLANS)) {
                return all;
            }
            plans++;
        }
        BlockPlan.Variant made = null;
        try {
            BlockPlan.Variant known = of.find(externals, sharing);
            made = known == null ? of.other(externals, sharing) : known;
            pays = isLate || fuses(made.plan());
            return made;
        } finally {
            synchronized (this) {
                use.plan = made;
                plans -= made == null ? 1 : 0;
            }
        }
    }
}
