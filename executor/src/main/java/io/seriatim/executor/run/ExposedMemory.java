package io.seriatim.executor.run;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.op.Operations;
import java.util.Arrays;

/**
 * The memory of a run to which something outside of its frame may have a reference. Branches, loops and selections that
 * run on values keep no references to what they are given; the interpreter may. So memory that only kernels and such
 * operations use can be freed or used again in the runs in which the interpreter has not had it.
 *
 * <p>
 * Memory is exposed by one task at a time, before tasks that depend on it run.
 */
final class ExposedMemory {
    private final ValueTable values;
    /** By memory, whether an operation that is not lowered reads or writes it. */
    private final boolean[] isUsed;
    /** By memory, whether it may be exposed in any run. */
    private final boolean[] isAlways;
    private final boolean[] isExposed;
    private final boolean isNone;

    ExposedMemory(CompiledPlan plan) {
        this.values = plan.values();
        this.isUsed = new boolean[values.size()];
        this.isAlways = new boolean[values.size()];
        this.isExposed = new boolean[values.size()];
        boolean isAny = false;
        for (Task task : plan.tasks()) {
            boolean keeps = task instanceof Task.Rest || task.operations().stream()
                    .anyMatch(access -> !Operations.system().get(access.op().type()).isLowered());
            boolean isTracked = plan.streams().isHostOnly() && !values.hasParts()
                    && task instanceof Task.Interpreted one
                    && Operations.system().get(one.access().op().type()).keepsNothing();
            isAny |= keeps && isTracked;
            for (int value : keeps ? task.reads() : new int[0]) {
                isUsed[values.memory(value)] = true;
                isAlways[values.memory(value)] |= !isTracked;
            }
            for (int value : keeps ? task.writes() : new int[0]) {
                isUsed[values.memory(value)] = true;
                isAlways[values.memory(value)] |= !isTracked;
            }
        }
        this.isNone = !isAny;
    }

    /** Begins a run, in which nothing is exposed yet. */
    void begin() {
        if (!isNone) {
            Arrays.fill(isExposed, false);
        }
    }

    /** Records that something else may have a reference to what a task reads or writes. */
    void expose(Task task) {
        if (!isNone) {
            for (int value : task.reads()) {
                isExposed[values.memory(value)] = true;
            }
            for (int value : task.writes()) {
                isExposed[values.memory(value)] = true;
            }
        }
    }

    /** Returns whether operations use a memory that expose it in some runs only, and have not done so in this one. */
    boolean isFree(int memory) {
        return isUsed[memory] && !isAlways[memory] && !isExposed[memory];
    }

    /** Returns whether operations use a memory that expose it in some runs only. */
    boolean isTracked(int memory) {
        return isUsed[memory] && !isAlways[memory];
    }
}
