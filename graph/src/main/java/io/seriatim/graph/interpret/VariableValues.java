package io.seriatim.graph.interpret;

import io.seriatim.device.Devices;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.SelectedRows;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Concatenation;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.Kernels;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Operations of control flow on the values of variables: zeros, sums, copies, parts of tensors. All values lie in host
 * memory.
 */
final class VariableValues {
    private static final Kernels PORTABLE = Kernels.portable();

    private VariableValues() {
    }

    /** The gradient of a value without influence: zeros, no rows, or a list without tensors. */
    static Object zerosLike(Object value) {
        return switch (value) {
            case Tensor tensor -> zeros(tensor.dtype(), tensor.shape().dims());
            case SelectedRows rows -> new SelectedRows(Tensor.allocate(DType.INT64, 0),
                    Tensor.allocate(rows.values().dtype(), rows.values().shape().with(0, 0).dims()), rows.height());
            case TensorList list -> {
                TensorList zeros = new TensorList();
                list.tensors().forEach(_ -> zeros.tensors().add(null));
                yield zeros;
            }
            default ->
                throw new IllegalArgumentException("There is no gradient of a " + value.getClass().getSimpleName());
        };
    }

    static Tensor zeros(DType dtype, long... dims) {
        Tensor zeros = Tensor.allocate(dtype, dims);
        run(new Fill(0), zeros);
        return zeros;
    }

    /** The sum of two gradients of one variable; null stands for zero. */
    static Object sum(@Nullable Object a, Object b) {
        if (a == null) {
            return b;
        }
        if (a instanceof SelectedRows x && b instanceof SelectedRows y) {
            return new SelectedRows(concatenated(0, List.of(x.rows(), y.rows())),
                    concatenated(0, List.of(x.values(), y.values())),
                    x.height());
        }
        if (a instanceof TensorList x && b instanceof TensorList y) {
            return sum(x, y);
        }
        return sum(dense(a), dense(b));
    }

    private static Tensor sum(Tensor a, Tensor b) {
        if (!a.shape().equals(b.shape()) || a.dtype() != b.dtype()) {
            throw new IllegalArgumentException(
                    "Gradients of one variable must have one shape and type, but are " + a.spec() + " and "
                            + b.spec());
        }
        Tensor sum = Tensor.allocate(a.dtype(), a.shape().dims());
        run(Binary.of(Binary.Function.ADD), a, b, sum);
        return sum;
    }

    private static TensorList sum(TensorList a, TensorList b) {
        TensorList sum = new TensorList(new ArrayList<>(a.tensors()));
        for (int i = 0; i < b.tensors().size(); i++) {
            Tensor tensor = b.tensors().get(i);
            if (tensor != null) {
                Tensor before = i < sum.tensors().size() ? sum.tensors().get(i) : null;
                put(sum, i, before == null ? tensor : sum(before, tensor));
            }
        }
        return sum;
    }

    /** Sets an element of a list, which grows to hold it. */
    static void put(TensorList list, int index, @Nullable Tensor tensor) {
        if (index >= list.tensors().size()) {
            WorkingMemory.tensors(index + 1L);
        }
        while (list.tensors().size() <= index) {
            list.tensors().add(null);
        }
        list.tensors().set(index, tensor);
    }

    private static Tensor dense(Object value) {
        return value instanceof SelectedRows rows ? rows.whole() : (Tensor) value;
    }

    /** A copy that later changes of the value do not affect. */
    static Object copy(Object value) {
        return switch (value) {
            case Tensor tensor -> copy(tensor);
            case SelectedRows rows -> new SelectedRows(copy(rows.rows()), copy(rows.values()), rows.height());
            case TensorList list -> new TensorList(new ArrayList<>(list.tensors()));
            default -> value;
        };
    }

    /** A row-major copy. */
    static Tensor copy(Tensor tensor) {
        Tensor copy = Tensor.allocate(tensor.dtype(), tensor.shape().dims());
        copy(tensor, copy);
        return copy;
    }

    /** Between tensors of one type and shape. */
    static void copy(Tensor from, Tensor to) {
        if (from.spec().isRowMajor() && to.spec().isRowMajor()) {
            MemorySegment.copy(from.memory(), from.offset(), to.memory(), to.offset(), from.spec().bytes());
        } else {
            run(Copy.PLAIN, from, to);
        }
    }

    static Tensor cast(Tensor tensor, DType dtype) {
        Tensor cast = Tensor.allocate(dtype, tensor.shape().dims());
        run(new Copy(dtype), tensor, cast);
        return cast;
    }

    static Tensor concatenated(int axis, List<Tensor> parts) {
        Tensor whole = Tensor.allocate(Devices.system().host(),
                Concatenation.infer(axis, parts.stream().map(Tensor::spec).toList()));
        long from = 0;
        for (Tensor part : parts) {
            long to = from + part.shape().dim(axis);
            run(Copy.PLAIN, part, whole.slice(axis, from, to));
            from = to;
        }
        return whole;
    }

    /** Tensors of one shape along a new axis. */
    static Tensor stacked(int axis, List<Tensor> parts) {
        TensorSpec spec = parts.getFirst().spec();
        if (!spec.isRowMajor() || !parts.stream().allMatch(part -> part.spec().equals(spec))) {
            return concatenated(axis,
                    parts.stream().map(part -> part.reshape(inserted(part.shape().dims(), axis, 1))).toList());
        }
        long[] dims = spec.shape().dims();
        Tensor whole = Tensor.allocate(spec.dtype(), inserted(dims, axis, parts.size()));
        long blocks = Arrays.stream(dims, 0, axis).reduce(1, (a, b) -> a * b);
        interleave(parts, spec.bytes() == 0 ? 0 : blocks, whole);
        return whole;
    }

    private static long[] inserted(long[] dims, int axis, long size) {
        long[] more = Arrays.copyOf(dims, dims.length + 1);
        System.arraycopy(dims, axis, more, axis + 1, dims.length - axis);
        more[axis] = size;
        return more;
    }

    /** Writes the first block of each part, then the second of each, and so on. */
    private static void interleave(List<Tensor> parts, long blocks, Tensor whole) {
        MemorySegment to = whole.declared().memory();
        try {
            long at = whole.offset();
            for (long block = 0; block < blocks; block++) {
                for (int i = 0; i < parts.size();) {
                    Tensor part = parts.get(i);
                    long bytes = part.spec().bytes() / blocks;
                    int next = blocks == 1 ? following(parts, i) : i + 1;
                    MemorySegment.copy(part.memory(), part.offset() + block * bytes, to, at, bytes * (next - i));
                    at += bytes * (next - i);
                    i = next;
                }
            }
        } finally {
            Reference.reachabilityFence(parts);
            Reference.reachabilityFence(whole);
        }
    }

    /** Returns the first of the tensors after one that does not follow the tensor before it in memory. */
    private static int following(List<Tensor> parts, int first) {
        int i = first + 1;
        for (; i < parts.size(); i++) {
            Tensor before = parts.get(i - 1);
            Tensor part = parts.get(i);
            if (!part.buffer().equals(before.buffer()) || part.offset() != before.offset() + before.spec().bytes()) {
                break;
            }
        }
        return i;
    }

    private static void run(Computation computation, Tensor... arguments) {
        TensorSpec[] specs = Arrays.stream(arguments).map(Tensor::spec).toArray(TensorSpec[]::new);
        try (Kernel kernel = PORTABLE.prepare(computation, Devices.system().host().place(), specs)) {
            kernel.run(arguments, KernelContext.current());
        }
    }
}
