package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Region;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.UnaryGrad;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Eliminates copies that only reorder or move elements: transposes, splits, slices, stacks, concatenations, and their
 * gradients.
 *
 * <p>
 * Forwards, the readers of a copy read a strided view of the original. It requires that strides can express the
 * operands of all readers, and that no task writes the original before the last of them. Backwards, the task that
 * computes a value that is only copied writes it directly to the target of the copy. It requires that no other task
 * reads the value and that, between its first writer and the copy, no task reads the target or writes the same part of
 * it. Each kernel for a new view must have the same provider as before, so that it computes the same, and must be
 * equally fast with strides.
 *
 * <p>
 * The pass applies only if the whole plan runs on the host, since transfers between places move whole values. It runs
 * after {@link Fusion}, which matches values with their original layouts.
 */
final class Views {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS =
            RewritePass.onHost(PassName.VIEWS, (graph, context) -> rewrite(graph, context, false));

    /**
     * The results of convolutions. They remain where they are in {@link #PASS}: where {@link ChannelsLast} stores their
     * concatenation channels last, a copy is cheaper than other layouts of what reads it.
     */
    static final RewritePass OF_CONVOLUTIONS =
            RewritePass.onHost(PassName.VIEWS, (graph, context) -> rewrite(graph, context, true));

    /**
     * The minimum number of elements of a row. For shorter rows, kernels in Java spend more time on starting rows than
     * a copy takes.
     */
    private static final long SHORTEST_ROW = 64;

    private final ValueTable values;
    private final PreparedKernels kernels;
    private final TaskGraph tasks;
    private final boolean ofConvolutions;

    private Views(TaskGraph tasks, PreparedKernels kernels, boolean ofConvolutions) {
        this.values = tasks.values();
        this.kernels = kernels;
        this.tasks = tasks;
        this.ofConvolutions = ofConvolutions;
    }

    private static void rewrite(TaskGraph tasks, PassContext context, boolean ofConvolutions) {
        if (isAnyElsewhere(tasks)) {
            return;
        }
        Views views = new Views(tasks, context.kernels(), ofConvolutions);
        for (int i = 0; i < tasks.size(); i++) {
            views.view(i);
        }
    }

    /** Returns whether any operation requests a device other than the host. */
    static boolean isAnyElsewhere(TaskGraph tasks) {
        for (int i = 0; i < tasks.size(); i++) {
            Task task = tasks.get(i);
            if (task != null) {
                for (Access access : task.operations()) {
                    if (access.placeRequest().namesAccelerator()) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private void view(int index) {
        if (!(tasks.get(index) instanceof Task.Compute first) || first.stages().size() > Task.MOST_STAGES) {
            return;
        }
        for (Stage stage : first.stages()) {
            Arg in = stage.inputs().isEmpty() ? null : stage.inputs().getFirst();
            Arg out = stage.onlyOutput();
            if (in == null || out == null || !(stage.computation() instanceof Copy) || !isMove(in, out)) {
                continue;
            }
            boolean moved = ofConvolutions
                    ? isByConvolution(in.value()) && isWrittenWhereItGoes(index, stage, in, out)
                    : isReadWhereItIs(index, in, out)
                            || (!isByConvolution(in.value()) && isWrittenWhereItGoes(index, stage, in, out));
            if (moved
                    && tasks.get(index) instanceof Task.Compute compute) {
                List<Stage> left = new ArrayList<>(compute.stages());
                left.remove(stage);
                Task.Compute rest = compute.with(compute.operations(), left);
                if (left.isEmpty() && rest.writes().length == 0) {
                    tasks.remove(index);
                } else {
                    tasks.put(index, rest);
                }
            }
        }
    }

    private boolean isByConvolution(int value) {
        TaskSet writers = tasks.writers(value);
        return writers.size() == 1 && tasks.get(writers.first()) instanceof Task.Compute compute
                && compute.stages().stream().anyMatch(stage -> Epilogue.isConvolution(stage.computation())
                        && stage.outputs().stream().anyMatch(out -> out != null && out.value() == value
                                && out.spec().isRowMajor()));
    }

    private boolean isMove(Arg in, Arg out) {
        return in.value() >= 0 && out.value() >= 0 && in.spec().dtype() == out.spec().dtype()
                && in.spec().shape().equals(out.spec().shape())
                && values.memory(in.value()) != values.memory(out.value());
    }

    /** Makes the readers of a copy read the original, if possible. */
    private boolean isReadWhereItIs(int index, Arg in, Arg out) {
        int copy = out.value();
        Task.Compute task = compute(index);
        Region original = Region.of(in);
        if (original == null || !out.isAll(values) || !tasks.isTemporaryOfOne(copy)
                || tasks.readers(copy).isEmpty() || task == null || task.touchedAgain().contains(copy)) {
            return false;
        }
        TaskSet writers = tasks.writers(in.value());
        int[] readers = tasks.readers(copy).toArray();
        List<Task.Compute> changed = new ArrayList<>(readers.length);
        for (int reader : readers) {
            Task.Compute other = reader == index || writers.isAnyIn(index, reader) ? null : compute(reader);
            Task.Compute reading = other == null ? null : replaced(other, copy, original, List.of());
            if (reading == null) {
                return false;
            }
            changed.add(reading);
        }
        putAll(readers, changed);
        return true;
    }

    private void putAll(int[] indexes, List<Task.Compute> changed) {
        for (int i = 0; i < indexes.length; i++) {
            tasks.put(indexes[i], changed.get(i));
        }
    }

    /** Makes the writers of a value that is only copied write the copy, if possible. */
    private boolean isWrittenWhereItGoes(int index, Stage stage, Arg in, Arg out) {
        int value = in.value();
        TensorSpec spec = values.spec(value);
        int[] sources = tasks.writers(value).toArray();
        if (!values.isTemporary(value) || !values.isTemporary(out.value()) || spec == null || sources.length == 0
                || sources[sources.length - 1] >= index
                || !tasks.readers(value).isOnly(index) || !isReadOnceIn(index, value)) {
            return false;
        }
        Region there = Region.of(in, out, spec);
        if (there == null || !isFree(sources[0], index, stage, out)) {
            return false;
        }
        List<Task.Compute> changed = new ArrayList<>();
        for (int writer : sources) {
            Task.Compute other = compute(writer);
            if (other == null || !other.placeRequest().equals(tasks.compute(index).placeRequest())) {
                return false;
            }
            Task.Compute writing = replaced(other, value, there, List.of(stage.access()));
            if (writing == null || Arrays.stream(writing.writes()).anyMatch(each -> each == value)) {
                return false;
            }
            changed.add(writing);
        }
        putAll(sources, changed);
        return true;
    }

    private Task.@Nullable Compute compute(int index) {
        return tasks.get(index) instanceof Task.Compute compute && compute.stages().size() <= Task.MOST_STAGES
                ? compute
                : null;
    }

    private boolean isReadOnceIn(int index, int value) {
        Task.Compute task = compute(index);
        return task != null
                && task.stages().stream().flatMap(stage -> stage.inputs().stream())
                        .filter(arg -> arg != null && arg.value() == value)
                        .count() == 1;
    }

    /** Returns whether no stage from a task up to the copy, except the copy itself, accesses a part of a value. */
    private boolean isFree(int from, int index, Stage copy, Arg part) {
        if (tasks.readers(part.value()).isAnyIn(from, index)) {
            return false;
        }
        TaskSet writers = tasks.writers(part.value());
        for (int writer = writers.atOrAfter(from); writer != TaskSet.NONE && writer <= index; writer = writers
                .atOrAfter(writer + 1)) {
            if (!(tasks.get(writer) instanceof Task.Compute compute)) {
                return false;
            }
            int found = 0;
            for (Stage stage : compute.stages()) {
                for (Arg out : stage.outputs()) {
                    if (out != null && out.value() == part.value()) {
                        found++;
                        if (!stage.equals(copy) && !Region.areApart(out, part)) {
                            return false;
                        }
                    }
                }
            }
            if (found == 0) {
                return false;
            }
        }
        return true;
    }

    /** Returns the task with views in place of a value; null if that is impossible or slower. */
    private Task.@Nullable Compute replaced(Task.Compute task, int value, Region there, List<Access> more) {
        List<Stage> stages = new ArrayList<>(task.stages().size());
        for (Stage stage : task.stages()) {
            List<@Nullable Arg> inputs = replaced(stage.inputs(), value, there);
            List<@Nullable Arg> outputs = replaced(stage.outputs(), value, there);
            if (inputs == null || outputs == null) {
                return null;
            }
            if (inputs.equals(stage.inputs()) && outputs.equals(stage.outputs())) {
                stages.add(stage);
                continue;
            }
            Stage replaced = stage.with(inputs, outputs);
            if (!isAsGood(stage, replaced)) {
                return null;
            }
            stages.add(replaced);
        }
        List<Access> operations = new ArrayList<>(task.operations());
        more.stream().filter(access -> !operations.contains(access)).forEach(operations::add);
        return task.with(operations, stages);
    }

    private static @Nullable List<@Nullable Arg> replaced(List<@Nullable Arg> args, int value, Region there) {
        List<@Nullable Arg> replaced = new ArrayList<>(args.size());
        for (Arg arg : args) {
            Arg view = arg != null && arg.value() == value ? there.part(arg) : arg;
            if (arg != null && view == null) {
                return null;
            }
            replaced.add(view);
        }
        return replaced;
    }

    /** Returns whether the new views have a kernel of the same provider that is equally fast. */
    private boolean isAsGood(Stage before, Stage after) {
        Computation computation = after.computation();
        List<@Nullable Arg> old = before.args();
        List<@Nullable Arg> args = after.args();
        for (int i = 0; i < args.size(); i++) {
            Arg arg = args.get(i);
            if (arg == null || computation == null || arg.equals(old.get(i)) || arg.spec().isRowMajor()) {
                continue;
            }
            boolean taken = switch (computation) {
                // Operands of post-ops must be dense; otherwise the library copies them first.
                case MatMul _ -> (i < 2 || i == args.size() - 1) && isRowsOrColumns(arg.spec());
                case Copy _ -> true;
                case Unary _,UnaryGrad _,Binary _,Chain _,Where _ -> hasLongRows(arg.spec());
                default -> false;
            };
            if (!taken) {
                return false;
            }
        }
        return computation instanceof Copy || Providers.haveTheSame(kernels, before, after);
    }

    /** Returns whether one of the two matrix dimensions has stride 1. */
    private static boolean isRowsOrColumns(TensorSpec spec) {
        long[] strides = spec.strides();
        int rank = strides.length;
        return rank >= 2 && (strides[rank - 1] == 1 || strides[rank - 2] == 1);
    }

    private static boolean hasLongRows(TensorSpec spec) {
        if (!(spec.layout() instanceof Layout.Strided strided)) {
            return false;
        }
        long[] strides = strided.strides();
        long row = 1;
        for (int i = strides.length - 1; i >= 0 && (strides[i] == row || spec.shape().dim(i) == 1); i--) {
            row *= spec.shape().dim(i);
        }
        return row >= SHORTEST_ROW;
    }
}
