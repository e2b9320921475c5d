package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.Step;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.PostOp;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormFactors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Folds batch normalisations with given statistics into the preceding convolution. For each channel, they are a factor
 * and a shift, which the convolution's kernel applies before it writes its result. In each run, a small task before the
 * normalisation computes both from scale, bias, mean and variance, so the plan stays correct when these variables
 * change.
 *
 * <p>
 * {@link Fusion} decides whether the two tasks can be fused; unused factors are then not computed. A normalisation that
 * does not follow a convolution becomes a product and a sum, which join a chain with the functions around it. (x −
 * mean) · factor + bias and x · factor + (bias − mean · factor) differ by rounding.
 */
final class Folding implements Fusion.Rule {
    private final TaskGraph tasks;
    private final ValueTable values;
    private final Map<Integer, Factors> factors = new HashMap<>();

    /** The values of factor and shift for the normalisation of a value. */
    private record Factors(int factor, int shift) {
    }

    Folding(TaskGraph tasks) {
        this.tasks = tasks;
        this.values = tasks.values();
    }

    /** Inserts a task before each such normalisation that computes its factors. */
    void addFactors() {
        List<Task> present = tasks.tasks();
        List<Task> all = new ArrayList<>(present.size());
        for (Task task : present) {
            if (task instanceof Task.Compute compute && !compute.stages().isEmpty()) {
                Stage first = compute.stages().getFirst();
                if (first.computation() instanceof BatchNorm norm && !norm.training() && isNormalised(first)) {
                    all.add(factors(norm, first, compute));
                    // Unless the task stands for other results too, such as statistics that stay as they are.
                    if (compute.stages().size() == 1 && compute.writes().length == 1 && !isOfConvolution(first)) {
                        all.addAll(scaled(first, compute));
                        continue;
                    }
                }
            }
            all.add(task);
        }
        if (!factors.isEmpty()) {
            tasks.replaceAll(all);
            // Of a product whose rows were flattened, say.
            SharedShapes.rewrite(tasks);
        }
    }

    private boolean isNormalised(Stage stage) {
        Arg x = stage.inputs().getFirst();
        return x != null && (x.isWhole(values) || x.isAll(values)) && x.spec().dtype() == DType.FLOAT32
                && stage.inputs().stream().skip(1)
                        .allMatch(arg -> arg != null && !(arg.source() instanceof Arg.Temporary)
                                && arg.spec().isRowMajor());
    }

    /** Returns whether the normalisation is the only reader of a convolution's result. */
    private boolean isOfConvolution(Stage stage) {
        int x = Objects.requireNonNull(stage.inputs().getFirst()).value();
        TaskSet writers = tasks.writers(x);
        return tasks.readers(x).size() == 1 && writers.size() == 1
                && tasks.get(writers.first()) instanceof Task.Compute writer && !writer.stages().isEmpty()
                && Epilogue.isConvolution(writer.stages().getLast().computation());
    }

    /** Returns a product and a sum in place of a normalisation, which become part of a chain with what follows. */
    private List<Task> scaled(Stage stage, Task.Compute task) {
        Arg x = Objects.requireNonNull(stage.inputs().getFirst());
        Arg out = Objects.requireNonNull(stage.outputs().getFirst());
        Factors made = Objects.requireNonNull(factors.get(x.value()));
        Arg product = new Arg(new Arg.Value(values.add(values.name(x.value()) + "_scaled", x.spec().rowMajor())), 0,
                x.spec().rowMajor());
        Shape images = x.spec().shape();
        return List.of(
                elementwise(stage, task, Binary.Function.MULTIPLY, x, perChannel(made.factor(), images), product),
                elementwise(stage, task, Binary.Function.ADD, product, perChannel(made.shift(), images), out));
    }

    private static Task elementwise(Stage stage, Task.Compute task, Binary.Function function, Arg one, Arg other,
            Arg out) {
        return Task.Compute.ofStages(task.operations(),
                List.of(Stage.of(stage.access(), Binary.of(function), List.of(one, other), out)), List.of(),
                task.place());
    }

    private Task factors(BatchNorm norm, Stage stage, Task.Compute task) {
        List<@Nullable Arg> inputs = stage.inputs().subList(1, 5);
        Arg x = Objects.requireNonNull(stage.inputs().getFirst());
        TensorSpec channels = TensorSpec.of(DType.FLOAT32, x.spec().shape().dim(1));
        String name = values.name(x.value());
        Factors made = new Factors(values.add(name + "_factor", channels), values.add(name + "_shift", channels));
        factors.put(x.value(), made);
        Stage making = new Stage(stage.access(), new Step.Work.Compute(new BatchNormFactors(norm.epsilon())), inputs,
                List.of(new Arg(new Arg.Value(made.factor()), 0, channels),
                        new Arg(new Arg.Value(made.shift()), 0, channels)),
                null);
        return Task.Compute.ofStages(task.operations(), List.of(making), List.of(), task.place());
    }

    @Override
    public @Nullable Stage joined(Stage first, Stage second, int input) {
        List<PostOp> done = Epilogue.isConvolution(first.computation())
                ? Epilogue.postOps(first.computation())
                : null;
        if (input != 0 || !(second.computation() instanceof BatchNorm) || done == null
                || done.size() + 2 > Epilogue.MOST_POST_OPS
                || !done.stream().allMatch(PostOp.Combine.class::isInstance)) {
            return null;
        }
        Arg result = first.outputs().getFirst();
        Arg out = second.outputs().getFirst();
        Factors made = result == null ? null : factors.get(result.value());
        if (made == null || out == null || !out.isDense() || !out.spec().equals(result.spec())) {
            return null;
        }
        List<@Nullable Arg> inputs = new ArrayList<>(first.inputs());
        inputs.add(perChannel(made.factor(), out.spec().shape()));
        inputs.add(perChannel(made.shift(), out.spec().shape()));
        List<PostOp> postOps = new ArrayList<>(done);
        postOps.add(new PostOp.Combine(Binary.Function.MULTIPLY));
        postOps.add(new PostOp.Combine(Binary.Function.ADD));
        return Stage.of(second.access(), Epilogue.with(first.computation(), postOps), inputs, out);
    }

    private static Arg perChannel(int value, Shape images) {
        long[] dims = new long[images.rank() - 1];
        Arrays.fill(dims, 1);
        dims[0] = images.dim(1);
        return new Arg(new Arg.Value(value), 0, TensorSpec.of(DType.FLOAT32, dims));
    }

    /** Removes the tasks whose factors no convolution uses. */
    void removeUnused() {
        for (Factors made : factors.values()) {
            if (tasks.readers(made.factor()).isEmpty()) {
                tasks.remove(tasks.writers(made.factor()).first());
            }
        }
    }
}
