package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Floats;
import io.seriatim.tensor.IndexRangeException;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Longs;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.network.LinearResampling;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Sums of two elements along an axis. Dimensions are taken in the order in which x has them in memory, so that images
 * with channels last are read in rows too.
 */
final class PortableResampling {
    /** Rows behind the axis that are shorter are not moved one by one, but with all of their slice. */
    private static final int SHORT = 256;
    /** Longer rows are computed in pieces. */
    private static final int PIECE = 4096;

    private final int[] order;
    private final boolean isInOrder;
    private final Shape x;
    private final Shape y;
    private final long outer;
    private final int length;
    private final int count;
    private final long inner;

    private PortableResampling(int axis, TensorSpec x, TensorSpec y) {
        order = order(x);
        isInOrder = Arrays.equals(order, IntStream.range(0, order.length).toArray());
        this.x = permuted(x.shape(), order);
        this.y = permuted(y.shape(), order);
        int at = 0;
        while (order[at] != axis) {
            at++;
        }
        outer = this.x.slice(0, at).size();
        length = Math.toIntExact(this.x.dim(at));
        count = Math.toIntExact(this.y.dim(at));
        inner = this.x.slice(at + 1, order.length).size();
    }

    /** Returns the dimensions, the outermost in memory first. */
    private static int[] order(TensorSpec spec) {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < spec.shape().rank(); i++) {
            order.add(i);
        }
        if (!spec.isRowMajor()) {
            long[] strides = spec.strides();
            order.sort(Comparator.comparingLong(i -> -Math.abs(strides[i])));
        }
        return order.stream().mapToInt(Integer::intValue).toArray();
    }

    private static Shape permuted(Shape shape, int[] order) {
        long[] dims = new long[order.length];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = shape.dim(order[i]);
        }
        return Shape.of(dims);
    }

    private Tensor permuted(Tensor tensor, Shape shape) {
        if (isInOrder) {
            return tensor;
        }
        long[] given = tensor.spec().strides();
        long[] strides = new long[order.length];
        for (int i = 0; i < strides.length; i++) {
            strides[i] = given[order[i]];
        }
        return new Tensor(tensor.buffer(), tensor.offset(),
                new TensorSpec(tensor.dtype(), shape, Layout.strided(strides)));
    }

    static @Nullable Kernel kernel(LinearResampling resampling, @Nullable TensorSpec[] arguments) {
        TensorSpec x = Objects.requireNonNull(arguments[0]);
        TensorSpec y = Objects.requireNonNull(arguments[5]);
        if (x.dtype() != DType.FLOAT32 || x.layout() instanceof Layout.Opaque || y.layout() instanceof Layout.Opaque) {
            return null;
        }
        PortableResampling kernel = new PortableResampling(x.shape().axis(resampling.axis()), x, y);
        return PortableKernel.of(kernel::run);
    }

    private void run(PortableKernel.Arguments all, KernelContext context) {
        Tensor from = permuted(all.get(0), x);
        Tensor to = permuted(all.get(5), y);
        int[] places = new int[2 * count];
        float[] weights = new float[2 * count];
        for (int side = 0; side < 2; side++) {
            places(all.get(1 + side), places, side, context);
            Floats.load(all.get(3 + side), 0, weights, side * count, count);
        }
        if (inner < SHORT && (length + count) * inner <= Integer.MAX_VALUE / 2) {
            slices(from, to, places, weights, context);
        } else {
            rows(from, to, places, weights, context);
        }
    }

    private void places(Tensor given, int[] places, int side, KernelContext context) {
        long[] part = context.longs(0);
        for (int first = 0; first < count; first += KernelContext.TILE) {
            int some = Math.min(KernelContext.TILE, count - first);
            Longs.load(given, first, part, 0, some);
            for (int i = 0; i < some; i++) {
                if (part[i] < 0 || part[i] >= length) {
                    throw new IndexRangeException("resampling: place number " + (first + i) + " must be from 0 to "
                            + (length - 1) + ", but is " + part[i]);
                }
                places[side * count + first + i] = (int) part[i];
            }
        }
    }

    /** All rows of a slice at a time. */
    private void slices(Tensor from, Tensor to, int[] places, float[] weights, KernelContext context) {
        int row = (int) inner;
        int read = length * row;
        int written = count * row;
        float[] array = context.floatArray(read + written);
        for (long slice = 0; slice < outer; slice++) {
            Floats.load(from, slice * read, array, 0, read);
            if (row == 1) {
                for (int i = 0; i < count; i++) {
                    array[read + i] = array[places[i]] * weights[i] + array[places[count + i]] * weights[count + i];
                }
            } else {
                for (int i = 0; i < count; i++) {
                    sum(array, places[i] * row, weights[i], places[count + i] * row, weights[count + i],
                            read + i * row, row);
                }
            }
            Floats.store(to, slice * written, array, read, written);
        }
    }

    /** One row after the other; two that were read last are kept. */
    private void rows(Tensor from, Tensor to, int[] places, float[] weights, KernelContext context) {
        int most = (int) Math.min(inner, PIECE);
        float[] array = context.floatArray(3 * most);
        int[] held = new int[2];
        for (long slice = 0; slice < outer; slice++) {
            for (long first = 0; first < inner; first += most) {
                int part = (int) Math.min(most, inner - first);
                held[0] = -1;
                held[1] = -1;
                for (int i = 0; i < count; i++) {
                    int low = hold(from, slice, places[i], first, part, array, held, places[count + i], most);
                    int high = hold(from, slice, places[count + i], first, part, array, held, places[i], most);
                    sum(array, low * most, weights[i], high * most, weights[count + i], 2 * most, part);
                    Floats.store(to, (slice * count + i) * inner + first, array, 2 * most, part);
                }
            }
        }
    }

    /** Returns which of two rows holds a place, which is read if neither does; the other place stays if it is held. */
    private int hold(Tensor from, long slice, int place, long first, int part, float[] array, int[] held, int other,
            int most) {
        for (int i = 0; i < 2; i++) {
            if (held[i] == place) {
                return i;
            }
        }
        int at = held[0] == other ? 1 : 0;
        Floats.load(from, (slice * length + place) * inner + first, array, at * most, part);
        held[at] = place;
        return at;
    }

    private static void sum(float[] array, int low, float u, int high, float v, int to, int part) {
        for (int i = 0; i < part; i++) {
            array[to + i] = array[low + i] * u + array[high + i] * v;
        }
    }
}
