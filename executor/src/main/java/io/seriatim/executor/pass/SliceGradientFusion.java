package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Region;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Fuses the gradients of slices of one value. Each of them is zero except for a part, and all are summed. If the parts
 * are disjoint, each is written directly into the sum, which is filled with zeros before only if the parts do not cover
 * it. {@link Views} may then let the task that computes a part write it there.
 *
 * <p>
 * Adding zeros preserves a number, except that −0 + 0 is 0, whereas here −0 stays −0. A padded value is eliminated if
 * only the sum reads it. The sum is written from the position of the first padded value on, since no task accesses it
 * before the summation.
 */
final class SliceGradientFusion {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.of(PassName.VIEWS, (tasks, _) -> rewrite(tasks));

    private final ValueTable values;
    private final TaskGraph tasks;

    /** A task that fills a value with zeros and then copies another value into a part of it. */
    private record Padded(int index, Task.Compute task, Stage fill, Stage copy) {
    }

    private SliceGradientFusion(TaskGraph tasks) {
        this.values = tasks.values();
        this.tasks = tasks;
    }

    private static void rewrite(TaskGraph tasks) {
        SliceGradientFusion sums = new SliceGradientFusion(tasks);
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task) {
                sums.join(i, task);
            }
        }
    }

    private void join(int index, Task.Compute sum) {
        Arg out = sum.stages().isEmpty() || sum.stages().getLast().outputs().isEmpty()
                ? null
                : sum.stages().getLast().outputs().getFirst();
        List<Arg> added = out == null ? List.of() : added(sum, out);
        if (out == null || added.size() < 2 || !out.isWhole(values) || !tasks.isTemporaryOf(out.value(), index)
                || tasks.readers(out.value()).isAnyIn(0, index - 1)
                || !keepsToItself(sum, index, out)) {
            return;
        }
        List<Padded> all = new ArrayList<>(added.size());
        for (Arg arg : added) {
            Padded padded = padded(arg, index);
            if (padded == null || !padded.task().placeRequest().equals(sum.placeRequest())
                    || all.stream().anyMatch(other -> !Region.areApart(part(other), part(padded)))) {
                return;
            }
            all.add(padded);
        }
        boolean covered = all.stream().mapToLong(padded -> part(padded).spec().shape().size()).sum() == out.spec()
                .shape().size();
        int first = all.stream().mapToInt(Padded::index).min().orElse(index);
        for (Padded padded : all) {
            List<Stage> stages = new ArrayList<>(2);
            if (padded.index() == first && !covered) {
                stages.add(padded.fill().with(padded.fill().inputs(), List.of(out)));
            }
            stages.add(padded.copy().with(padded.copy().inputs(), List.of(part(padded).of(out.value()))));
            List<Access> operations = new ArrayList<>(padded.task().operations());
            sum.operations().stream().filter(access -> !operations.contains(access)).forEach(operations::add);
            tasks.put(padded.index(), padded.task().with(operations, stages));
        }
        tasks.remove(index);
    }

    /** Returns whether no other task reads the partial sums. */
    private boolean keepsToItself(Task.Compute sum, int index, Arg out) {
        return IntStream.of(sum.writes()).allMatch(value -> value == out.value()
                || (value >= 0 && values.isTemporary(value) && !tasks.isReadElsewhere(value, index)));
    }

    /**
     * Returns the addends of a sum that a task computes by binary additions of operands of the same shape; empty if the
     * task does anything else.
     */
    private static List<Arg> added(Task.Compute sum, Arg out) {
        List<Arg> added = new ArrayList<>();
        for (int i = 0; i < sum.stages().size(); i++) {
            Stage stage = sum.stages().get(i);
            if (!(stage.computation() instanceof Binary binary) || binary.function() != Binary.Function.ADD
                    || !binary.postOps().isEmpty()) {
                return List.of();
            }
            Arg before = i == 0 ? null : sum.stages().get(i - 1).outputs().getFirst();
            int more = 0;
            for (Arg arg : stage.inputs()) {
                if (arg == null || !arg.spec().equals(out.spec())) {
                    return List.of();
                }
                if (!arg.equals(before)) {
                    added.add(arg);
                    more++;
                }
            }
            if (more != (i == 0 ? 2 : 1)) {
                return List.of();
            }
        }
        return added;
    }

    /** Returns the task that wrote a padded value that only the sum reads, or null. */
    private @Nullable Padded padded(Arg arg, int sum) {
        if (arg.value() < 0 || !tasks.isTemporaryOfOne(arg.value()) || !arg.isWhole(values)
                || !tasks.readers(arg.value()).isOnly(sum)) {
            return null;
        }
        int index = tasks.writers(arg.value()).first();
        if (index >= sum || !(tasks.get(index) instanceof Task.Compute task) || task.stages().size() != 2) {
            return null;
        }
        Stage fill = task.stages().getFirst();
        Stage copy = task.stages().getLast();
        // A fill may also be the last stage, as in the gradient of a value that a part of was set.
        if (fill.outputs().size() != 1 || copy.outputs().size() != 1 || copy.inputs().isEmpty()) {
            return null;
        }
        boolean zero = fill.computation() instanceof Fill(double value) && value == 0
                && fill.outputs().equals(Arrays.asList(arg));
        Arg part = copy.outputs().getFirst();
        Arg source = copy.inputs().getFirst();
        boolean copied = copy.computation() instanceof Copy && part != null && part.value() == arg.value()
                && source != null
                && source.value() != arg.value();
        return zero && copied && IntStream.of(task.writes()).allMatch(value -> value == arg.value())
                ? new Padded(index, task, fill, copy)
                : null;
    }

    private static Arg part(Padded padded) {
        return Objects.requireNonNull(padded.copy().outputs().getFirst());
    }
}
