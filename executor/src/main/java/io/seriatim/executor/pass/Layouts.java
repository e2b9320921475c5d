package io.seriatim.executor.pass;

import io.seriatim.device.Place;
import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.PackedWeights;
import io.seriatim.executor.ir.Stage;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.ir.TaskGraph;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.computation.network.ConvolutionGradInput;
import io.seriatim.tensor.computation.network.Recurrence;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.IntPredicate;

/**
 * Selects weights to be packed into the layout that a kernel prefers. Kernels of matrix products and convolutions
 * prefer blocked weights, as recurrences do; with other layouts they are slower, or convert the weights in every
 * call. Weights that a plan only reads are converted once and cached with the variable ({@link PackedWeights}), for
 * all plans and runs that need the same layout.
 *
 * <p>
 * Packed weights are a copy of the variable at the start of a run, and no task of the run may change the variable.
 * Values that a task writes, that are fed, or whose memory another value reuses are therefore not packed. Each run
 * checks at its start whether the copy is up to date. If that is unknown, the run uses the variable itself with the
 * stage's original kernel. A packed convolution computes the same bits without the reorder. A product with another
 * layout, such as a convolution to a few pixels, may sum in another order.
 */
public final class Layouts {
    /** The minimum number of elements to pack. Smaller matrices fit into the first-level cache in any layout. */
    static final long LEAST_MATRIX = 8192;
    private static final int WEIGHTS = 1;

    /**
     * An input of a stage that is packed if possible.
     *
     * @param task
     *            the index of the task
     * @param stage
     *            the index of the stage in the task
     * @param input
     *            the index of the input
     * @param source
     *            the input as it is packed, which may be transposed
     * @param wanted
     *            the packed layout
     * @param kernel
     *            the kernel that reads all packed inputs of the stage
     * @param packing
     *            the kernel that packs it
     */
    public record Packed(int task, int stage, int input, TensorSpec source, TensorSpec wanted, Kernel kernel,
            Kernel packing) {
    }

    private final TaskGraph tasks;
    private final ValueTable values;
    private final PreparedKernels kernels;
    private final IntPredicate isPacked;

    Layouts(TaskGraph tasks, PreparedKernels kernels) {
        this.tasks = tasks;
        this.values = tasks.values();
        this.kernels = kernels;
        this.isPacked = this::isKept;
    }

    /**
     * Selects weights among some values only.
     *
     * @param isPacked
     *            the values
     */
    Layouts(TaskGraph tasks, PreparedKernels kernels, IntPredicate isPacked) {
        this.tasks = tasks;
        this.values = tasks.values();
        this.kernels = kernels;
        this.isPacked = isPacked;
    }

    public static List<Packed> of(TaskGraph tasks, PreparedKernels kernels) {
        Layouts layouts = new Layouts(tasks, kernels);
        List<Packed> all = new ArrayList<>();
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task && task.place().isHost()) {
                for (int j = 0; j < task.stages().size(); j++) {
                    all.addAll(layouts.packed(i, j, task.stages().get(j)));
                }
            }
        }
        return List.copyOf(all);
    }

    List<Packed> packed(int task, int at, Stage stage) {
        Computation computation = stage.computation();
        Kernel plain = stage.kernel();
        if (computation == null || plain == null) {
            return List.of();
        }
        TensorSpec[] specs = stage.specs();
        List<Integer> inputs = new ArrayList<>();
        for (int i = 0; i < stage.inputs().size(); i++) {
            Arg weights = stage.inputs().get(i);
            if (weights == null || !isWeights(computation, i) || !pays(computation, weights.spec())
                    || !isKept(weights)) {
                continue;
            }
            TensorSpec wanted = plain.preferred(i, weights.spec());
            if (!wanted.equals(weights.spec()) && wanted.layout() instanceof Layout.Opaque) {
                specs[i] = wanted;
                inputs.add(i);
            }
        }
        Kernel kernel = inputs.isEmpty() ? null : kernels.find(ofPacked(computation), Place.CPU, specs);
        if (kernel == null || !kernel.provider().equals(plain.provider())) {
            return List.of();
        }
        List<Packed> all = new ArrayList<>();
        for (int input : inputs) {
            TensorSpec wanted = specs[input];
            TensorSpec source = source(computation, Objects.requireNonNull(stage.inputs().get(input)).spec());
            TensorSpec target = new TensorSpec(wanted.dtype(), source.shape(), wanted.layout());
            Kernel packing = kernels.find(Copy.PLAIN, Place.CPU, source, target);
            if (packing == null) {
                return List.of();
            }
            all.add(new Packed(task, at, input, source, wanted, kernel, packing));
        }
        return all;
    }

    private static boolean isWeights(Computation computation, int input) {
        return computation instanceof Recurrence recurrence ? recurrence.isWeights(input) : input == WEIGHTS;
    }

    /** Returns the computation that reads the packed weights: they have been transposed by then. */
    static Computation ofPacked(Computation computation) {
        return computation instanceof MatMul product && product.transposeY()
                ? new MatMul(product.transposeX(), false, product.bias(), product.postOps())
                : computation;
    }

    /**
     * Returns the weights as they are packed: those of a recurrence, which multiply its states, those of a product
     * that reads them so, and those of a transposed convolution are transposed. Groups of convolutions are a dimension
     * of their own.
     */
    private static TensorSpec source(Computation computation, TensorSpec weights) {
        if (computation instanceof ConvolutionGradInput transposed) {
            return ConvolutionGradInput.packedWeights(weights, transposed.groups());
        }
        if (computation instanceof Convolution convolution) {
            return Convolution.packedWeights(weights, convolution.groups());
        }
        if (!(computation instanceof Recurrence || (computation instanceof MatMul product && product.transposeY()))) {
            return weights;
        }
        long[] strides = weights.strides();
        return new TensorSpec(weights.dtype(), Shape.of(weights.shape().dim(1), weights.shape().dim(0)),
                Layout.strided(strides[1], strides[0]));
    }

    private static boolean pays(Computation computation, TensorSpec weights) {
        // Each step of a recurrence reads the weights, so that small ones pay too.
        return Epilogue.isConvolution(computation) || computation instanceof Recurrence
                || (computation instanceof MatMul && weights.shape().size() >= LEAST_MATRIX);
    }

    private boolean isKept(Arg arg) {
        int value = arg.value();
        return value >= 0 && isPacked.test(value) && values.spec(value) != null;
    }

    /** Returns whether a value is a persistable variable in host memory that no task writes. */
    boolean isKept(int value) {
        return values.memory(value) == value && tasks.writers(value).isEmpty() && values.isParameter(value)
                && values.origin(value) == ValueNumbering.Origin.OUTSIDE && values.constant(value) == null
                && Objects.requireNonNullElse(values.place(value), Place.CPU).isHost();
    }

    /** Returns the memory of the scope that tasks write; packed copies of it become stale. */
    public static int[] written(List<Task> tasks, ValueTable values) {
        return tasks.stream().flatMapToInt(task -> Arrays.stream(task.writes())).map(values::memory)
                .filter(values::isInScope).distinct().toArray();
    }
}
