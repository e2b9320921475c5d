package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Copy propagation and dead code elimination. A copy that only gives a tensor another shape or name is bypassed: its
 * readers read the original. So do those of an expanded tensor that the memory of the host cannot hold. Stages whose
 * results no task reads are removed, and so are operations of the interpreter, loops and branches among them. Java
 * functions stay, since they may do more than compute, and so do operations with effects, their own or those of their
 * blocks. A task whose stages are independent of each other becomes several tasks.
 */
final class CopyElimination {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.of(PassName.SIMPLIFICATION, CopyElimination::bypass);

    /** Removes only what no task reads, and what memory cannot hold. */
    static final RewritePass ONLY_READ = RewritePass.of(PassName.SIMPLIFICATION, (tasks, context) -> {
        CopyElimination elimination = new CopyElimination(tasks, context);
        elimination.onlyOversized = true;
        elimination.bypassCopies();
        elimination.removeDead();
    });

    /** Makes the readers of copies read the originals, and removes the copies. */
    static void bypass(TaskGraph tasks, PassContext context) {
        CopyElimination elimination = new CopyElimination(tasks, context);
        elimination.bypassCopies();
        elimination.removeDead();
    }

    private final TaskGraph tasks;
    private final ValueTable values;
    private final Program program;
    private final boolean statefulRandom;
    private final PassContext context;
    /** The limit of the host's memory, if the plan runs there: an expanded tensor of more bytes is not copied. */
    private final long limit;
    private boolean onlyOversized;

    private CopyElimination(TaskGraph tasks, PassContext context) {
        this.tasks = tasks;
        this.context = context;
        this.limit = context.options().place().isHost()
                ? context.options().devices().host().memory().limit()
                : Long.MAX_VALUE;
        this.values = tasks.values();
        this.program = context.program();
        this.statefulRandom = context.options().paddleRandom() != null;
    }

    private void bypassCopies() {
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute compute) {
                Set<Integer> again = compute.touchedAgain();
                for (Stage stage : compute.stages()) {
                    bypass(i, stage, again);
                }
            }
        }
    }

    /**
     * Makes the readers of a copy read the original.
     *
     * @param again
     *            the values that other stages of the task access too; these may change the copy
     */
    private void bypass(int index, Stage stage, Set<Integer> again) {
        Arg in = stage.inputs().isEmpty() ? null : stage.inputs().getFirst();
        Arg out = stage.onlyOutput();
        if (!(stage.computation() instanceof Copy) || in == null || out == null || in.value() < 0
                || !out.isAll(values)) {
            return;
        }
        boolean oversized = out.spec().bytes() > limit && in.spec().shape().equals(out.spec().shape());
        if ((!oversized && (onlyOversized || !in.spec().isRowMajor()))
                || in.spec().dtype() != out.spec().dtype() || in.spec().bytes() != out.spec().bytes()
                || !tasks.isTemporaryOf(out.value(), index) || again.contains(out.value())) {
            return;
        }
        int original = in.value();
        int[] readers = tasks.readers(out.value()).toArray();
        TaskSet writers = tasks.writers(original);
        for (int reader : readers) {
            if (!(tasks.get(reader) instanceof Task.Compute other) || other.stages().size() > Task.MOST_STAGES
                    || reader == index
                    || writers.isAnyIn(index, reader)
                    || (!in.spec().isRowMajor() && !canRead(reading(other, out.value(), in), other, out))) {
                return;
            }
        }
        for (int reader : readers) {
            tasks.put(reader, reading(tasks.compute(reader), out.value(), in));
        }
    }

    /** Returns whether a task reads a copy as a whole and in its shape, and has kernels that read the original. */
    private boolean canRead(Task.Compute changed, Task.Compute before, Arg copy) {
        boolean reads = before.stages().stream().flatMap(stage -> stage.inputs().stream())
                .filter(arg -> arg != null && arg.value() == copy.value())
                .allMatch(arg -> arg.offset() == 0 && arg.spec().equals(copy.spec()));
        return reads && changed.stages().stream().allMatch(stage -> {
            Computation computation = stage.computation();
            return computation != null
                    && context.kernels().find(computation, context.options().place(), stage.specs()) != null;
        });
    }

    private static Task.Compute reading(Task.Compute task, int copy, Arg original) {
        List<Stage> stages = new ArrayList<>(task.stages().size());
        for (Stage stage : task.stages()) {
            List<@Nullable Arg> inputs = new ArrayList<>(stage.inputs().size());
            for (Arg arg : stage.inputs()) {
                inputs.add(arg != null && arg.value() == copy
                        ? new Arg(original.source(), original.offset() + arg.offset(),
                                original.spec().isRowMajor() ? arg.spec() : original.spec())
                        : arg);
            }
            stages.add(stage.with(inputs, stage.outputs()));
        }
        return task.with(task.operations(), stages);
    }

    /**
     * Removes dead stages and tasks. The loop runs backwards, so that a value that only dead tasks read is dead too.
     */
    private void removeDead() {
        boolean[] outlives = values.outlivesRun();
        Map<Integer, List<Task.Compute>> divided = new HashMap<>();
        for (int i = tasks.size() - 1; i >= 0; i--) {
            if (tasks.get(i) instanceof Task.Compute compute) {
                Task.Compute living = living(i, compute);
                if (living == null) {
                    tasks.remove(i);
                    continue;
                }
                tasks.put(i, living);
                List<Task.Compute> parts = living.parts(values::memory);
                if (parts.size() > 1) {
                    divided.put(i, parts);
                }
            } else if (tasks.get(i) instanceof Task.Interpreted interpreted && isDead(i, interpreted, outlives)) {
                tasks.remove(i);
                Arrays.stream(interpreted.writes()).filter(this::isOfKernels).forEach(values::computed);
            }
        }
        if (!divided.isEmpty()) {
            replace(divided);
        }
    }

    /** Replaces each divided task by its parts. */
    private void replace(Map<Integer, List<Task.Compute>> divided) {
        List<Task> all = new ArrayList<>(tasks.size() + divided.size());
        for (int i = 0; i < tasks.size(); i++) {
            Task task = tasks.get(i);
            if (task != null) {
                all.addAll(divided.getOrDefault(i, List.of()));
                if (!divided.containsKey(i)) {
                    all.add(task);
                }
            }
        }
        tasks.replaceAll(all);
    }

    /**
     * Returns whether the results of an interpreted task are unused: no later task reads them, and they do not outlive
     * the run. A loop reads and writes its carried variables under the same value number, so only later tasks count as
     * readers.
     */
    private boolean isDead(int index, Task.Interpreted task, boolean[] outlives) {
        return Arrays.stream(task.writes())
                .noneMatch(value -> outlives[values.memory(value)] || tasks.readers(value).last() > index)
                && Operations.system().isPure(task.access().op(), program, statefulRandom);
    }

    /** Returns whether kernels write a value and the interpreter does not. */
    private boolean isOfKernels(int value) {
        TaskSet writers = tasks.writers(value);
        return !writers.isEmpty() && Arrays.stream(writers.toArray()).allMatch(
                writer -> tasks.get(writer) instanceof Task.Compute);
    }

    /** Returns whether a value is temporary and no other task reads it. */
    private boolean isUnread(int value, int index) {
        return values.isTemporary(value) && !tasks.isReadElsewhere(value, index);
    }

    /** Returns the task without its dead stages; null if all are dead. */
    private Task.@Nullable Compute living(int index, Task.Compute task) {
        List<Stage> living = new ArrayList<>(task.stages().size());
        Set<Arg.Source> needed = new HashSet<>();
        for (Stage stage : task.stages().reversed()) {
            if (!isDead(index, stage, needed)) {
                living.add(stage);
                for (Arg arg : stage.inputs()) {
                    if (arg != null) {
                        needed.add(arg.source());
                    }
                }
            }
        }
        if (living.size() == task.stages().size()) {
            return task;
        }
        if (living.isEmpty() && Arrays.stream(task.writes()).allMatch(value -> isUnread(value, index))) {
            return null;
        }
        // Results that it no longer computes need no memory.
        return task.with(task.operations(), living.reversed()).withoutUnwritten(value -> isUnread(value, index));
    }

    private boolean isDead(int index, Stage stage, Set<Arg.Source> needed) {
        Computation computation = stage.computation();
        if (computation == null || stage.outputs().stream().allMatch(Objects::isNull)) {
            return false;
        }
        for (int i = 0; i < stage.inputs().size(); i++) {
            if (computation.mutates(i)) {
                return false;
            }
        }
        for (Arg out : stage.outputs()) {
            boolean unread = out == null || out.source() instanceof Arg.Temporary
                    || (out.value() >= 0 && isUnread(out.value(), index));
            if (!unread || (out != null && needed.contains(out.source()))) {
                return false;
            }
        }
        return true;
    }
}
