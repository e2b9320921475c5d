package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.OpenSizes;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.pass.Layouts;
import io.seriatim.executor.pass.ParameterResults;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A plan compiled for given shapes. It is immutable and shared by concurrent runs.
 *
 * @param accesses
 *            the block's numbered operations and values
 * @param values
 *            the types, places and memory of the values
 * @param tasks
 *            the tasks, in program order
 * @param dependencies
 *            the dependencies by data and effects
 * @param streams
 *            the assignment of tasks to streams, and the events
 * @param memory
 *            the offsets of values in arenas
 * @param releases
 *            the tasks after which memory outside of arenas is freed
 * @param layouts
 *            the weights that are packed for their kernels
 * @param kept
 *            the results of variables alone, which are computed only when these change
 * @param before
 *            for each task, the tasks that it waits for: by dependencies, by the order of streams, and because of
 *            shared memory
 * @param after
 *            for each task, the tasks that wait for it
 * @param externals
 *            for each external value of a run, its required type and shape; null if it held no tensor at compilation
 * @param open
 *            the sizes of external values that may be others in a run
 * @param sharing
 *            the variables that share memory before the run
 * @param storages
 *            for each group of such variables, the value that stands for their common memory
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record CompiledPlan(ValueNumbering accesses, ValueTable values, List<Task> tasks, Dependencies dependencies,
        Streams streams, MemoryPlan memory,
        Releases releases, List<Layouts.Packed> layouts, List<ParameterResults.Kept> kept, int[][] before,
        int[][] after,
        @Nullable TensorSpec[] externals, OpenSizes open,
        Sharing sharing, List<Integer> storages) {
    /** Returns whether the plan was compiled for the types, shapes and shared memory of the given external values. */
    public boolean fits(@Nullable Object[] given, Sharing shared) {
        if (!sharing.equals(shared)) {
            return false;
        }
        for (int i = 0; i < externals.length; i++) {
            if (open.isOpen(i) ? !open.fits(i, externals[i], given[i]) : !fits(externals[i], given[i])) {
                return false;
            }
        }
        return true;
    }

    @SuppressWarnings("ReferenceEquality") // Equal in any case, found sooner.
    private static boolean fits(@Nullable TensorSpec wanted, @Nullable Object given) {
        TensorSpec there = given instanceof Tensor tensor ? tensor.spec() : null;
        return wanted == null
                ? there == null
                : there != null && (wanted == there || wanted.equals(there) || wanted.equals(there.rowMajor()));
    }
}
