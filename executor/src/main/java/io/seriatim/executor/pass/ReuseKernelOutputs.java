package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.network.AdaptivePooling;
import io.seriatim.tensor.computation.network.Pooling;
import io.seriatim.tensor.computation.network.PoolingGrad;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Computes sums from an equivalent value with fewer elements. A max pooling passes the gradient of a window to one of
 * its elements, and an average pooling divides it between them; each window has at least one element. The sum over an
 * image of a pooling's input gradient is therefore equal to the sum of its output gradient, which has fewer elements.
 * That sum over all images is the gradient of the bias of the convolution before the pooling.
 *
 * <p>
 * If a task sums a value that only a pooling's gradient has written, it sums the operand of that gradient instead,
 * provided that the operand is not overwritten before the sum.
 */
final class ReuseKernelOutputs {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.of(PassName.BY_PRODUCTS, (tasks, _) -> rewrite(tasks));

    private final TaskGraph tasks;
    private final ValueTable values;

    private ReuseKernelOutputs(TaskGraph tasks) {
        this.tasks = tasks;
        this.values = tasks.values();
    }

    private static void rewrite(TaskGraph tasks) {
        ReuseKernelOutputs outputs = new ReuseKernelOutputs(tasks);
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task) {
                outputs.reuse(i, task);
            }
        }
    }

    private void reuse(int index, Task.Compute task) {
        List<Stage> stages = new ArrayList<>(task.stages());
        for (int i = 0; i < stages.size(); i++) {
            Arg less = source(index, stages.get(i));
            if (less != null) {
                stages.set(i, stages.get(i).with(Arrays.asList(less), stages.get(i).outputs()));
            }
        }
        if (stages.equals(task.stages())) {
            return;
        }
        int[] reads = stages.stream().flatMap(stage -> stage.inputs().stream()).filter(Objects::nonNull)
                .mapToInt(Arg::value)
                .filter(value -> value >= 0).distinct().toArray();
        tasks.put(index,
                new Task.Compute(task.operations(), stages, task.temporaries(), task.place(), reads, task.writes()));
    }

    /** Returns the operand that a stage may sum instead of its input; null if there is none. */
    private @Nullable Arg source(int index, Stage stage) {
        Arg summed = stage.inputs().isEmpty() ? null : stage.inputs().getFirst();
        if (!(stage.computation() instanceof Reduction reduction) || summed == null || !summed.isWhole(values)
                || !isOverImages(reduction, summed.spec().shape())) {
            return null;
        }
        TaskSet writers = tasks.writers(summed.value());
        int writer = writers.size() == 1 ? writers.first() : index;
        Arg incoming = writer < index ? incoming(tasks.get(writer), summed.value()) : null;
        boolean fewer = incoming != null && incoming.value() >= 0
                && incoming.spec().shape().size() < summed.spec().shape().size()
                && incoming.spec().dtype() == summed.spec().dtype();
        return fewer && isKept(Objects.requireNonNull(incoming), writer, index) ? incoming : null;
    }

    /** Returns whether a reduction sums whole images, whose dimensions start at the third. */
    private static boolean isOverImages(Reduction reduction, Shape shape) {
        boolean[] reduced = reduction.reduced(shape);
        boolean whole = reduction.function() == Reduction.Function.SUM && reduced.length > 2;
        for (int i = 2; i < reduced.length; i++) {
            whole &= reduced[i];
        }
        return whole;
    }

    /** Returns the output gradient from which a task computes a value as input gradient; null if it does not. */
    private static @Nullable Arg incoming(@Nullable Task task, int value) {
        if (!(task instanceof Task.Compute compute)) {
            return null;
        }
        Arg incoming = null;
        int writing = 0;
        for (Stage stage : compute.stages()) {
            Arg out = stage.outputs().getFirst();
            if (stage.outputs().stream().anyMatch(arg -> arg != null && arg.value() == value)) {
                writing++;
                boolean whole = out != null && stage.computation() instanceof PoolingGrad grad
                        && keepsSums(grad.forward())
                        && grad.infer(stage.specs()[0], stage.specs()[1], stage.specs()[2])[0].equals(out.spec());
                incoming = whole ? stage.inputs().get(2) : null;
            }
        }
        return writing == 1 ? incoming : null;
    }

    private static boolean keepsSums(Computation pooling) {
        return switch (pooling) {
            case Pooling windows -> windows.kind() != Pooling.Kind.AVERAGE_WITH_PADDING;
            case AdaptivePooling windows -> windows.kind() != Pooling.Kind.AVERAGE_WITH_PADDING;
            default -> false;
        };
    }

    /** Returns whether no task from one position to another, both included, writes an operand. */
    private boolean isKept(Arg arg, int from, int to) {
        return !tasks.writers(arg.value()).isAnyIn(from, to);
    }
}
