package io.seriatim.graph;

import io.seriatim.device.Devices;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Copy;
import io.seriatim.tensor.kernel.Fill;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The variables of a run, by name: tensors, selected rows, lists of tensors, and the environments of a loop's steps. */
final class Environment {
    private final @Nullable Environment parent;
    private final Map<String, Object> values = new HashMap<>();

    Environment(@Nullable Environment parent) {
        this.parent = parent;
    }

    /** A list of tensors that grows. */
    record TensorList(List<@Nullable Tensor> tensors) {
        TensorList() {
            this(new ArrayList<>());
        }
    }

    /** The environments of the steps of a loop or branch, kept for its gradient. */
    record Steps(List<Environment> environments) {
        Steps() {
            this(new ArrayList<>());
        }
    }

    @Nullable
    Object find(String name) {
        for (Environment environment = this; environment != null; environment = environment.parent) {
            Object value = environment.values.get(name);
            if (value != null) {
                return value;
            }
        }
        return null;
    }

    @Nullable
    Object here(String name) {
        return values.get(name);
    }

    Object get(String name) {
        Object value = find(name);
        if (value == null) {
            throw new IllegalArgumentException("Variable '" + name + "' has no value: feed it, or run the startup program first");
        }
        return value;
    }

    Tensor tensor(String name) {
        Object value = get(name);
        if (value instanceof Tensor tensor) {
            return tensor;
        }
        throw new IllegalArgumentException("Variable '" + name + "' holds no tensor, but a " + value.getClass().getSimpleName());
    }

    /** A tensor, or the whole of selected rows. */
    Tensor dense(String name) {
        Object value = get(name);
        return value instanceof SelectedRows rows ? whole(rows) : tensor(name);
    }

    private static Tensor whole(SelectedRows rows) {
        DType dtype = rows.values().dtype();
        Tensor whole = Tensor.allocate(dtype, rows.shape().dims());
        Fill zero = new Fill(0);
        try (var kernel = Kernels.portable().prepare(zero, whole.place(), whole.spec())) {
            kernel.run(new Tensor[]{whole}, KernelContext.current());
        }
        long width = rows.height() == 0 ? 0 : whole.shape().size() / rows.height();
        Tensor flat = whole.reshape(rows.height(), width);
        double[] values = rows.values().toDoubleArray();
        long[] indexes = rows.rows().toLongArray();
        double[] sums = new double[Math.toIntExact(whole.shape().size())];
        for (int i = 0; i < indexes.length; i++) {
            for (int j = 0; j < width; j++) {
                sums[Math.toIntExact(indexes[i] * width + j)] += values[Math.toIntExact(i * width + j)];
            }
        }
        return Tensor.of(flat.dtype(), sums, whole.shape().dims());
    }

    /** A row-major copy in memory of its own. */
    static Tensor copy(Tensor tensor) {
        Tensor copy = Tensor.allocate(tensor.dtype(), tensor.shape().dims());
        run(Copy.PLAIN, tensor, copy);
        return copy;
    }

    private static void run(Computation computation, Tensor... arguments) {
        TensorSpec[] specs = Arrays.stream(arguments).map(Tensor::spec).toArray(TensorSpec[]::new);
        try (Kernel kernel = Kernels.portable().prepare(computation, Devices.system().host().place(), specs)) {
            kernel.run(arguments, KernelContext.current());
        }
    }

    /** Sets it where it is, or here. */
    void set(String name, Object value) {
        for (Environment environment = this; environment != null; environment = environment.parent) {
            if (environment.values.containsKey(name)) {
                environment.values.put(name, value);
                return;
            }
        }
        values.put(name, value);
    }

    void setHere(String name, Object value) {
        values.put(name, value);
    }

    @Nullable
    Environment parent() {
        return parent;
    }

    List<String> names() {
        return List.copyOf(new TreeMap<>(values).keySet());
    }

    static TensorSpec spec(Object value) {
        return value instanceof SelectedRows rows ? rows.values().spec() : ((Tensor) value).spec();
    }
}
