package io.seriatim.executor.schedule;

import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.pass.Layouts;
import io.seriatim.tensor.TensorSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A plan for given shapes. Immutable; for many runs at once.
 *
 * @param accesses
 *            the block's operations and values
 * @param values
 *            what is known of them
 * @param tasks
 *            in the order of the program
 * @param dependencies
 *            what the data demands
 * @param streams
 *            of devices
 * @param memory
 *            where values lie
 * @param releases
 *            when other memory is free
 * @param layouts
 *            weights that kernels want in layouts of their own
 * @param before
 *            for each task those that it waits for: the data's demands, stream order, and what the memory plan adds
 * @param after
 *            for each task those that wait for it
 * @param externals
 *            for each value that a run is given what it must be; null if it held no tensor
 * @param sharing
 *            which variables share memory before the run
 * @param storages
 *            for each group of these the value that is all their memory
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record CompiledPlan(ValueNumbering accesses, ValueTable values, List<Task> tasks, Dependencies dependencies,
        Streams streams, MemoryPlan memory,
        Releases releases, List<Layouts.Packed> layouts, int[][] before, int[][] after,
        @Nullable TensorSpec[] externals,
        Sharing sharing, List<Integer> storages) {
    /** Whether an argument is packed: it is bound apart from the others. */
    public boolean isPacked(int task, int stage, int argument) {
        return layouts.stream()
                .anyMatch(packed -> packed.task() == task && packed.stage() == stage && packed.input() == argument);
    }

    /** Whether it is for what a run is given. */
    public boolean fits(@Nullable Object[] given, Sharing shared) {
        if (!sharing.equals(shared)) {
            return false;
        }
        for (int i = 0; i < externals.length; i++) {
            if (!fits(externals[i], given[i])) {
                return false;
            }
        }
        return true;
    }

    private static boolean fits(@Nullable TensorSpec wanted, @Nullable Object given) {
        TensorSpec there = given instanceof io.seriatim.tensor.Tensor tensor ? tensor.spec() : null;
        return wanted == null
                ? there == null
                : there != null && (wanted.equals(there) || wanted.equals(there.rowMajor()));
    }
}
