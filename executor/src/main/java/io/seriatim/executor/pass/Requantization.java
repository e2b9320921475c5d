package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Quantize;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.PreparedKernels;
import io.seriatim.tensor.kernel.QuantizedOperands;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the result of an int8 product or convolution as int8 levels if only a quantization reads it, so that the
 * float32 numbers between the two products are not stored. An activation between them becomes a post-op, also one that
 * may lose NaN there: a level cannot express NaN.
 *
 * <p>
 * Before that, two consecutive factors of the sums, such as the scales of the operands and the factor of a folded
 * normalisation, are multiplied with each other, which costs an operation for each channel in place of one for each
 * element. Results differ by that rounding.
 */
final class Requantization {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.onHost(PassName.INTEGERS,
            (tasks, context) -> new Requantization(tasks, context.kernels()).rewrite());

    private static final PostOp FACTOR = new PostOp.Combine(Binary.Function.MULTIPLY);

    private final TaskGraph tasks;
    private final PreparedKernels kernels;

    private Requantization(TaskGraph tasks, PreparedKernels kernels) {
        this.tasks = tasks;
        this.kernels = kernels;
    }

    private void rewrite() {
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task && !task.stages().isEmpty()) {
                Task.Compute merged = merged(task);
                if (merged != null) {
                    tasks.put(i, merged);
                }
            }
        }
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task && !task.stages().isEmpty()
                    && task.stages().getLast().computation() instanceof Quantize quantize
                    && quantize.equals(new Quantize(Quantize.LARGEST, false))) {
                join(i, task);
            }
        }
    }

    /** Returns a task with one factor of its sums in place of two; null if there are not two. */
    private static Task.@Nullable Compute merged(Task.Compute task) {
        Stage product = task.stages().getLast();
        Arg out = product.outputs().isEmpty() ? null : product.outputs().getFirst();
        List<PostOp> postOps = postOps(product);
        if (postOps == null || out == null || postOps.size() < 2
                || !postOps.subList(0, 2).equals(List.of(FACTOR, FACTOR))) {
            return null;
        }
        int at = product.inputs().size() - (int) postOps.stream().filter(PostOp.Combine.class::isInstance).count();
        Arg one = product.inputs().get(at);
        Arg two = product.inputs().get(at + 1);
        if (one == null || two == null || !isVector(one) || !isVector(two)) {
            return null;
        }
        Arg larger = one.spec().shape().size() >= two.spec().shape().size() ? one : two;
        long size = larger.spec().shape().size();
        boolean alike = one.spec().shape().size() == 1 || two.spec().shape().size() == 1
                || channelsAt(one) == channelsAt(two);
        if (!alike) {
            return null;
        }
        Arg.Temporary both = new Arg.Temporary(task.temporaries().size());
        Stage factor = Stage.of(product.access(), Binary.of(Binary.Function.MULTIPLY), List.of(flat(one), flat(two)),
                new Arg(both, 0, TensorSpec.of(DType.FLOAT32, size)));
        List<@Nullable Arg> inputs = new ArrayList<>(product.inputs());
        inputs.remove(at + 1);
        inputs.set(at, new Arg(both, 0, larger.spec()));
        Computation computation = with(product, postOps.subList(1, postOps.size()));
        if (computation == null) {
            return null;
        }
        List<Stage> stages = new ArrayList<>(withoutLast(task));
        stages.add(factor);
        stages.add(Stage.of(product.access(), computation, inputs, out));
        List<TensorSpec> temporaries = new ArrayList<>(task.temporaries());
        temporaries.add(TensorSpec.of(DType.FLOAT32, size));
        return task.with(task.operations(), stages, temporaries);
    }

    /** Returns whether an operand has one element, or several along one dimension. */
    private static boolean isVector(Arg arg) {
        return arg.spec().dtype() == DType.FLOAT32 && arg.spec().isRowMajor()
                && Arrays.stream(arg.spec().shape().dims()).filter(dim -> dim != 1).count() <= 1;
    }

    /** Returns the dimension along which the elements of an operand lie, counted from the last one. */
    private static int channelsAt(Arg arg) {
        long[] dims = arg.spec().shape().dims();
        int at = dims.length - 1;
        while (dims[at] == 1) {
            at--;
        }
        return dims.length - at;
    }

    private static Arg flat(Arg arg) {
        return new Arg(arg.source(), arg.offset(), TensorSpec.of(DType.FLOAT32, arg.spec().shape().size()));
    }

    private void join(int index, Task.Compute task) {
        int before = onlyWriter(task, index);
        if (before < 0) {
            return;
        }
        List<Integer> removed = new ArrayList<>(List.of(before));
        List<PostOp> added = new ArrayList<>();
        Task.Compute activation = tasks.compute(before);
        if (activation.stages().size() == 1 && activation.stages().getFirst().computation() instanceof Unary unary) {
            added.add(new PostOp.Apply(unary.function(), unary.alpha(), unary.beta()));
            before = onlyWriter(activation, index);
            if (before < 0) {
                return;
            }
            removed.addFirst(before);
        }
        added.add(FACTOR);
        Task.Compute product = tasks.compute(before);
        Task.Compute quantization = task.withTemporariesFrom(product.temporaries().size());
        Stage first = product.stages().getLast();
        Stage joined = joined(first, quantization.stages().getLast(), added);
        if (joined == null || !Providers.haveTheSame(kernels, first, joined)) {
            return;
        }
        List<Stage> stages = new ArrayList<>(withoutLast(product));
        stages.addAll(withoutLast(quantization));
        stages.add(joined);
        List<TensorSpec> temporaries = new ArrayList<>(product.temporaries());
        temporaries.addAll(task.temporaries());
        List<Access> operations = new ArrayList<>();
        removed.forEach(each -> operations.addAll(tasks.compute(each).operations()));
        operations.addAll(task.operations());
        removed.forEach(tasks::remove);
        tasks.put(index, task.with(operations, stages, temporaries));
    }

    private static List<Stage> withoutLast(Task.Compute task) {
        return task.stages().subList(0, task.stages().size() - 1);
    }

    /** Returns a product that writes levels; null if that is impossible. */
    private static @Nullable Stage joined(Stage product, Stage quantization, List<PostOp> added) {
        Arg result = product.outputs().getFirst();
        Arg factor = quantization.inputs().get(1);
        Arg levels = quantization.outputs().getFirst();
        List<PostOp> postOps = postOps(product);
        if (postOps == null) {
            return null;
        }
        List<PostOp> all = new ArrayList<>(postOps);
        all.addAll(added);
        Computation whole = with(product, all);
        if (whole == null || result == null || factor == null || levels == null || !levels.isDense()
                || !factor.spec().isRowMajor() || factor.spec().shape().rank() > 1
                || !result.spec().shape().equals(levels.spec().shape())) {
            return null;
        }
        List<@Nullable Arg> inputs = new ArrayList<>(product.inputs());
        inputs.add(factor);
        return Stage.of(quantization.access(), whole, inputs, levels);
    }

    /**
     * Returns the task whose last stage writes the first operand of a task's last stage, if nothing else reads it and
     * the task can run at the position of a later one; otherwise {@link TaskSet#NONE}.
     */
    private int onlyWriter(Task.Compute reader, int index) {
        Arg read = reader.stages().getLast().inputs().getFirst();
        if (read == null || read.value() < 0 || !read.isWhole(tasks.values())
                || !tasks.isTemporaryOfOne(read.value()) || tasks.readers(read.value()).size() != 1
                || uses(reader.stages(), read.value()) != 1) {
            return TaskSet.NONE;
        }
        int writer = tasks.writers(read.value()).first();
        boolean fits = tasks.get(writer) instanceof Task.Compute task && task.writes().length == 1 && task.isPure()
                && reader.isPure() && uses(task.stages(), read.value()) == 1
                && task.stages().getLast().outputs().size() == 1
                && read.equals(task.stages().getLast().outputs().getFirst())
                && task.placeRequest().equals(reader.placeRequest())
                && Arrays.stream(task.reads()).noneMatch(value -> tasks.writers(value).isAnyIn(writer + 1, index));
        return fits ? writer : TaskSet.NONE;
    }

    private static long uses(List<Stage> stages, int value) {
        return stages.stream().flatMap(stage -> stage.args().stream())
                .filter(arg -> arg != null && arg.value() == value).count();
    }

    /** Returns the post-ops of a computation of int8 operands with a float32 result; null for other ones. */
    private static @Nullable List<PostOp> postOps(Stage stage) {
        Arg x = stage.inputs().isEmpty() ? null : stage.inputs().getFirst();
        Arg out = stage.onlyOutput();
        if (x == null || out == null || !QuantizedOperands.TYPES.contains(x.spec().dtype())
                || out.spec().dtype() != DType.FLOAT32) {
            return null;
        }
        return switch (stage.computation()) {
            case MatMul product -> product.postOps();
            case Convolution convolution -> convolution.postOps();
            case null, default -> null;
        };
    }

    private static @Nullable Computation with(Stage stage, List<PostOp> postOps) {
        return switch (stage.computation()) {
            case MatMul product -> new MatMul(product.transposeX(), product.transposeY(), product.bias(), postOps);
            case Convolution convolution ->
                new Convolution(convolution.window(), convolution.groups(), convolution.bias(), postOps);
            case null, default -> null;
        };
    }
}
