package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Copies what two concatenations have in common from the first to the second. Each layer of a densely connected network
 * concatenates the results of all layers before it; these lie one after the other in the concatenation that the layer
 * before has made, so that one copy of long rows replaces many of short ones.
 */
final class SharedConcatenations {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS =
            RewritePass.of(PassName.SIMPLIFICATION, (tasks, _) -> new SharedConcatenations(tasks).rewrite());

    private final TaskGraph tasks;
    private final ValueTable values;
    /** By their first parts, in the order of their tasks. */
    private final Map<Arg, List<Concatenation>> known = new HashMap<>();

    /** A task that copies parts one after the other along an axis, and what it has been given at first. */
    private record Concatenation(int task, int value, int axis, List<Arg> parts) {
    }

    private SharedConcatenations(TaskGraph tasks) {
        this.tasks = tasks;
        this.values = tasks.values();
    }

    private void rewrite() {
        for (int i = 0; i < tasks.size(); i++) {
            Concatenation found = tasks.get(i) instanceof Task.Compute task ? concatenation(i, task) : null;
            if (found != null) {
                shorten(found);
                known.computeIfAbsent(found.parts().getFirst(), _ -> new ArrayList<>()).add(found);
            }
        }
    }

    private void shorten(Concatenation whole) {
        Task.Compute task = tasks.compute(whole.task());
        Layout layout = Layout.strided(Objects.requireNonNull(values.spec(whole.value())).strides());
        List<Stage> stages = new ArrayList<>();
        int at = 0;
        while (at < whole.parts().size()) {
            Concatenation earlier = longest(whole, at);
            Stage first = task.stages().get(at);
            if (earlier == null) {
                stages.add(first);
                at++;
            } else {
                TensorSpec all = Objects.requireNonNull(values.spec(earlier.value()));
                Arg to = Objects.requireNonNull(first.outputs().getFirst());
                stages.add(
                        Stage.of(first.access(), Copy.PLAIN, List.of(new Arg(new Arg.Value(earlier.value()), 0, all)),
                                new Arg(to.source(), to.offset(),
                                        new TensorSpec(all.dtype(), all.shape(), layout))));
                at += earlier.parts().size();
            }
        }
        if (stages.size() < task.stages().size()) {
            tasks.put(whole.task(), task.with(task.operations(), stages));
        }
    }

    /** Returns the earlier concatenation of most of the parts from one on; null if there is none. */
    private @Nullable Concatenation longest(Concatenation whole, int from) {
        List<Arg> parts = whole.parts().subList(from, whole.parts().size());
        Concatenation best = null;
        for (Concatenation earlier : known.getOrDefault(parts.getFirst(), List.of())) {
            int length = earlier.parts().size();
            if (earlier.axis() == whole.axis() && length <= parts.size()
                    && (best == null || length > best.parts().size())
                    && parts.subList(0, length).equals(earlier.parts()) && !isAnyWritten(earlier, whole.task())) {
                best = earlier;
            }
        }
        return best;
    }

    private boolean isAnyWritten(Concatenation earlier, int until) {
        for (Arg part : earlier.parts()) {
            if (tasks.writers(part.value()).isAnyIn(earlier.task() + 1, until)) {
                return true;
            }
        }
        return false;
    }

    /** Returns a task as a concatenation of at least two parts; null if it is none. */
    private @Nullable Concatenation concatenation(int index, Task.Compute task) {
        List<Arg> parts = new ArrayList<>();
        Arg first = task.stages().size() < 2 ? null : task.stages().getFirst().onlyOutput();
        TensorSpec all = first == null || first.value() < 0 ? null : values.spec(first.value());
        if (first == null || all == null || !tasks.isTemporaryOfOne(first.value()) || !all.isRowMajor()
                || first.spec().shape().rank() != all.shape().rank()) {
            return null;
        }
        int axis = 0;
        while (axis < all.shape().rank() - 1 && first.spec().shape().dim(axis) == all.shape().dim(axis)) {
            axis++;
        }
        long end = 0;
        for (Stage stage : task.stages()) {
            Arg part = stage.inputs().isEmpty() ? null : stage.inputs().getFirst();
            Arg to = stage.onlyOutput();
            if (!Copy.PLAIN.equals(stage.computation()) || part == null || to == null || part.value() < 0
                    || to.value() != first.value() || part.value() == to.value()
                    || !part.spec().shape().equals(to.spec().shape()) || part.spec().dtype() != all.dtype()
                    || !isAt(to, all, axis, end)) {
                return null;
            }
            parts.add(part);
            end += to.spec().shape().dim(axis);
        }
        return end == all.shape().dim(axis) ? new Concatenation(index, first.value(), axis, parts) : null;
    }

    /** Returns whether an operand is all of a value but for an axis, along which it begins at a given place. */
    static boolean isAt(Arg part, TensorSpec all, int axis, long begin) {
        TensorSpec spec = part.spec();
        long[] strides = all.strides();
        if (spec.dtype() != all.dtype() || spec.shape().rank() != strides.length
                || part.offset() != begin * strides[axis] * all.dtype().bytes()) {
            return false;
        }
        long[] own = spec.strides();
        for (int i = 0; i < strides.length; i++) {
            if ((i != axis && spec.shape().dim(i) != all.shape().dim(i))
                    || (spec.shape().dim(i) > 1 && own[i] != strides[i])) {
                return false;
            }
        }
        return true;
    }
}
