package io.seriatim.executor.run;

import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.op.Operations;
import java.util.Arrays;

/**
 * The memory of a run to which something outside of its frame may have a reference. Branches, loops, selections and
 * operations that copy to lists keep no references to tensors that they are given, where they run on values; the
 * interpreter may. So memory that only kernels and such operations use can be freed or used again in the runs in which
 * the interpreter has not had it.
 *
 * <p>
 * Memory is exposed by one task at a time, before tasks that depend on it run.
 */
final class ExposedMemory {
    private final ValueTable values;
    /** By memory, whether an operation that keeps no references reads or writes it. */
    private final boolean[] isUsed;
    /** By memory, whether another operation that is not lowered does, which may keep some in any run. */
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
            if (!(task instanceof Task.Rest) && !task.needsInterpreter()) {
                continue;
            }
            boolean isTracked = plan.streams().isHostOnly() && !values.hasParts()
                    && task instanceof Task.Interpreted one
                    && Operations.system().get(one.access().op().type()).keepsNothing();
            isAny |= isTracked;
            mark(isTracked ? isUsed : isAlways, task);
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
            mark(isExposed, task);
        }
    }

    private void mark(boolean[] memories, Task task) {
        for (int value : task.reads()) {
            memories[values.memory(value)] = true;
        }
        for (int value : task.writes()) {
            memories[values.memory(value)] = true;
        }
    }

    /** Returns whether operations use a memory that expose it in some runs only, and have not done so in this one. */
    boolean isFree(int memory) {
        return isTracked(memory) && !isExposed[memory];
    }

    /** Returns whether operations use a memory that expose it in some runs only, and have done so in this one. */
    boolean isTaken(int memory) {
        return isTracked(memory) && isExposed[memory];
    }

    /** Returns whether operations use a memory that expose it in some runs only. */
    boolean isTracked(int memory) {
        return isUsed[memory] && !isAlways[memory];
    }
}
