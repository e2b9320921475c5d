package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Adds the bias of a recurrent cell once for all steps. After {@link BatchTimeSteps} has batched the products of the
 * steps' inputs, each step adds its part of the result to the product of the state, and then the same bias: (xₜ·W +
 * hₜ·U) + b. This pass rewrites it to (xₜ·W + b) + hₜ·U, in which the batched product adds the bias. The order of
 * summation changes.
 *
 * <p>
 * It requires that only such steps read the product, and that neither the bias nor the other addend of a step is
 * written before the step's sum is complete.
 */
final class HoistBias {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.onHost(PassName.STACKING, (tasks, _) -> rewrite(tasks));

    private static final int FEWEST = 4;
    private static final Binary ADD = Binary.of(Binary.Function.ADD);

    private final ValueTable values;
    private final TaskGraph tasks;

    /**
     * The two additions of a step.
     *
     * @param first
     *            the task that adds a part of the product and another value
     * @param second
     *            the task that adds the bias to that sum
     * @param bias
     *            the bias
     */
    private record Sum(int first, int second, Arg bias) {
    }

    private HoistBias(TaskGraph tasks) {
        this.values = tasks.values();
        this.tasks = tasks;
    }

    private static void rewrite(TaskGraph tasks) {
        HoistBias bias = new HoistBias(tasks);
        for (int i = 0; i < tasks.size(); i++) {
            bias.add(i);
        }
    }

    /** Adds the bias to a batched product, if all its readers match. */
    private void add(int index) {
        Stage product = stage(index);
        Arg out = product == null || !(product.computation() instanceof MatMul plain) || plain.bias()
                || !plain.postOps().isEmpty()
                        ? null
                        : product.outputs().getFirst();
        if (out == null || out.spec().shape().rank() != 2 || out.spec().dtype() != DType.FLOAT32 || !out.isWhole(values)
                || !tasks.isTemporaryOfOne(out.value())) {
            return;
        }
        List<Sum> sums = new ArrayList<>();
        for (int reader : tasks.readers(out.value()).toArray()) {
            Sum sum = sum(reader, out);
            if (sum == null || !isOfPlace(reader, index) || !isOfPlace(sum.second(), index)) {
                return;
            }
            sums.add(sum);
        }
        if (sums.size() < FEWEST || sums.stream().map(Sum::bias).distinct().count() > 1
                || sums.stream().anyMatch(sum -> isWritten(sum.bias(), index, sum.second()))) {
            return;
        }
        tasks.put(index, biased(index, sums));
        sums.forEach(this::join);
    }

    /** Returns the stage of a pure task with one stage and one result; null for other tasks. */
    private @Nullable Stage stage(int index) {
        return tasks.get(index) instanceof Task.Compute task && task.stages().size() == 1 && task.writes().length == 1
                && task.isPure()
                        ? task.stages().getFirst()
                        : null;
    }

    private boolean isOfPlace(int task, int other) {
        return tasks.compute(task).placeRequest().equals(tasks.compute(other).placeRequest());
    }

    private @Nullable Sum sum(int reader, Arg product) {
        Stage first = stage(reader);
        Arg out = first == null || !ADD.equals(first.computation()) ? null : first.outputs().getFirst();
        if (first == null || out == null || !out.isWhole(values) || !tasks.isTemporaryOfOne(out.value())
                || tasks.readers(out.value()).size() != 1) {
            return null;
        }
        Arg other = other(first, product.value());
        int second = tasks.readers(out.value()).first();
        Stage last = second < reader ? null : stage(second);
        Arg bias = last == null || !ADD.equals(last.computation()) ? null : other(last, out.value());
        if (other == null || bias == null || last == null || !isRow(bias, out) || isWritten(other, reader, second)
                || !first.inputs().stream().allMatch(in -> in != null && in.spec().equals(out.spec()))
                || !out.spec().equals(Objects.requireNonNull(last.outputs().getFirst()).spec())
                || !areRows(first, product)) {
            return null;
        }
        return new Sum(reader, second, bias);
    }

    /** Returns whether an addition reads whole rows of a product. */
    private static boolean areRows(Stage addition, Arg product) {
        long columns = product.spec().shape().dim(1);
        return addition.inputs().stream().filter(in -> in != null && in.value() == product.value())
                .allMatch(in -> in.spec().shape().dim(-1) == columns
                        && in.offset() % (columns * product.spec().dtype().bytes()) == 0);
    }

    /** Returns the operand that an addition adds to a value; null if it is not a value, or the same value. */
    private @Nullable Arg other(Stage addition, int value) {
        Arg x = addition.inputs().getFirst();
        Arg y = addition.inputs().getLast();
        if (x == null || y == null || x.value() < 0 || y.value() < 0 || (x.value() == value) == (y.value() == value)) {
            return null;
        }
        return x.value() == value ? y : x;
    }

    private static boolean isRow(Arg bias, Arg sum) {
        Shape shape = bias.spec().shape();
        return shape.rank() > 0 && shape.rank() <= 2 && shape.size() == shape.dim(-1) && sum.spec().shape().rank() == 2
                && shape.dim(-1) == sum.spec().shape().dim(1) && bias.spec().isRowMajor()
                && bias.spec().dtype() == sum.spec().dtype();
    }

    /** Returns whether any task after one position, up to and including another, writes a value. */
    private boolean isWritten(Arg arg, int from, int to) {
        return tasks.writers(arg.value()).isAnyIn(from + 1, to);
    }

    private Task.Compute biased(int index, List<Sum> sums) {
        Task.Compute task = tasks.compute(index);
        List<Access> operations = new ArrayList<>(task.operations());
        sums.forEach(sum -> operations.addAll(tasks.compute(sum.second()).operations()));
        Stage stage = task.stages().getFirst();
        MatMul plain = (MatMul) Objects.requireNonNull(stage.computation());
        List<@Nullable Arg> inputs = new ArrayList<>(stage.inputs());
        inputs.add(sums.getFirst().bias());
        MatMul whole = new MatMul(plain.transposeX(), plain.transposeY(), true, List.of());
        return Task.Compute.ofStages(operations,
                List.of(Stage.of(stage.access(), whole, inputs, Objects.requireNonNull(stage.outputs().getFirst()))),
                List.of(),
                task.place());
    }

    /** Replaces the two additions of a step by one, at the position of the second. */
    private void join(Sum sum) {
        Task.Compute first = tasks.compute(sum.first());
        Task.Compute second = tasks.compute(sum.second());
        Stage last = second.stages().getFirst();
        List<Access> operations = new ArrayList<>(first.operations());
        operations.addAll(second.operations());
        Stage one = Stage.of(last.access(), ADD, first.stages().getFirst().inputs(),
                Objects.requireNonNull(last.outputs().getFirst()));
        tasks.remove(sum.first());
        tasks.put(sum.second(), Task.Compute.ofStages(operations, List.of(one), List.of(), second.place()));
    }
}
