package io.seriatim.graph.op;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;

/**
 * A tensor, or a view of one, in the steps of a {@link Lowering}.
 *
 * @param source
 *            where its memory is
 * @param offset
 *            where its first element begins, in bytes from the start of the source
 * @param spec
 *            type, shape and layout
 */
public record Operand(Source source, long offset, TensorSpec spec) {
    /** A tensor without elements begins at the start of its source: an offset could lie beyond the source's end. */
    public Operand {
        offset = spec.shape().size() == 0 ? 0 : offset;
    }

    /** Where memory is. */
    public sealed interface Source {
        /**
         * A variable that the operation reads.
         *
         * @param slot
         *            its slot
         * @param index
         *            its place in the slot
         */
        record Input(String slot, int index) implements Source {
        }

        /**
         * The indexes (int64) of the rows that a variable holds; its input is their values.
         *
         * @param slot
         *            its slot
         * @param index
         *            its place in the slot
         */
        record RowIndexes(String slot, int index) implements Source {
        }

        /**
         * A variable that the operation writes.
         *
         * @param slot
         *            its slot
         * @param index
         *            its place in the slot
         */
        record Output(String slot, int index) implements Source {
        }

        /**
         * The indexes (int64) of the rows that a written variable holds.
         *
         * @param slot
         *            its slot
         * @param index
         *            its place in the slot
         */
        record OutputRowIndexes(String slot, int index) implements Source {
        }

        /**
         * Memory for the time of the operation.
         *
         * @param number
         *            from 0
         */
        record Temporary(int number) implements Source {
        }

        /**
         * A tensor that is made once and never written.
         *
         * @param tensor
         *            of the host
         */
        record Constant(Tensor tensor) implements Source {
        }

        /** The key, int64 [2], of the operation's random numbers in this run. */
        record RandomKey() implements Source {
        }
    }

    /**
     * The dimensions.
     *
     * @return the shape
     */
    public Shape shape() {
        return spec.shape();
    }

    /**
     * The elements' type.
     *
     * @return the type
     */
    public DType dtype() {
        return spec.dtype();
    }

    /**
     * How many dimensions.
     *
     * @return from 0
     */
    public int rank() {
        return spec.shape().rank();
    }

    /**
     * A dimension.
     *
     * @param axis
     *            from −rank
     * @return its length
     */
    public long dim(int axis) {
        return spec.shape().dim(axis);
    }

    /**
     * The dimensions in another order.
     *
     * @param axes
     *            for each dimension of the result, which one of this it is
     * @return a view
     */
    public Operand transpose(int... axes) {
        long[] strides = spec.strides();
        long[] dims = new long[axes.length];
        long[] order = new long[axes.length];
        for (int i = 0; i < axes.length; i++) {
            dims[i] = shape().dim(axes[i]);
            order[i] = strides[shape().axis(axes[i])];
        }
        return view(offset, dims, order);
    }

    /**
     * Some indexes of a dimension.
     *
     * @param axis
     *            which, from −rank
     * @param from
     *            the first index
     * @param step
     *            from one to the next; negative to go back
     * @param count
     *            how many
     * @return a view
     */
    public Operand slice(int axis, long from, long step, long count) {
        int at = shape().axis(axis);
        long[] strides = spec.strides();
        long start = count == 0 ? offset : offset + from * strides[at] * dtype().bytes();
        strides[at] *= step;
        return view(start, shape().with(at, count).dims(), strides);
    }

    /**
     * Some neighbours in a dimension.
     *
     * @param axis
     *            which, from −rank
     * @param from
     *            the first index
     * @param to
     *            after the last
     * @return a view
     */
    public Operand slice(int axis, long from, long to) {
        return slice(axis, from, 1, to - from);
    }

    /**
     * A dimension backwards.
     *
     * @param axis
     *            which, from −rank
     * @return a view
     */
    public Operand flip(int axis) {
        return slice(axis, dim(axis) - 1, -1, dim(axis));
    }

    /**
     * One index of a dimension, which goes.
     *
     * @param axis
     *            which, from −rank
     * @param index
     *            from 0
     * @return a view of one dimension less
     */
    public Operand select(int axis, long index) {
        return slice(axis, index, 1, 1).squeeze(axis);
    }

    /**
     * Without a dimension of length 1.
     *
     * @param axis
     *            which, from −rank
     * @return a view of one dimension less
     */
    public Operand squeeze(int axis) {
        int at = shape().axis(axis);
        return view(offset, without(shape().dims(), at), without(spec.strides(), at));
    }

    /**
     * With one more dimension, of length 1.
     *
     * @param axis
     *            where it is in the result, from 0
     * @return a view of one dimension more
     */
    public Operand unsqueeze(int axis) {
        return view(offset, inserted(shape().dims(), axis, 1), inserted(spec.strides(), axis, 0));
    }

    private static long[] without(long[] values, int at) {
        long[] less = Arrays.copyOf(values, values.length - 1);
        System.arraycopy(values, at + 1, less, at, values.length - 1 - at);
        return less;
    }

    private static long[] inserted(long[] values, int at, long value) {
        long[] more = Arrays.copyOf(values, values.length + 1);
        System.arraycopy(values, at, more, at + 1, values.length - at);
        more[at] = value;
        return more;
    }

    /**
     * Repeats dimensions of length 1, and adds some in front.
     *
     * @param target
     *            a shape that this one broadcasts to
     * @return a view, only to be read
     */
    public Operand expand(Shape target) {
        if (!shape().broadcast(target).equals(target)) {
            throw new IllegalArgumentException(shape() + " does not expand to " + target);
        }
        return view(offset, target.dims(), Tensor.broadcastStrides(spec, target));
    }

    /**
     * Whether {@link #reshape} needs no copy.
     *
     * @return true for row-major views
     */
    public boolean isRowMajor() {
        return spec.isRowMajor();
    }

    /**
     * The same elements with other dimensions.
     *
     * @param dims
     *            as many elements
     * @return a view
     * @throws IllegalArgumentException
     *             if this is not row-major: see {@link Lowering#reshape}
     */
    public Operand reshape(long... dims) {
        Shape target = Shape.of(dims);
        if (!isRowMajor() || target.size() != shape().size()) {
            throw new IllegalArgumentException(spec + " cannot be seen as " + target + " without a copy");
        }
        return new Operand(source, offset, TensorSpec.of(dtype(), target));
    }

    /**
     * The elements whose indices along two axes are equal.
     *
     * @param axis
     *            which becomes the axis of the diagonal
     * @param other
     *            of the same length, behind it; it is left out
     * @return a view
     */
    public Operand diagonal(int axis, int other) {
        long[] strides = spec.strides();
        strides[axis] += strides[other];
        return view(offset, without(shape().dims(), other), without(strides, other));
    }

    private Operand view(long start, long[] dims, long[] strides) {
        return new Operand(source, start, new TensorSpec(dtype(), Shape.of(dims), Layout.strided(strides)));
    }
}
