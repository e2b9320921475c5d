package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.TaskSet;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Unary;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets an elementwise operation that reads a value in another shape compute in the shape in which the value was
 * computed. Convolutions of lines are convolutions of images of one row, and many programs flatten the rows of a
 * matrix product: between them and the function that follows stands a reshape, which costs nothing, but the passes that
 * fuse two stages compare their shapes. The elements and their order stay the same, and so does each bit of the result.
 */
final class SharedShapes {
    /** This pass, as {@link PassPipeline} runs it. It is of use for those that fuse stages. */
    static final RewritePass PASS = new RewritePass("SHARED_SHAPES", _ -> true,
            (tasks, _) -> rewrite(tasks));

    private static final int MOST_OF_IMAGES = 5;

    private final TaskGraph tasks;
    private final ValueTable values;
    /** The values that stages in another shape compute, which passes may fuse with what is before them. */
    private final Set<Integer> changed = new HashSet<>();

    private SharedShapes(TaskGraph tasks) {
        this.tasks = tasks;
        this.values = tasks.values();
    }

    static void rewrite(TaskGraph tasks) {
        new SharedShapes(tasks).rewrite();
    }

    private void rewrite() {
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task && task.stages().size() == 1) {
                Reshaped reshaped = reshaped(task.stages().getFirst());
                Stage stage = reshaped == null ? null : inShapeOf(task.stages().getFirst(), reshaped);
                if (stage != null && reshaped != null) {
                    values.spec(reshaped.read().value(), reshaped.made().spec());
                    changed.add(Objects.requireNonNull(stage.outputs().getFirst()).value());
                    tasks.put(i, task.with(task.operations(), List.of(stage)));
                }
            }
        }
    }

    /** A value as a stage reads it, and as another one makes it. */
    private record Reshaped(Arg read, Arg made) {
    }

    /**
     * Returns an input that is read in another shape than that in which it is made, preferably the result of a product
     * or a convolution, or of what follows them; null if there is none, or if another one of these is read in the shape
     * in which it is made.
     */
    private @Nullable Reshaped reshaped(Stage stage) {
        Arg out = stage.onlyOutput();
        if (out == null || !out.isDense() || !isElementwise(stage.computation())) {
            return null;
        }
        Reshaped found = null;
        boolean kept = false;
        for (Arg arg : stage.inputs()) {
            Stage writer = arg == null || !arg.spec().shape().equals(out.spec().shape()) ? null : writer(arg);
            if (arg == null || writer == null) {
                continue;
            }
            Arg made = Objects.requireNonNull(writer.outputs().getFirst());
            if (arg.spec().equals(made.spec())) {
                kept = true;
            } else if (tasks.readers(arg.value()).size() == 1 && (isProduct(writer) || changed.contains(arg.value()))) {
                return new Reshaped(arg, made);
            } else {
                found = found == null ? new Reshaped(arg, made) : found;
            }
        }
        return kept ? null : found;
    }

    private static boolean isProduct(Stage writer) {
        return writer.computation() instanceof MatMul || Epilogue.isConvolution(writer.computation());
    }

    private static boolean isElementwise(@Nullable Computation computation) {
        return switch (computation) {
            case Unary _,Copy _ -> true;
            case Binary binary -> binary.postOps().isEmpty();
            case BatchNorm norm -> !norm.training();
            case null, default -> false;
        };
    }

    /**
     * Returns the stage that computes what an operand views as a whole, if tasks with kernels alone read it; otherwise
     * null.
     */
    private @Nullable Stage writer(Arg arg) {
        if (!arg.isAll(values) || !values.isTemporary(arg.value())) {
            return null;
        }
        TaskSet writers = tasks.writers(arg.value());
        if (writers.size() != 1 || !(tasks.get(writers.first()) instanceof Task.Compute task)
                || task.stages().isEmpty() || !areKernels(tasks.readers(arg.value()))) {
            return null;
        }
        Stage last = task.stages().getLast();
        Arg out = last.onlyOutput();
        return out != null && out.value() == arg.value() && out.isAll(values) ? last : null;
    }

    /** Interpreted operations and transfers read a value in the shape of the table. */
    private boolean areKernels(TaskSet readers) {
        for (int reader : readers.toArray()) {
            if (!(tasks.get(reader) instanceof Task.Compute)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the stage in the shape in which an input is made; null if another operand has none in it. */
    private @Nullable Stage inShapeOf(Stage stage, Reshaped input) {
        Shape from = input.read().spec().shape();
        Shape to = input.made().spec().shape();
        if (stage.computation() instanceof BatchNorm && !keepsChannels(from, to)) {
            return null;
        }
        List<@Nullable Arg> inputs = new ArrayList<>();
        for (int i = 0; i < stage.inputs().size(); i++) {
            Arg arg = stage.inputs().get(i);
            boolean parameter = stage.computation() instanceof BatchNorm && i > 0;
            Arg changed = arg == null || parameter ? arg : reshaped(arg, from, to);
            if (arg != null && changed == null) {
                return null;
            }
            inputs.add(changed);
        }
        List<@Nullable Arg> outputs = new ArrayList<>();
        for (Arg out : stage.outputs()) {
            outputs.add(out == null ? null : reshaped(out, from, to));
        }
        return stage.with(inputs, outputs);
    }

    /** Returns whether images keep their channels, and have no more dimensions than normalisations take. */
    private static boolean keepsChannels(Shape from, Shape to) {
        return from.rank() >= 2 && to.rank() >= 2 && to.rank() <= MOST_OF_IMAGES && from.dim(0) == to.dim(0)
                && from.dim(1) == to.dim(1);
    }

    private static @Nullable Arg reshaped(Arg arg, Shape from, Shape to) {
        if (!arg.spec().isRowMajor()) {
            return null;
        }
        long[] dims = reshaped(arg.spec().shape().dims(), from.dims(), to.dims());
        return dims == null ? null : new Arg(arg.source(), arg.offset(), TensorSpec.of(arg.spec().dtype(), dims));
    }

    /**
     * Returns the dimensions of an operand that broadcasts to {@code from}, after {@code from} has been reshaped to
     * {@code to}. Both are divided into the smallest groups of consecutive dimensions that have equally many elements.
     *
     * @return null if the operand has some of the dimensions of a group only
     */
    static long @Nullable [] reshaped(long[] operand, long[] from, long[] to) {
        long[] dims = new long[to.length];
        Arrays.fill(dims, 1);
        int missing = from.length - operand.length;
        int i = from.length;
        int j = to.length;
        while (i > 0 || j > 0) {
            int fromEnd = i;
            int toEnd = j;
            long left = i > 0 ? from[--i] : 1;
            long right = j > 0 ? to[--j] : 1;
            while (left != right) {
                if (left < right ? i == 0 : j == 0) {
                    return null;
                }
                if (left < right) {
                    left *= from[--i];
                } else {
                    right *= to[--j];
                }
            }
            long own = 1;
            for (int k = Math.max(i, missing); k < fromEnd; k++) {
                own *= operand[k - missing];
            }
            if (own == left) {
                System.arraycopy(to, j, dims, j, toEnd - j);
            } else if (own != 1) {
                return null;
            }
        }
        return operand.length == 0 ? new long[0] : dims;
    }
}
