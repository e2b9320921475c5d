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
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.FrontIndexes;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Counts indices from the front in one task. Models of ONNX may count them from the end, so programs that are read from
 * such files compare each index to 0, cast the result, multiply it by the length of the axis and add it to the index.
 * The same indices are often used several times: they are counted once, and before they are expanded.
 */
final class FrontIndexTasks {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS =
            RewritePass.onHost(PassName.SIMPLIFICATION, (tasks, _) -> new FrontIndexTasks(tasks).rewrite());

    private static final Binary LESS = Binary.of(Binary.Function.LESS);
    private static final Binary MULTIPLY = Binary.of(Binary.Function.MULTIPLY);
    private static final Binary ADD = Binary.of(Binary.Function.ADD);
    /** Of a constant that is looked at: as many as a tensor may have axes, and more. */
    private static final int MOST_LENGTHS = 64;

    private final TaskGraph tasks;
    private final ValueTable values;

    /** A task with one stage, which has one output. */
    private record Single(int index, Task.Compute task, Stage stage, Arg out) {
        Arg input(int number) {
            return Objects.requireNonNull(stage.inputs().get(number));
        }
    }

    /** Indices, and what is done with them. Vectors stand for row-major tensors of all shapes. */
    private record Key(Arg.Source source, long offset, TensorSpec spec, Computation computation) {
        static Key of(Single front) {
            Arg indices = front.input(0);
            TensorSpec spec = indices.spec();
            return new Key(indices.source(), indices.offset(),
                    spec.isRowMajor() ? TensorSpec.of(spec.dtype(), spec.shape().size()) : spec,
                    Objects.requireNonNull(front.stage().computation()));
        }
    }

    private FrontIndexTasks(TaskGraph tasks) {
        this.tasks = tasks;
        this.values = tasks.values();
    }

    private void rewrite() {
        boolean found = false;
        for (int i = 0; i < tasks.size(); i++) {
            Single sum = single(i, ADD);
            found |= sum != null && count(sum);
        }
        if (found) {
            share();
            for (int i = 0; i < tasks.size(); i++) {
                Single front = single(i, null);
                if (front != null) {
                    countBeforeExpanding(front);
                }
            }
            share();
        }
    }

    /** Returns a task that does one thing; {@link FrontIndexes} for null. Null if it does anything else. */
    private @Nullable Single single(int index, @Nullable Computation computation) {
        if (index < 0 || !(tasks.get(index) instanceof Task.Compute task) || task.stages().size() != 1) {
            return null;
        }
        Stage stage = task.stages().getFirst();
        Arg out = stage.onlyOutput();
        boolean does = computation == null
                ? stage.computation() instanceof FrontIndexes
                : computation.equals(stage.computation());
        return does && out != null && out.isAll(values) && stage.inputs().stream().allMatch(Objects::nonNull)
                ? new Single(index, task, stage, out)
                : null;
    }

    /** Returns the task that computes an operand for the given one alone; null if it does anything else. */
    private @Nullable Single before(Single reader, Arg operand, Computation computation) {
        int value = operand.value();
        if (value < 0 || !tasks.isTemporaryOfOne(value) || !tasks.readers(value).isOnly(reader.index())) {
            return null;
        }
        Single writer = single(tasks.writers(value).first(), computation);
        return writer != null && writer.out().equals(operand)
                && writer.task().placeRequest().equals(reader.task().placeRequest()) ? writer : null;
    }

    /** Replaces the four tasks of which the given one is the last; returns false if it is not. */
    private boolean count(Single sum) {
        Arg indices = sum.input(0);
        DType dtype = indices.spec().dtype();
        Single product = dtype == DType.INT64 || dtype == DType.INT32 ? before(sum, sum.input(1), MULTIPLY) : null;
        List<Long> lengths = product == null ? null : lengths(product.input(1), indices.spec().shape());
        if (product == null || lengths == null) {
            return false;
        }
        Single cast = before(product, product.input(0), new Copy(dtype));
        Single negative = cast == null ? null : before(cast, cast.input(0), LESS);
        if (cast == null || negative == null || !negative.input(0).equals(indices)
                || !isZero(negative.input(1)) || !isSame(indices, sum.out()) || !isSame(indices, product.out())
                || !isSame(indices, cast.out()) || !isUnchanged(indices, negative.index(), sum.index())) {
            return false;
        }
        List<Access> operations = new ArrayList<>();
        for (Single part : List.of(negative, cast, product, sum)) {
            operations.addAll(part.task().operations());
        }
        Stage stage = Stage.of(sum.stage().access(), new FrontIndexes(lengths), List.of(indices), sum.out());
        tasks.remove(negative.index());
        tasks.remove(cast.index());
        tasks.remove(product.index());
        tasks.put(sum.index(), sum.task().with(operations, List.of(stage)));
        return true;
    }

    private static boolean isSame(Arg indices, Arg other) {
        return indices.spec().shape().equals(other.spec().shape())
                && indices.spec().dtype() == other.spec().dtype();
    }

    /** Whether no task between two writes the memory of an operand. */
    private boolean isUnchanged(Arg arg, int from, int to) {
        return arg.source() instanceof Arg.Constant
                || (arg.value() >= 0 && !tasks.writers(arg.value()).isAnyIn(from, to));
    }

    private @Nullable Tensor constant(Arg arg) {
        Tensor constant = switch (arg.source()) {
            case Arg.Constant(Tensor tensor) -> tensor;
            case Arg.Value(int value) -> values.constant(value);
            case Arg.Temporary _,Arg.Key _ -> null;
        };
        return constant != null && arg.offset() == 0 && constant.spec().isRowMajor() && arg.spec().isRowMajor()
                && constant.shape().size() == arg.spec().shape().size() && constant.shape().size() <= MOST_LENGTHS
                        ? constant
                        : null;
    }

    private boolean isZero(Arg arg) {
        Tensor constant = constant(arg);
        return constant != null && constant.shape().size() == 1 && constant.toLongArray()[0] == 0;
    }

    /** Returns one length for all indices or for each place on the last dimension; null if they are not known. */
    private @Nullable List<Long> lengths(Arg arg, Shape indices) {
        Tensor constant = constant(arg);
        Shape shape = arg.spec().shape();
        boolean fits = constant != null && (shape.size() == 1
                || (shape.rank() > 0 && shape.rank() <= indices.rank() && shape.dim(-1) == shape.size()
                        && indices.dim(-1) == shape.size()));
        return constant == null || !fits ? null : Arrays.stream(constant.toLongArray()).boxed().toList();
    }

    /** Lets readers of indices that an earlier task has counted read them from there. */
    private void share() {
        Map<Key, Single> known = new HashMap<>();
        for (int i = 0; i < tasks.size(); i++) {
            Single front = single(i, null);
            if (front == null || !tasks.isTemporaryOfOne(front.out().value())) {
                continue;
            }
            Single first = known.get(Key.of(front));
            if (first == null || !isUnchanged(front.input(0), first.index(), i)
                    || !first.task().placeRequest().equals(front.task().placeRequest())
                    || !read(front.out().value(), first.out())) {
                known.put(Key.of(front), front);
            } else {
                tasks.remove(i);
            }
        }
    }

    /** Lets the readers of a value read another one; returns false if one of them is not known. */
    private boolean read(int value, Arg other) {
        TaskSet readers = tasks.readers(value);
        int[] all = readers.toArray();
        for (int reader : all) {
            if (!(tasks.get(reader) instanceof Task.Compute)) {
                return false;
            }
        }
        for (int reader : all) {
            Task.Compute task = tasks.compute(reader);
            tasks.put(reader, task.with(task.operations(),
                    task.stages().stream().map(stage -> reading(stage, value, other)).toList()));
        }
        return true;
    }

    private static Stage reading(Stage stage, int value, Arg other) {
        List<@Nullable Arg> inputs = new ArrayList<>();
        for (Arg arg : stage.inputs()) {
            inputs.add(arg == null || arg.value() != value ? arg : new Arg(other.source(), arg.offset(), arg.spec()));
        }
        return stage.with(inputs, stage.outputs());
    }

    /** If the indices are an expanded tensor, counts the indices of that tensor and expands them afterwards. */
    private void countBeforeExpanding(Single front) {
        if (!(front.stage().computation() instanceof FrontIndexes(List<Long> lengths)) || lengths.size() > 1) {
            return;
        }
        Single plain = before(front, front.input(0), Copy.PLAIN);
        Single copy = plain != null ? plain : before(front, front.input(0), new Copy(front.out().spec().dtype()));
        Arg few = copy == null ? null : withoutRepeats(copy.input(0), copy.out().spec());
        if (copy == null || few == null) {
            return;
        }
        TensorSpec counted = few.spec();
        Arg out = new Arg(copy.out().source(), 0, counted);
        Arg expanded = new Arg(out.source(), 0, copy.input(0).spec());
        values.spec(out.value(), counted);
        tasks.put(copy.index(), copy.task().with(front.task().operations(), List.of(Stage.of(front.stage().access(),
                Objects.requireNonNull(front.stage().computation()), List.of(few), out))));
        tasks.put(front.index(), front.task().with(copy.task().operations(),
                List.of(Stage.of(copy.stage().access(), Copy.PLAIN, List.of(expanded), front.out()))));
    }

    /** Returns an operand of a copy without the repeated elements; null if there are none, or if it is not dense. */
    private static @Nullable Arg withoutRepeats(Arg from, TensorSpec to) {
        if (!(from.spec().layout() instanceof Layout.Strided strided) || from.spec().dtype() != to.dtype()) {
            return null;
        }
        long[] strides = strided.strides();
        long[] dims = from.spec().shape().dims();
        for (int i = 0; i < dims.length; i++) {
            dims[i] = strides[i] == 0 ? 1 : dims[i];
        }
        TensorSpec few = TensorSpec.of(from.spec().dtype(), dims);
        long[] dense = few.strides();
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] != 1 && strides[i] != dense[i]) {
                return null;
            }
        }
        return few.shape().size() < to.shape().size() ? new Arg(from.source(), from.offset(), few) : null;
    }
}
