package io.seriatim.executor.run;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.pass.Layouts;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.executor.schedule.Releases;
import io.seriatim.graph.program.Aliases;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The rules by which a run binds, resets, allocates, releases and reports the memory of a plan's values. They are
 * derived from the plan.
 *
 * @param sharing
 *            by memory, the other values that share it
 * @param outliving
 *            memory that the run computes and that outlives it
 * @param changing
 *            values whose tensors differ from run to run
 * @param released
 *            memory that is released when its last users have ended
 * @param isClosable
 *            by memory, whether no reference outside of the run keeps it
 * @param early
 *            memory of results that several tasks write, such as the tiles of one; it is allocated when a run begins
 * @param allocations
 *            for each task, the memory that it allocates
 * @param aliased
 *            for each task, the persistable variables that it makes share memory with others
 * @param changed
 *            memory of the scope that tasks write
 * @param isFedAndWritten
 *            by memory, whether a task writes a fed value
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record MemoryRules(int[][] sharing, int[] outliving, int[] changing, int[] released, boolean[] isClosable,
        int[] early, int[][] allocations, int[][] aliased, int[] changed, boolean[] isFedAndWritten) {
    private static final int[] NONE = {};

    /**
     * Derives the rules of a plan.
     *
     * @param hasPlace
     *            by value, whether its tensor is fixed for all runs: in an arena, or as a constant
     */
    static MemoryRules of(CompiledPlan plan, boolean[] hasPlace) {
        ValueTable values = plan.values();
        int n = values.size();
        boolean[] interpreted = new boolean[n];
        boolean[] fedAndWritten = new boolean[n];
        for (Task task : plan.tasks()) {
            for (int value : task.writes()) {
                int memory = values.memory(value);
                interpreted[value] |= task.isUnplanned();
                fedAndWritten[memory] |= values.origin(memory) == ValueNumbering.Origin.FED;
            }
        }
        boolean[] early = early(plan, hasPlace);
        return new MemoryRules(sharing(values),
                IntStream.range(0, n)
                        .filter(i -> values.memory(i) == i && values.origin(i) == ValueNumbering.Origin.COMPUTED
                                && values.isPersistable(i))
                        .toArray(),
                IntStream.range(0, n).filter(i -> !hasPlace[i] || interpreted[i]).toArray(),
                Arrays.stream(plan.releases().after()).flatMapToInt(Arrays::stream).distinct().toArray(),
                Releases.closable(plan.tasks(), values), IntStream.range(0, n).filter(i -> early[i]).toArray(),
                allocations(plan, hasPlace, early), aliased(plan),
                Layouts.written(plan.tasks(), values), fedAndWritten);
    }

    private static int[][] sharing(ValueTable values) {
        int[] counts = new int[values.size()];
        for (int i = 0; i < counts.length; i++) {
            counts[values.memory(i)] += values.memory(i) == i ? 0 : 1;
        }
        int[][] all = new int[counts.length][];
        Arrays.setAll(all, i -> counts[i] == 0 ? NONE : new int[counts[i]]);
        for (int i = counts.length - 1; i >= 0; i--) {
            int memory = values.memory(i);
            if (memory != i) {
                all[memory][--counts[memory]] = i;
            }
        }
        return all;
    }

    private static boolean[] early(CompiledPlan plan, boolean[] hasPlace) {
        ValueTable values = plan.values();
        boolean[] written = new boolean[values.size()];
        boolean[] early = new boolean[values.size()];
        for (Task task : plan.tasks()) {
            for (int memory : Arrays.stream(task.writes()).map(values::memory).distinct().toArray()) {
                early[memory] |= written[memory] && !hasPlace[memory] && values.spec(memory) != null
                        && values.origin(memory) == ValueNumbering.Origin.COMPUTED && !values.isPersistable(memory)
                        && plan.streams().isHostOnly();
                written[memory] = true;
            }
        }
        for (Task task : plan.tasks()) {
            for (int value : task.isUnplanned() ? task.writes() : NONE) {
                early[values.memory(value)] = false;
            }
        }
        return early;
    }

    private static int[][] allocations(CompiledPlan plan, boolean[] hasPlace, boolean[] early) {
        ValueTable values = plan.values();
        int[][] allocations = new int[plan.tasks().size()][];
        boolean[] seen = new boolean[values.size()];
        for (int i = 0; i < allocations.length; i++) {
            List<Integer> list = new ArrayList<>();
            if (!plan.tasks().get(i).isUnplanned()) {
                for (int value : plan.tasks().get(i).writes()) {
                    int memory = values.memory(value);
                    boolean own = (values.origin(memory) == ValueNumbering.Origin.COMPUTED && !hasPlace[memory])
                            || (values.isAbsent(memory) && values.isPersistable(memory));
                    if (own && !seen[memory] && !early[memory]) {
                        seen[memory] = true;
                        list.add(memory);
                    }
                }
            }
            allocations[i] = list.isEmpty() ? NONE : list.stream().mapToInt(Integer::intValue).toArray();
        }
        return allocations;
    }

    private static int[][] aliased(CompiledPlan plan) {
        ValueTable values = plan.values();
        int[][] aliased = new int[plan.tasks().size()][];
        for (int i = 0; i < aliased.length; i++) {
            aliased[i] = values.hasParts()
                    ? plan.tasks().get(i).operations().stream()
                            .flatMapToInt(access -> Aliases.made(access.op()).stream().mapToInt(access::written))
                            .filter(value -> values.isPart(value) && values.isPersistable(value)).toArray()
                    : NONE;
        }
        return aliased;
    }

    /** Returns whether a task neither allocates memory nor makes variables share memory. */
    boolean isPlain(int task) {
        return allocations[task].length == 0 && aliased[task].length == 0;
    }
}
