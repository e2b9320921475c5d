package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Reduction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The memory that views cover, and the sums over what they repeat. */
final class Views {
    private Views() {
    }

    /** The first and the last byte that a view can touch, relative to its source; null if it has no elements. */
    private static long @Nullable [] extent(Operand view) {
        long first = view.offset();
        long last = view.offset();
        long[] strides = view.spec().strides();
        for (int i = 0; i < strides.length; i++) {
            if (view.dim(i) == 0) {
                return null;
            }
            long reach = (view.dim(i) - 1) * strides[i] * view.dtype().bytes();
            first += Math.min(reach, 0);
            last += Math.max(reach, 0);
        }
        return new long[]{first, last + view.dtype().bytes()};
    }

    /** Whether two views may have memory in common. */
    static boolean overlap(Operand a, Operand b) {
        if (!a.source().equals(b.source())) {
            return false;
        }
        long[] one = extent(a);
        long[] other = extent(b);
        return one != null && other != null && one[0] < other[1] && other[0] < one[1];
    }

    /** Whether several indexes of a view name one element. */
    static boolean repeats(Operand view) {
        long[] strides = view.spec().strides();
        List<Integer> axes = IntStream.range(0, strides.length).filter(axis -> view.dim(axis) > 1).boxed()
                .sorted(Comparator.comparingLong(axis -> Math.abs(strides[axis]))).toList();
        long reach = 0;
        for (int axis : axes) {
            if (Math.abs(strides[axis]) <= reach) {
                return true;
            }
            reach += (view.dim(axis) - 1) * Math.abs(strides[axis]);
        }
        return false;
    }

    /**
     * The order of the axes in which a view names all elements of its memory one after the other.
     *
     * @return null if it does not name them all, or some twice
     */
    static int @Nullable [] coveringOrder(Operand view, Operand whole) {
        if (view.offset() != 0 || view.shape().size() != whole.shape().size()) {
            return null;
        }
        long[] strides = view.spec().strides();
        int[] order = IntStream.range(0, strides.length).boxed()
                .sorted(Comparator.comparingLong((Integer axis) -> view.dim(axis) == 1 ? Long.MAX_VALUE : strides[axis])
                        .reversed())
                .mapToInt(Integer::intValue).toArray();
        long expected = 1;
        for (int i = order.length - 1; i >= 0; i--) {
            if (view.dim(order[i]) != 1 && strides[order[i]] != expected) {
                return null;
            }
            expected *= view.dim(order[i]);
        }
        return order;
    }

    /** The elements of a view as row-major indexes of its whole memory. */
    static long[] indexes(Operand view) {
        long[] strides = view.spec().strides();
        long[] at = new long[Math.toIntExact(view.shape().size())];
        long[] place = new long[strides.length];
        long first = view.offset() / view.dtype().bytes();
        for (int i = 0; i < at.length; i++) {
            at[i] = first;
            for (int axis = 0; axis < place.length; axis++) {
                at[i] += place[axis] * strides[axis];
            }
            for (int axis = place.length - 1; axis >= 0 && ++place[axis] == view.dim(axis); axis--) {
                place[axis] = 0;
            }
        }
        return at;
    }

    /** A view at the same place of other memory. */
    static Operand at(Operand view, Operand whole) {
        return new Operand(whole.source(), whole.offset() + view.offset(), view.spec());
    }

    /** The first of what a view repeats by strides of 0, with those dimensions of length 1. */
    static Operand unrepeated(Operand view) {
        long[] strides = view.spec().strides();
        long[] dims = view.shape().dims();
        for (int i = 0; i < dims.length; i++) {
            dims[i] = strides[i] == 0 ? Math.min(dims[i], 1) : dims[i];
        }
        return new Operand(view.source(), view.offset(),
                new TensorSpec(view.dtype(), Shape.of(dims), Layout.strided(strides)));
    }

    /** Sums or expands a value so that it has a shape to which, or from which, it broadcasts. */
    static Operand fitted(Lowering l, Operand value, Shape shape) {
        if (value.shape().equals(shape)) {
            return value;
        }
        Shape common = value.shape().broadcast(shape);
        Operand wide = value.shape().equals(common) ? value : value.expand(common);
        if (common.equals(shape)) {
            return wide;
        }
        int added = common.rank() - shape.rank();
        List<Integer> axes = new ArrayList<>();
        for (int i = 0; i < common.rank(); i++) {
            if (i < added || (shape.dim(i - added) == 1 && common.dim(i) != 1)) {
                axes.add(i);
            }
        }
        Operand sum = l.run(new Reduction(Reduction.Function.SUM, axes, true), wide);
        return sum.shape().equals(shape) ? sum : l.reshape(sum, shape.dims());
    }

    /** Moves the last axis to a place. */
    static Operand fromEnd(Operand operand, int axis) {
        int last = operand.rank() - 1;
        int[] order =
                IntStream.range(0, operand.rank()).map(each -> each < axis ? each : each == axis ? last : each - 1)
                        .toArray();
        return operand.transpose(order);
    }

    /** The dimensions with some of them of length 1. */
    static long[] kept(long[] dims, boolean[] reduced) {
        long[] kept = Arrays.copyOf(dims, dims.length);
        for (int i = 0; i < dims.length; i++) {
            kept[i] = reduced[i] ? 1 : dims[i];
        }
        return kept;
    }
}
