package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.network.GroupNorm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Folds what surrounds a normalisation by groups into it. Files of ONNX normalise the groups of images as channels of
 * [n, groups, rest], and then multiply and shift the channels of [n, c, spatial...]. The normalisation takes the shape
 * of the images, so that {@link ChannelsLast} can store them, and the factor and the shift of channels become its own.
 * Results differ by rounding. The new scale and bias depend only on parameters, so that {@link ParameterResults} keeps
 * them.
 */
final class GroupNorms {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS =
            RewritePass.onHost(PassName.FOLDING, (graph, _) -> new GroupNorms(graph).rewrite());

    private static final int MOST_DIMENSIONS = 5;
    private static final int CHANNELS = 1;

    private final TaskGraph tasks;
    private final ValueTable values;

    private GroupNorms(TaskGraph tasks) {
        this.tasks = tasks;
        this.values = tasks.values();
    }

    /**
     * A normalisation of whose results others read y only.
     *
     * @param before
     *            the tasks that compute its scale and bias
     */
    private record Norm(Task.Compute task, Arg x, @Nullable Arg scale, @Nullable Arg bias, Arg y, List<Task> before) {
        Stage stage() {
            return task.stages().getFirst();
        }

        GroupNorm computation() {
            return (GroupNorm) Objects.requireNonNull(stage().computation());
        }

        Norm with(@Nullable Arg otherScale, @Nullable Arg otherBias, Arg otherY, List<Task> more) {
            return new Norm(task, x, otherScale, otherBias, otherY,
                    Stream.concat(before.stream(), more.stream()).toList());
        }

        Task.Compute rewritten(List<Access> operations) {
            List<@Nullable Arg> inputs = new ArrayList<>();
            inputs.add(x);
            if (scale != null) {
                inputs.add(scale);
            }
            if (bias != null) {
                inputs.add(bias);
            }
            List<@Nullable Arg> outputs = new ArrayList<>(stage().outputs());
            outputs.set(0, y);
            GroupNorm before = computation();
            Stage stage = new Stage(stage().access(),
                    Stage.of(stage().access(),
                            new GroupNorm(before.groups(), before.epsilon(), scale != null, bias != null), inputs, y)
                            .work(),
                    inputs, outputs, null);
            return task.with(operations, List.of(stage));
        }
    }

    private void rewrite() {
        for (int i = 0; i < tasks.size(); i++) {
            Norm norm = norm(i);
            Norm shaped = norm == null ? null : inShapeOfReaders(norm);
            if (norm != null && shaped != null) {
                i = folded(i, norm, shaped);
            }
        }
    }

    /** Returns the normalisation that a task is; null if it is none, or others than tasks with kernels read it. */
    private @Nullable Norm norm(int index) {
        if (!(tasks.get(index) instanceof Task.Compute task) || task.stages().isEmpty()
                || !(task.stages().getFirst().computation() instanceof GroupNorm group) || !task.isPure()
                || !areUnread(task.stages().subList(1, task.stages().size()), index)) {
            return null;
        }
        Stage stage = task.stages().getFirst();
        Arg x = stage.inputs().getFirst();
        Arg y = stage.outputs().getFirst();
        if (x == null || y == null || stage.inputs().contains(null) || !x.isAll(values) || !y.isAll(values)
                || x.spec().dtype() != DType.FLOAT32 || !tasks.isTemporaryOf(y.value(), index)
                || tasks.readers(y.value()).isEmpty()
                || !stage.outputs().stream().skip(1).allMatch(arg -> isUnread(arg, index))) {
            return null;
        }
        for (int reader : tasks.readers(y.value()).toArray()) {
            if (!(tasks.get(reader) instanceof Task.Compute)) {
                return null;
            }
        }
        Arg scale = group.scale() ? stage.inputs().get(1) : null;
        Arg bias = group.bias() ? stage.inputs().getLast() : null;
        return isOfParameters(scale) && isOfParameters(bias) ? new Norm(task, x, scale, bias, y, List.of()) : null;
    }

    /** Whether nothing reads what stages write: the statistics, as a gradient would need them. */
    private boolean areUnread(List<Stage> stages, int index) {
        return stages.stream().flatMap(stage -> stage.outputs().stream()).allMatch(arg -> isUnread(arg, index));
    }

    private boolean isUnread(@Nullable Arg arg, int writer) {
        return arg == null || arg.source() instanceof Arg.Temporary
                || (tasks.isTemporaryOf(arg.value(), writer) && tasks.readers(arg.value()).isEmpty());
    }

    /** Whether an operand is a row of float32 that no task of the plan writes. */
    private boolean isOfParameters(@Nullable Arg arg) {
        return arg == null || (arg.spec().isRowMajor() && arg.spec().dtype() == DType.FLOAT32
                && (arg.source() instanceof Arg.Constant
                        || (arg.value() >= 0 && tasks.writers(arg.value()).isEmpty())));
    }

    /**
     * Returns the normalisation of images of the shape that all readers have; null if they have different ones, or
     * the groups are others.
     */
    private @Nullable Norm inShapeOfReaders(Norm norm) {
        int y = norm.y().value();
        Shape shape = null;
        for (int reader : tasks.readers(y).toArray()) {
            for (Stage stage : tasks.compute(reader).stages()) {
                for (Arg arg : stage.args()) {
                    if (arg != null && arg.value() == y) {
                        if (!arg.isAll(values) || (shape != null && !arg.spec().shape().equals(shape))) {
                            return null;
                        }
                        shape = arg.spec().shape();
                    }
                }
            }
        }
        Shape own = norm.y().spec().shape();
        if (shape == null || shape.equals(own)) {
            return shape == null ? null : norm;
        }
        if (shape.rank() < 3 || shape.rank() > MOST_DIMENSIONS || own.rank() < 2 || shape.size() == 0
                || shape.dim(0) != own.dim(0) || shape.dim(CHANNELS) % own.dim(CHANNELS) != 0) {
            return null;
        }
        TensorSpec spec = TensorSpec.of(DType.FLOAT32, shape.dims());
        List<Task> before = new ArrayList<>();
        Arg scale = repeated(norm, norm.scale(), shape.dim(CHANNELS), before);
        Arg bias = repeated(norm, norm.bias(), shape.dim(CHANNELS), before);
        return new Norm(norm.task(), new Arg(norm.x().source(), norm.x().offset(), spec), scale, bias,
                new Arg(norm.y().source(), norm.y().offset(), spec), before);
    }

    /** Returns a parameter for more channels, of which as many as before have the same; adds what computes it. */
    private @Nullable Arg repeated(Norm norm, @Nullable Arg parameter, long channels, List<Task> before) {
        if (parameter == null || parameter.spec().shape().size() == channels) {
            return parameter;
        }
        long rows = parameter.spec().shape().size();
        long each = channels / rows;
        TensorSpec row = new TensorSpec(DType.FLOAT32, Shape.of(rows, each), Layout.strided(1, 0));
        TensorSpec all = TensorSpec.of(DType.FLOAT32, rows, each);
        Arg out = added(norm, channels);
        before.add(task(norm, Stage.of(norm.stage().access(), Copy.PLAIN,
                List.of(new Arg(parameter.source(), parameter.offset(), row)), new Arg(out.source(), 0, all))));
        return out;
    }

    private Arg added(Norm norm, long channels) {
        TensorSpec spec = TensorSpec.of(DType.FLOAT32, channels);
        int value = values.add(values.name(norm.y().value()) + " parameter", spec);
        return new Arg(new Arg.Value(value), 0, spec);
    }

    private static Task task(Norm norm, Stage stage) {
        return Task.Compute.ofStages(List.of(stage.access()), List.of(stage), List.of(), norm.task().place());
    }

    /** Folds the factors and shifts that follow, and returns the index of the normalisation after that. */
    private int folded(int index, Norm before, Norm shaped) {
        Norm norm = shaped;
        List<Access> operations = new ArrayList<>(before.task().operations());
        List<Integer> taken = new ArrayList<>();
        while (true) {
            int reader = onlyReader(norm.y().value());
            Norm next = reader < 0 ? null : followed(norm, index, reader);
            if (next == null) {
                break;
            }
            tasks.compute(reader).operations().forEach(operations::add);
            taken.add(reader);
            norm = next;
        }
        if (taken.isEmpty() && norm.y().equals(before.y())) {
            return index;
        }
        values.spec(norm.y().value(), norm.y().spec());
        taken.forEach(tasks::remove);
        tasks.put(index, norm.rewritten(operations));
        if (norm.before().isEmpty()) {
            return index;
        }
        List<@Nullable Task> all = new ArrayList<>();
        for (int i = 0; i < tasks.size(); i++) {
            if (i == index) {
                all.addAll(norm.before());
            }
            if (tasks.get(i) != null) {
                all.add(tasks.get(i));
            }
        }
        Task own = tasks.get(index);
        tasks.replaceAll(all.stream().map(Objects::requireNonNull).toList());
        return all.indexOf(own);
    }

    private int onlyReader(int value) {
        TaskSet readers = tasks.readers(value);
        return values.isTemporary(value) && readers.size() == 1 ? readers.first() : -1;
    }

    /** Returns the normalisation with the factor or shift that a task is; null if it is none. */
    private @Nullable Norm followed(Norm norm, int index, int reader) {
        Task.Compute task = tasks.compute(reader);
        Stage stage = task.stages().getFirst();
        Arg out = stage.onlyOutput();
        if (task.stages().size() != 1 || !task.isPure() || !(stage.computation() instanceof Binary binary)
                || !binary.postOps().isEmpty() || out == null || !out.isAll(values)
                || !out.spec().equals(norm.y().spec()) || !values.isSeparate(out.value())
                || tasks.writers(out.value()).size() != 1 || !task.placeRequest().equals(norm.task().placeRequest())) {
            return null;
        }
        Arg left = Objects.requireNonNull(stage.inputs().get(0));
        Arg right = Objects.requireNonNull(stage.inputs().get(1));
        boolean first = left.value() == norm.y().value();
        Arg factor = channels(first ? right : left, out.spec().shape());
        if (factor == null || !isOfParameters(factor) || tasks.readers(out.value()).isAnyIn(index, reader)) {
            return null;
        }
        List<Task> more = new ArrayList<>();
        return switch (binary.function()) {
            case MULTIPLY -> {
                Arg scale = combined(norm, norm.scale(), factor, Binary.Function.MULTIPLY, more);
                Arg bias = norm.bias() == null
                        ? null
                        : combined(norm, norm.bias(), factor, Binary.Function.MULTIPLY, more);
                yield norm.with(scale, bias, out, more);
            }
            case ADD -> {
                Arg bias = combined(norm, norm.bias(), factor, Binary.Function.ADD, more);
                yield norm.with(norm.scale(), bias, out, more);
            }
            default -> null;
        };
    }

    /** Returns an operand with one element for each channel of images as a row of them; null if it is no such. */
    private static @Nullable Arg channels(Arg arg, Shape images) {
        Shape shape = arg.spec().shape();
        int missing = images.rank() - shape.rank();
        if (!arg.spec().isRowMajor() || missing < 0 || missing > CHANNELS || shape.size() != images.dim(CHANNELS)
                || shape.dim(CHANNELS - missing) != images.dim(CHANNELS)) {
            return null;
        }
        return new Arg(arg.source(), arg.offset(), TensorSpec.of(arg.spec().dtype(), shape.size()));
    }

    private Arg combined(Norm norm, @Nullable Arg parameter, Arg factor, Binary.Function function, List<Task> more) {
        if (parameter == null) {
            return factor;
        }
        long channels = factor.spec().shape().size();
        Arg out = added(norm, channels);
        Arg row = new Arg(parameter.source(), parameter.offset(), factor.spec());
        more.add(task(norm, Stage.of(norm.stage().access(), Binary.of(function), Arrays.asList(row, factor), out)));
        return out;
    }
}
