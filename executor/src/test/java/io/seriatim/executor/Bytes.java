package io.seriatim.executor;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.tensor.Layout;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** The set of bytes of a value's memory that a task accesses. */
final class Bytes {
    private Bytes() {
    }

    /** Returns the bytes that a task accesses; null if it may access all. */
    static @Nullable BitSet of(CompiledPlan plan, int task, int memory) {
        ValueTable values = plan.values();
        if (!(plan.tasks().get(task) instanceof Task.Compute compute)) {
            return null;
        }
        BitSet bytes = new BitSet();
        BitSet named = new BitSet();
        for (Stage stage : compute.stages()) {
            for (Arg arg : stage.args()) {
                if (arg != null && arg.value() >= 0 && values.memory(arg.value()) == memory) {
                    if (arg.isWhole(values) || arg.spec().layout() instanceof Layout.Opaque) {
                        return null;
                    }
                    named.set(arg.value());
                    add(arg, 0, arg.offset(), bytes);
                }
            }
        }
        for (int[] touched : new int[][]{compute.reads(), compute.writes()}) {
            for (int value : touched) {
                if (values.memory(value) == memory && !named.get(value)) {
                    return null;
                }
            }
        }
        return bytes;
    }

    private static void add(Arg arg, int axis, long at, BitSet bytes) {
        int size = arg.spec().dtype().bytes();
        if (axis == arg.spec().shape().rank()) {
            bytes.set((int) at, (int) at + size);
            return;
        }
        for (long i = 0; i < arg.spec().shape().dim(axis); i++) {
            add(arg, axis + 1, at + i * arg.spec().strides()[axis] * size, bytes);
        }
    }

    /** Returns whether two tasks access a common byte, if the memory of two values is the same. */
    static boolean meet(CompiledPlan plan, int one, int ofOne, int two, int ofTwo) {
        BitSet first = of(plan, one, ofOne);
        BitSet second = of(plan, two, ofTwo);
        return first == null || second == null || first.intersects(second);
    }
}
