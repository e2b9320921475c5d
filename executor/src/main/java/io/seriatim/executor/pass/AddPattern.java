package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Matches a task that only sums values.
 *
 * @param addends
 *            the operands of the sum, in order
 * @param sum
 *            the operand that receives the sum
 */
record AddPattern(List<Arg> addends, Arg sum) {
    private static final Binary ADD = Binary.of(Binary.Function.ADD);

    /** Returns the pattern of a task; null if the task does anything else, or if its operands differ in shape. */
    static @Nullable AddPattern of(Task.Compute task) {
        Map<Arg.Source, List<Arg>> parts = new HashMap<>();
        for (int i = 0; i < task.stages().size(); i++) {
            Stage stage = task.stages().get(i);
            Arg out = stage.onlyOutput();
            boolean isLast = i == task.stages().size() - 1;
            if (!ADD.equals(stage.computation()) || out == null || !out.spec().isRowMajor()
                    || isLast != (out.source() instanceof Arg.Value) || (!isLast && out.offset() != 0)) {
                return null;
            }
            List<Arg> addends = new ArrayList<>();
            for (Arg in : stage.inputs()) {
                if (in == null || !in.spec().equals(out.spec())) {
                    return null;
                }
                if (in.source() instanceof Arg.Temporary) {
                    List<Arg> partial = parts.remove(in.source());
                    if (partial == null || in.offset() != 0) {
                        return null;
                    }
                    addends.addAll(partial);
                } else {
                    addends.add(in);
                }
            }
            if (isLast) {
                return parts.isEmpty() ? new AddPattern(List.copyOf(addends), out) : null;
            }
            if (parts.put(out.source(), addends) != null) {
                return null;
            }
        }
        return null;
    }

    /** Returns a task that sums at least two other operands instead. */
    Task.Compute of(Task.Compute task, List<Arg> others) {
        Access access = task.operations().getLast();
        List<Stage> stages = new ArrayList<>();
        List<TensorSpec> temporaries = new ArrayList<>();
        Arg partial = others.getFirst();
        for (int i = 1; i < others.size(); i++) {
            Arg out = sum;
            if (i < others.size() - 1) {
                out = new Arg(new Arg.Temporary(temporaries.size()), 0, sum.spec());
                temporaries.add(sum.spec());
            }
            stages.add(Stage.of(access, ADD, List.of(partial, others.get(i)), out));
            partial = out;
        }
        return task.with(task.operations(), stages, temporaries);
    }
}
