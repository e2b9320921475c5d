package io.seriatim.executor.ir;

import io.seriatim.tensor.Layout;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The image of a dense tensor in other memory: element [i, j, …] of the tensor is at offset + i · strides[0] + j ·
 * strides[1] + … of that memory. Adjacent dimensions that are contiguous in that memory are merged into one.
 */
public final class Region {
    private final Arg.Source source;
    private final long offset;
    private final long[] dims;
    private final long[] dense;
    private final long[] strides;

    private Region(Arg.Source source, long offset, long[] dims, long[] strides) {
        this.source = source;
        this.offset = offset;
        this.dims = dims;
        this.strides = strides;
        this.dense = new long[dims.length];
        long step = 1;
        for (int i = dims.length - 1; i >= 0; i--) {
            dense[i] = step;
            step *= dims[i];
        }
    }

    /**
     * Returns the region that maps a dense tensor with the shape of an operand to the memory of the operand. Null if
     * the operand has a stride that is not positive.
     */
    static @Nullable public Region of(Arg arg) {
        return arg.spec().layout() instanceof Layout.Opaque || arg.spec().shape().size() == 0
                ? null
                : of(arg.source(), arg.offset(), arg.spec().shape().dims(), arg.spec().strides());
    }

    /**
     * Returns the region that maps the dense tensor {@code whole} to the memory of the operand {@code there}, where
     * {@code permuted} is a view of that tensor with permuted dimensions and has the shape of {@code there}. Null if
     * {@code permuted} is no such view.
     */
    static @Nullable public Region of(Arg permuted, Arg there, TensorSpec whole) {
        if (permuted.offset() != 0 || permuted.spec().layout() instanceof Layout.Opaque
                || there.spec().layout() instanceof Layout.Opaque
                || !permuted.spec().shape().equals(there.spec().shape()) || whole.shape().size() == 0
                || permuted.spec().shape().size() != whole.shape().size()) {
            return null;
        }
        long[] own = permuted.spec().strides();
        long[] shape = permuted.spec().shape().dims();
        long[] other = there.spec().strides();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < shape.length; i++) {
            if (shape[i] != 1) {
                order.add(i);
            }
        }
        order.sort((i, j) -> Long.compare(own[j], own[i]));
        long expected = 1;
        for (int i : order.reversed()) {
            if (own[i] != expected) {
                return null;
            }
            expected *= shape[i];
        }
        return of(there.source(), there.offset(), order.stream().mapToLong(i -> shape[i]).toArray(),
                order.stream().mapToLong(i -> other[i]).toArray());
    }

    private static @Nullable Region of(Arg.Source source, long offset, long[] shape, long[] steps) {
        long[] dims = new long[shape.length];
        long[] strides = new long[shape.length];
        int rank = 0;
        for (int i = 0; i < shape.length; i++) {
            if (shape[i] == 1) {
                continue;
            }
            if (steps[i] <= 0) {
                return null;
            }
            if (rank > 0 && strides[rank - 1] == steps[i] * shape[i]) {
                dims[rank - 1] *= shape[i];
            } else {
                dims[rank++] = shape[i];
            }
            strides[rank - 1] = steps[i];
        }
        return new Region(source, offset, Arrays.copyOf(dims, rank), Arrays.copyOf(strides, rank));
    }

    /**
     * Returns the image of a part of the tensor; null if strides cannot express it, because a dimension of the part
     * would need several strides.
     */
    @Nullable
    public Arg part(Arg of) {
        int bytes = of.spec().dtype().bytes();
        if (of.spec().layout() instanceof Layout.Opaque || of.spec().shape().size() == 0 || of.offset() % bytes != 0) {
            return null;
        }
        long[] reach = new long[dims.length];
        long at = 0;
        for (int i = 0; i < dims.length; i++) {
            reach[i] = of.offset() / bytes / dense[i] % dims[i];
            at += reach[i] * strides[i];
        }
        long[] shape = of.spec().shape().dims();
        long[] steps = of.spec().strides();
        for (int i = shape.length - 1; i >= 0; i--) {
            if (shape[i] == 1) {
                steps[i] = i == shape.length - 1 ? 1 : steps[i + 1] * Math.max(1, shape[i + 1]);
            } else if (steps[i] != 0) {
                int axis = axis(steps[i]);
                if (axis < 0) {
                    return null;
                }
                long step = steps[i] / dense[axis];
                reach[axis] += (shape[i] - 1) * step;
                steps[i] = step * strides[axis];
            }
        }
        for (int i = 0; i < dims.length; i++) {
            if (reach[i] >= dims[i]) {
                return null;
            }
        }
        return new Arg(source, offset + at * bytes,
                new TensorSpec(of.spec().dtype(), of.spec().shape(), Layout.strided(steps)));
    }

    /** Returns the dimension along which a stride of the dense tensor steps, or −1. */
    private int axis(long step) {
        for (int i = 0; i < dims.length; i++) {
            if (step >= dense[i]) {
                return step < dense[i] * dims[i] && step % dense[i] == 0 ? i : -1;
            }
        }
        return -1;
    }

    /**
     * Returns whether two parts of the same memory are known to be disjoint: their ranges of bytes are disjoint, or
     * they are disjoint within each block of a fixed length, such as a row, that is a stride of one of them.
     */
    public static boolean areApart(Arg one, Arg two) {
        if (one.spec().layout() instanceof Layout.Opaque || two.spec().layout() instanceof Layout.Opaque) {
            return false;
        }
        if (one.spec().shape().size() == 0 || two.spec().shape().size() == 0) {
            return true;
        }
        Arg first = forwards(one);
        Arg second = forwards(two);
        return areApart(first, second, Long.MAX_VALUE) || isApartByRows(first, second, first)
                || isApartByRows(first, second, second);
    }

    /** Returns a view of the same bytes without negative strides. */
    private static Arg forwards(Arg arg) {
        long[] strides = arg.spec().strides();
        long offset = arg.offset();
        boolean turned = false;
        for (int i = 0; i < strides.length; i++) {
            if (strides[i] < 0) {
                offset += (arg.spec().shape().dim(i) - 1) * strides[i] * arg.spec().dtype().bytes();
                strides[i] = -strides[i];
                turned = true;
            }
        }
        return turned
                ? new Arg(arg.source(), offset,
                        new TensorSpec(arg.spec().dtype(), arg.spec().shape(), Layout.strided(strides)))
                : arg;
    }

    private static boolean isApartByRows(Arg one, Arg two, Arg rows) {
        for (long stride : rows.spec().strides()) {
            if (stride > 1 && areApart(one, two, stride * rows.spec().dtype().bytes())) {
                return true;
            }
        }
        return false;
    }

    private static boolean areApart(Arg one, Arg two, long modulus) {
        long first = length(one, modulus);
        long second = length(two, modulus);
        if (first < 0 || second < 0 || first > modulus || second > modulus) {
            return false;
        }
        long between = Math.floorMod(two.offset() - one.offset(), modulus);
        return modulus == Long.MAX_VALUE
                ? one.offset() + first <= two.offset() || two.offset() + second <= one.offset()
                : first <= between && between + second <= modulus;
    }

    /**
     * Returns the length in bytes, from the first to the last byte, that a part covers in each block of {@code modulus}
     * bytes; −1 if it has a negative stride.
     */
    private static long length(Arg arg, long modulus) {
        long[] dims = arg.spec().shape().dims();
        long[] strides = arg.spec().strides();
        long bytes = arg.spec().dtype().bytes();
        long length = bytes;
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] == 1) {
                continue;
            }
            if (strides[i] < 0) {
                return -1;
            }
            if (strides[i] * bytes % modulus != 0) {
                length += (dims[i] - 1) * strides[i] * bytes;
            }
        }
        return length;
    }
}
