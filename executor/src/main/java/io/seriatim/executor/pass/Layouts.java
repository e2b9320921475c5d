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
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.Convolution;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.NoKernelException;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Weights in the layout that a kernel wants. Kernels of products and convolutions read weights in blocks; given others,
 * they read them slowly, or bring them into blocks in every call. Weights that a plan only reads are brought there once
 * and kept beside the variable ({@link PackedWeights}), for all plans and runs that want the same.
 *
 * <p>
 * It is right because packed weights are a copy of the variable as it is when a run begins, and no task of the run
 * changes it: a value of the scope that a task writes, that is fed, or whose memory another value takes over, is left
 * alone. Whether the copy is still what the variable holds is asked at the beginning of each run; if that cannot be
 * known, the run works on the variable itself, with the kernel that the stage has anyway. A convolution does what it
 * did, one reorder less, and gives the same bits. A product of other layouts, such as a convolution to a few pixels,
 * may add in another order.
 */
public final class Layouts {
    /** Smaller matrices are read from the first cache however they lie. */
    static final long LEAST_MATRIX = 8192;
    private static final int WEIGHTS = 1;

    /**
     * An input of a stage that may come packed.
     *
     * @param task
     *            the task's index
     * @param stage
     *            the stage's index in the task
     * @param input
     *            the input's index
     * @param wanted
     *            how it lies when it is packed
     * @param kernel
     *            works on what is packed
     * @param packing
     *            packs
     */
    public record Packed(int task, int stage, int input, TensorSpec wanted, Kernel kernel, Kernel packing) {
    }

    private final TaskGraph tasks;
    private final ValueTable values;
    private final PreparedKernels kernels;

    Layouts(TaskGraph tasks, PreparedKernels kernels) {
        this.tasks = tasks;
        this.values = tasks.values();
        this.kernels = kernels;
    }

    public static List<Packed> of(TaskGraph tasks, PreparedKernels kernels) {
        Layouts layouts = new Layouts(tasks, kernels);
        List<Packed> all = new ArrayList<>();
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i) instanceof Task.Compute task && task.place().isHost()) {
                for (int j = 0; j < task.stages().size(); j++) {
                    Packed packed = layouts.packed(i, j, task.stages().get(j));
                    if (packed != null) {
                        all.add(packed);
                    }
                }
            }
        }
        return List.copyOf(all);
    }

    private @Nullable Packed packed(int task, int at, Stage stage) {
        Computation computation = stage.computation();
        Kernel plain = stage.kernel();
        Arg weights = stage.inputs().size() > WEIGHTS ? stage.inputs().get(WEIGHTS) : null;
        if (computation == null || plain == null || weights == null || !pays(computation, weights.spec())
                || !isKept(weights)) {
            return null;
        }
        TensorSpec wanted = plain.preferred(WEIGHTS, weights.spec());
        if (wanted.equals(weights.spec()) || !(wanted.layout() instanceof Layout.Opaque)) {
            return null;
        }
        TensorSpec[] specs = stage.specs();
        specs[WEIGHTS] = wanted;
        try {
            Kernel kernel = kernels.get(computation, Place.CPU, specs);
            return kernel.provider().equals(plain.provider())
                    ? new Packed(task, at, WEIGHTS, wanted, kernel,
                            kernels.get(Copy.PLAIN, Place.CPU, weights.spec(), wanted))
                    : null;
        } catch (NoKernelException _) {
            return null;
        }
    }

    private static boolean pays(Computation computation, TensorSpec weights) {
        return computation instanceof Convolution
                || (computation instanceof MatMul && weights.shape().size() >= LEAST_MATRIX);
    }

    private boolean isKept(Arg arg) {
        int value = arg.value();
        return value >= 0 && isKept(value) && values.spec(value) != null;
    }

    /** Whether this is a variable of the host's that outlives runs and that no task writes. */
    boolean isKept(int value) {
        return values.memory(value) == value && tasks.writers(value).isEmpty() && values.isPersistable(value)
                && values.origin(value) == ValueNumbering.Origin.OUTSIDE && values.constant(value) == null
                && Objects.requireNonNullElse(values.place(value), Place.CPU).isHost();
    }

    /** The memory of a scope's that tasks write: what was made of it is then stale. */
    public static int[] written(List<Task> tasks, ValueTable values) {
        return tasks.stream().flatMapToInt(task -> Arrays.stream(task.writes())).map(values::memory)
                .filter(values::isInScope).distinct().toArray();
    }
}
