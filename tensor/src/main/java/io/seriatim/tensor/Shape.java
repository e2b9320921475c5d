package io.seriatim.tensor;

import java.util.Arrays;
import java.util.Objects;

/**
 * The lengths of a tensor's dimensions. The shape {@code []} has one element; a dimension may have length 0. Immutable.
 */
public final class Shape {
    /** The shape of a single element. */
    public static final Shape SCALAR = new Shape();

    /** The most dimensions of a tensor that a file or a program declares, as in NumPy 1 and PaddlePaddle's files. */
    public static final int MAX_RANK = 32;

    private final long[] dims;
    private final long size;

    private Shape(long... dims) {
        this.dims = dims;
        long product = 1;
        boolean empty = false;
        for (long dim : dims) {
            if (dim < 0) {
                throw new IllegalArgumentException(
                        "A dimension must be 0 or more, but the shape is " + Arrays.toString(dims));
            }
            empty |= dim == 0;
        }
        if (!empty) {
            for (long dim : dims) {
                if (Math.multiplyHigh(product, dim) != 0 || product * dim < 0) {
                    throw new IllegalArgumentException(
                            "The shape " + Arrays.toString(dims) + " has more elements than a long can count");
                }
                product *= dim;
            }
        }
        size = empty ? 0 : product;
    }

    /**
     * Makes a shape.
     *
     * @param dims
     *            the length of each dimension, 0 or more; none for a single element
     * @return the shape
     * @throws IllegalArgumentException
     *             if a length is negative or the number of elements overflows
     */
    public static Shape of(long... dims) {
        return dims.length == 0 ? SCALAR : new Shape(dims.clone());
    }

    /**
     * How many dimensions.
     *
     * @return 0 for a single element
     */
    public int rank() {
        return dims.length;
    }

    /**
     * The length of a dimension.
     *
     * @param axis
     *            from 0, or from −1 for the last
     * @return its length
     * @throws IllegalArgumentException
     *             if there is no such dimension
     */
    public long dim(int axis) {
        return dims[axis(axis)];
    }

    /**
     * Counts an axis from the front.
     *
     * @param axis
     *            from −rank to rank − 1
     * @return from 0 to rank − 1
     * @throws IllegalArgumentException
     *             if it is out of that range
     */
    public int axis(int axis) {
        if (axis < -dims.length || axis >= dims.length) {
            throw new IllegalArgumentException(
                    "The axis must be from " + -dims.length + " to " + (dims.length - 1) + " for the shape " + this
                            + ", but is " + axis);
        }
        return axis < 0 ? axis + dims.length : axis;
    }

    /**
     * The number of elements.
     *
     * @return the product of all lengths
     */
    public long size() {
        return size;
    }

    /**
     * The lengths.
     *
     * @return a copy
     */
    public long[] dims() {
        return dims.clone();
    }

    /**
     * The strides of a dense row-major tensor.
     *
     * @return in elements, one a dimension
     */
    public long[] strides() {
        long[] strides = new long[dims.length];
        long stride = 1;
        for (int i = dims.length - 1; i >= 0; i--) {
            strides[i] = stride;
            stride *= Math.max(1, dims[i]);
        }
        return strides;
    }

    /**
     * The shape of an elementwise operation: aligned at the last dimension, lengths must be equal or one of them 1.
     *
     * @param other
     *            the other operand's shape
     * @return the result's shape
     * @throws IllegalArgumentException
     *             if the shapes do not broadcast
     */
    public Shape broadcast(Shape other) {
        Objects.requireNonNull(other, "other");
        long[] result = new long[Math.max(rank(), other.rank())];
        for (int i = 1; i <= result.length; i++) {
            long a = i <= rank() ? dims[rank() - i] : 1;
            long b = i <= other.rank() ? other.dims[other.rank() - i] : 1;
            if (a != b && a != 1 && b != 1) {
                throw new IllegalArgumentException(
                        "The shapes " + this + " and " + other + " do not broadcast: dimension " + -i + " is " + a
                                + " and " + b
                                + ", and neither is 1");
            }
            result[result.length - i] = a == 1 ? b : a;
        }
        return of(result);
    }

    /**
     * With one dimension changed.
     *
     * @param axis
     *            the dimension, from −rank
     * @param length
     *            its new length
     * @return another shape
     */
    public Shape with(int axis, long length) {
        long[] changed = dims.clone();
        changed[axis(axis)] = length;
        return of(changed);
    }

    /**
     * A range of dimensions.
     *
     * @param from
     *            the first, from 0
     * @param to
     *            the index after the last, up to the rank
     * @return another shape
     */
    public Shape slice(int from, int to) {
        Objects.checkFromToIndex(from, to, dims.length);
        return of(Arrays.copyOfRange(dims, from, to));
    }

    @Override
    public boolean equals(Object other) {
        return this == other || (other instanceof Shape shape && Arrays.equals(dims, shape.dims));
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(dims);
    }

    /**
     * A readable form.
     *
     * @return for instance {@code [2, 3]}
     */
    @Override
    public String toString() {
        return Arrays.toString(dims);
    }
}
