package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PassName;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Turns a factor of an operand of matrix products, such as that of the queries in attention, into a factor of the
 * products. The scaled operand is then not written to memory.
 *
 * <p>
 * It requires that only products read the scaled value, each once, and that no task overwrites the original before the
 * last of them. If the factor is a power of two, results are the same bit for bit; otherwise they differ by rounding: α
 * · Σ x · y instead of Σ (α · x) · y.
 */
final class ScaledProducts {
    /** This pass, as {@link PassPipeline} runs it. */
    static final RewritePass PASS = RewritePass.of(PassName.EPILOGUES, ScaledProducts::rewrite);

    private final ValueTable values;
    private final PreparedKernels kernels;
    private final TaskGraph tasks;

    private ScaledProducts(TaskGraph tasks, PreparedKernels kernels) {
        this.values = tasks.values();
        this.kernels = kernels;
        this.tasks = tasks;
    }

    private static void rewrite(TaskGraph tasks, PassContext context) {
        ScaledProducts products = new ScaledProducts(tasks, context.kernels());
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute compute && compute.stages().size() == 1) {
                products.scale(i, compute.stages().getFirst());
            }
        }
    }

    private void scale(int index, Stage stage) {
        Arg in = stage.inputs().isEmpty() ? null : stage.inputs().getFirst();
        Arg out = stage.onlyOutput();
        if (!(stage.computation() instanceof Unary(Unary.Function function, float alpha, float beta))
                || function != Unary.Function.LINEAR
                || beta != 0 || in == null
                || in.value() < 0
                || out == null || !out.isWhole(values) || !in.spec().equals(out.spec())
                || !in.spec().dtype().isFloating()
                || !tasks.isTemporaryOfOne(out.value())
                || tasks.readers(out.value()).isEmpty()) {
            return;
        }
        PostOp factor = new PostOp.Apply(function, alpha, beta);
        TaskSet writers = tasks.writers(in.value());
        int[] readers = tasks.readers(out.value()).toArray();
        List<Task.Compute> changed = new ArrayList<>(readers.length);
        for (int reader : readers) {
            Task.Compute product = writers.isAnyIn(index, reader) || !isAtPlaceOf(index, reader)
                    ? null
                    : scaled(tasks.get(reader), out.value(), in, factor);
            if (product == null) {
                return;
            }
            changed.add(product);
        }
        for (int i = 0; i < readers.length; i++) {
            tasks.put(readers[i], changed.get(i));
        }
        tasks.remove(index);
    }

    /** Returns whether a task is a computation at the place that another one requests. */
    private boolean isAtPlaceOf(int index, int reader) {
        return tasks.get(reader) instanceof Task.Compute compute
                && compute.placeRequest().equals(tasks.compute(index).placeRequest());
    }

    /**
     * Returns the task with the original in place of the scaled value; null if anything but a product reads that value.
     */
    private Task.@Nullable Compute scaled(@Nullable Task task, int value, Arg original, PostOp factor) {
        if (!(task instanceof Task.Compute compute) || compute.stages().size() > Task.MOST_STAGES) {
            return null;
        }
        List<Stage> stages = new ArrayList<>(compute.stages().size());
        for (Stage stage : compute.stages()) {
            long reads = stage.inputs().stream().filter(arg -> arg != null && arg.value() == value).count();
            Stage scaled = reads == 0 ? stage : reads == 1 ? scaled(stage, value, original, factor) : null;
            if (scaled == null) {
                return null;
            }
            stages.add(scaled);
        }
        return compute.with(compute.operations(), stages);
    }

    private @Nullable Stage scaled(Stage stage, int value, Arg original, PostOp factor) {
        if (!(stage.computation() instanceof MatMul product) || product.bias()
                || product.postOps().size() >= Epilogue.MOST_POST_OPS) {
            return null;
        }
        List<@Nullable Arg> inputs = new ArrayList<>(stage.inputs());
        for (int i = 0; i < inputs.size(); i++) {
            Arg arg = inputs.get(i);
            if (arg != null && arg.value() == value) {
                if (i > 1) {
                    return null;
                }
                inputs.set(i, new Arg(original.source(), original.offset() + arg.offset(), arg.spec()));
            }
        }
        List<PostOp> postOps = new ArrayList<>(product.postOps());
        postOps.addFirst(factor);
        Computation whole = new MatMul(product.transposeX(), product.transposeY(), false, postOps);
        Stage scaled = Stage.of(stage.access(), whole, inputs, Objects.requireNonNull(stage.outputs().getFirst()));
        return Providers.haveTheSame(kernels, stage, scaled) ? scaled : null;
    }
}
