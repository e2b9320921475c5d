package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Leaves out what changes nothing: copies that only give a tensor another shape or name, whose readers may as well read
 * the original, and what writes only results that no one reads: stages, and operations that the interpreter runs, loops
 * and branches among them. Java functions stay: they may do more than compute; and what has effects, itself or in its
 * blocks.
 */
final class CopyElimination {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.of(PassName.SIMPLIFICATION,
            (tasks, context) -> of(tasks, context.values(), context.program(),
                    context.options().paddleRandom() != null));

    /** Leaves out what no one reads, and nothing else. */
    static final RewritePass ONLY_READ = RewritePass.of(PassName.SIMPLIFICATION,
            (tasks, context) -> new CopyElimination(tasks, context.values(), context.program(),
                    context.options().paddleRandom() != null).withoutDead());

    private final @Nullable Task[] tasks;
    private final ValueTable values;
    private final Program program;
    private final boolean statefulRandom;
    private final int[] groups;
    private final List<List<Integer>> writers = new ArrayList<>();
    private final List<List<Integer>> readers = new ArrayList<>();

    private CopyElimination(List<Task> tasks, ValueTable values, Program program, boolean statefulRandom) {
        this.tasks = tasks.toArray(Task[]::new);
        this.values = values;
        this.program = program;
        this.statefulRandom = statefulRandom;
        this.groups = new int[values.size()];
        for (int i = 0; i < values.size(); i++) {
            groups[values.memory(i)]++;
            writers.add(List.of());
            readers.add(List.of());
        }
        for (int i = 0; i < this.tasks.length; i++) {
            note(i, tasks.get(i).reads(), readers);
            note(i, tasks.get(i).writes(), writers);
        }
    }

    private void note(int task, int[] touched, List<List<Integer>> lists) {
        for (int value : touched) {
            int memory = values.memory(value);
            List<Integer> list = lists.get(memory);
            if (list.isEmpty()) {
                list = new ArrayList<>(2);
                lists.set(memory, list);
            }
            list.add(task);
        }
    }

    static List<Task> of(List<Task> tasks, ValueTable values, Program program, boolean statefulRandom) {
        CopyElimination simplification = new CopyElimination(tasks, values, program, statefulRandom);
        simplification.passCopiesBy();
        return simplification.withoutDead();
    }

    private void passCopiesBy() {
        for (int i = 0; i < tasks.length; i++) {
            if (tasks[i] instanceof Task.Compute compute) {
                Set<Integer> again = compute.touchedAgain();
                for (Stage stage : compute.stages()) {
                    passBy(i, stage, again);
                }
            }
        }
    }

    /**
     * Lets the readers of a copy read what it is a copy of.
     *
     * @param again
     *            what other stages of the task touch too: a copy that is changed there is none
     */
    private void passBy(int index, Stage stage, Set<Integer> again) {
        Arg in = stage.inputs().isEmpty() ? null : stage.inputs().getFirst();
        Arg out = stage.outputs().size() == 1 ? stage.outputs().getFirst() : null;
        if (!(stage.computation() instanceof Copy) || in == null || out == null || in.value() < 0 || !isAll(out)
                || !in.spec().isRowMajor()
                || in.spec().dtype() != out.spec().dtype() || in.spec().bytes() != out.spec().bytes()
                || !isTemporary(out.value())
                || writers.get(out.value()).size() != 1 || again.contains(out.value())) {
            return;
        }
        int original = in.value();
        for (int reader : readers.get(out.value())) {
            if (!(tasks[reader] instanceof Task.Compute other) || other.stages().size() > Task.MOST_STAGES
                    || reader == index
                    || isWrittenBetween(original, index, reader)) {
                return;
            }
        }
        for (int reader : readers.get(out.value())) {
            if (tasks[reader] instanceof Task.Compute compute) {
                tasks[reader] = reading(compute, out.value(), in);
            }
        }
        // There is one to add to: this task is among them.
        readers.get(values.memory(original)).addAll(readers.get(out.value()));
        readers.set(out.value(), List.of());
    }

    /** Whether it is all of a value, in whatever shape. */
    private boolean isAll(Arg arg) {
        TensorSpec spec = arg.value() < 0 ? null : values.spec(arg.value());
        return spec != null && spec.isRowMajor() && arg.spec().isRowMajor() && arg.spec().bytes() == spec.bytes();
    }

    private boolean isTemporary(int value) {
        return values.memory(value) == value && groups[value] == 1
                && values.origin(value) == ValueNumbering.Origin.COMPUTED
                && !values.isPersistable(value)
                && !values.isWanted(value);
    }

    private boolean isWrittenBetween(int value, int from, int to) {
        List<Integer> all = writers.get(values.memory(value));
        int next = Collections.binarySearch(all, from);
        return next >= 0 || (-next - 1 < all.size() && all.get(-next - 1) <= to);
    }

    private static Task.Compute reading(Task.Compute task, int copy, Arg original) {
        List<Stage> stages = new ArrayList<>(task.stages().size());
        for (Stage stage : task.stages()) {
            List<@Nullable Arg> inputs = new ArrayList<>(stage.inputs().size());
            for (Arg arg : stage.inputs()) {
                inputs.add(arg != null && arg.value() == copy
                        ? new Arg(original.source(), original.offset() + arg.offset(), arg.spec())
                        : arg);
            }
            stages.add(stage.with(inputs, stage.outputs()));
        }
        return Task.Compute.of(task.operations(), stages, task.temporaries(), task.place());
    }

    /** Backwards, so that what only the dead read is dead too. */
    private List<Task> withoutDead() {
        int[] reads = new int[values.size()];
        for (Task task : tasks) {
            count(task, reads, 1);
        }
        List<Task> left = new ArrayList<>(tasks.length);
        boolean[] needed = needed();
        for (int i = tasks.length - 1; i >= 0; i--) {
            Task task = tasks[i];
            if (task instanceof Task.Compute compute) {
                count(task, reads, -1);
                task = living(compute, reads);
                count(task, reads, 1);
            } else if (task instanceof Task.Interpreted interpreted && isDead(interpreted, needed)) {
                count(task, reads, -1);
                task = null;
            }
            if (task != null) {
                for (int value : task.reads()) {
                    needed[values.memory(value)] = true;
                }
            }
            if (task instanceof Task.Compute compute) {
                left.addAll(compute.parts(values::memory).reversed());
            } else if (task != null) {
                left.add(task);
            }
        }
        return left.reversed();
    }

    /**
     * By memory, what is there after the tasks: what is wanted, outlives the run, or is another's. Going backwards,
     * what later tasks read is added.
     */
    private boolean[] needed() {
        boolean[] needed = new boolean[values.size()];
        for (int i = 0; i < needed.length; i++) {
            needed[values.memory(i)] |= values.isWanted(i) || values.isPersistable(i)
                    || values.origin(i) == ValueNumbering.Origin.OUTSIDE;
        }
        return needed;
    }

    /** What a loop carries it reads and writes under one number, so that only what later tasks read counts. */
    private boolean isDead(Task.Interpreted task, boolean[] needed) {
        return Arrays.stream(task.writes()).noneMatch(value -> needed[values.memory(value)])
                && Operations.system().isPure(task.access().op(), program, statefulRandom);
    }

    private static void count(@Nullable Task task, int[] reads, int by) {
        if (task != null) {
            for (int value : task.reads()) {
                reads[value] += by;
            }
        }
    }

    /** The task with what later tasks or its own later stages read; null if that is nothing. */
    private @Nullable Task living(Task.Compute task, int[] reads) {
        List<Stage> living = new ArrayList<>(task.stages().size());
        Set<Arg.Source> wanted = new HashSet<>();
        for (Stage stage : task.stages().reversed()) {
            if (!isDead(stage, reads, wanted)) {
                living.add(stage);
                for (Arg arg : stage.inputs()) {
                    if (arg != null) {
                        wanted.add(arg.source());
                    }
                }
            }
        }
        if (living.size() == task.stages().size()) {
            return task;
        }
        boolean useless = living.isEmpty()
                && Arrays.stream(task.writes()).allMatch(value -> reads[value] == 0 && isTemporary(value));
        return useless
                ? null
                : without(Task.Compute.of(task.operations(), living.reversed(), task.temporaries(), task.place()),
                        reads);
    }

    /** What is not computed any more needs no memory. */
    private Task.Compute without(Task.Compute task, int[] reads) {
        Set<Integer> computed = new HashSet<>();
        for (Stage stage : task.stages()) {
            stage.args().stream().filter(Objects::nonNull).forEach(arg -> computed.add(arg.value()));
        }
        int[] writes = Arrays.stream(task.writes())
                .filter(value -> computed.contains(value) || reads[value] > 0 || !isTemporary(value))
                .toArray();
        return new Task.Compute(task.operations(), task.stages(), task.temporaries(), task.place(), task.reads(),
                writes);
    }

    private boolean isDead(Stage stage, int[] reads, Set<Arg.Source> wanted) {
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
            boolean temporary = out == null || out.source() instanceof Arg.Temporary
                    || (out.value() >= 0 && reads[out.value()] == 0 && isTemporary(out.value()));
            if (!temporary || (out != null && wanted.contains(out.source()))) {
                return false;
            }
        }
        return true;
    }
}
