package io.seriatim.tensor;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Type, shape and layout of a tensor.
 *
 * @param dtype
 *            the elements' type
 * @param shape
 *            the dimensions
 * @param layout
 *            the arrangement of the elements in memory
 */
public record TensorSpec(DType dtype, Shape shape, Layout layout) {
    /**
     * Checks the parts. Strides that are those of a row-major tensor become {@link Layout#ROW_MAJOR}, so that equal
     * layouts are equal.
     *
     * @throws IllegalArgumentException
     *             if there is not one stride for each dimension
     */
    public TensorSpec {
        Objects.requireNonNull(dtype, "dtype");
        Objects.requireNonNull(shape, "shape");
        if (layout instanceof Layout.Strided strided) {
            long[] strides = strided.strides();
            if (strides.length != shape.rank()) {
                throw new IllegalArgumentException(
                        "The shape " + shape + " needs " + shape.rank() + " strides, but has " + strides.length);
            }
            if (isRowMajor(shape, strides)) {
                layout = Layout.ROW_MAJOR;
            }
        }
    }

    /**
     * A dense row-major tensor.
     *
     * @param dtype
     *            the elements' type
     * @param dims
     *            the dimensions
     * @return the spec
     */
    public static TensorSpec of(DType dtype, long... dims) {
        return new TensorSpec(dtype, Shape.of(dims), Layout.ROW_MAJOR);
    }

    /**
     * A dense row-major tensor.
     *
     * @param dtype
     *            the elements' type
     * @param shape
     *            the dimensions
     * @return the spec
     */
    public static TensorSpec of(DType dtype, Shape shape) {
        return new TensorSpec(dtype, shape, Layout.ROW_MAJOR);
    }

    // Strides of dimensions of length 1, and of tensors without elements, are never used.
    private static boolean isRowMajor(Shape shape, long[] strides) {
        long expected = 1;
        for (int i = strides.length - 1; i >= 0; i--) {
            if (shape.dim(i) != 1 && strides[i] != expected && shape.size() != 0) {
                return false;
            }
            expected *= Math.max(1, shape.dim(i));
        }
        return true;
    }

    /**
     * Whether it is dense and row-major.
     *
     * @return false for views with other strides and for opaque layouts
     */
    public boolean isRowMajor() {
        return layout instanceof Layout.RowMajor;
    }

    /**
     * The distance between neighbours in each dimension.
     *
     * @return in elements
     * @throws IllegalStateException
     *             if the layout is opaque
     */
    public long[] strides() {
        return switch (layout) {
            case Layout.RowMajor _ -> shape.strides();
            case Layout.Strided strided -> strided.strides();
            case Layout.Opaque opaque ->
                throw new IllegalStateException(
                        "A tensor that is " + opaque + " has no strides: copy it to a row-major one first");
        };
    }

    /**
     * The memory that a tensor with this spec takes.
     *
     * @return in bytes
     * @throws IllegalArgumentException
     *             if that is more than a long can count
     */
    public long bytes() {
        if (layout instanceof Layout.Opaque opaque) {
            return opaque.bytes();
        }
        try {
            return Math.multiplyExact(shape.size(), dtype.bytes());
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(
                    "A tensor of " + dtype + " " + shape + " takes more bytes than a long can count", e);
        }
    }

    /**
     * The same shape and type, dense and row-major.
     *
     * @return this if it is row-major already
     */
    public TensorSpec rowMajor() {
        return isRowMajor() ? this : of(dtype, shape);
    }

    /**
     * With another type.
     *
     * @param other
     *            the type
     * @return the same shape, row-major
     */
    public TensorSpec with(DType other) {
        return of(other, shape);
    }

    /**
     * Complex numbers as real ones, with a last dimension of length 2 for real and imaginary part.
     *
     * @return the same memory
     * @throws IllegalStateException
     *             if the type is not complex
     */
    public TensorSpec asReal() {
        if (!dtype.isComplex()) {
            throw new IllegalStateException("Only complex numbers have a real and an imaginary part, but this is "
                    + this);
        }
        int rank = shape.rank();
        long[] dims = Arrays.copyOf(shape.dims(), rank + 1);
        long[] strides = Arrays.copyOf(strides(), rank + 1);
        for (int i = 0; i < rank; i++) {
            strides[i] *= 2;
        }
        dims[rank] = 2;
        strides[rank] = 1;
        return new TensorSpec(dtype.real(), Shape.of(dims), Layout.strided(strides));
    }

    /** Where the first byte in memory is, from the element with the index 0 on; negative with negative strides. */
    long firstByte() {
        long least = 0;
        if (layout instanceof Layout.Strided strided && shape.size() != 0) {
            for (int i = 0; i < shape.rank(); i++) {
                least += Math.min(0, Math.multiplyExact(strided.stride(i), shape.dim(i) - 1));
            }
        }
        return least * dtype.bytes();
    }

    /** The bytes between the first and the last element in memory. */
    long extent() {
        if (!(layout instanceof Layout.Strided strided) || shape.size() == 0) {
            return bytes();
        }
        long span = 1;
        for (int i = 0; i < shape.rank(); i++) {
            span = Math.addExact(span, Math.multiplyExact(Math.abs(strided.stride(i)), shape.dim(i) - 1));
        }
        return span * dtype.bytes();
    }

    // Compared and hashed very often while plans are compiled: the methods that a record has by itself are slower until
    // they are compiled.
    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof TensorSpec spec && dtype == spec.dtype && shape.equals(spec.shape)
                && layout.equals(spec.layout));
    }

    @Override
    public int hashCode() {
        return (dtype.hashCode() * 31 + shape.hashCode()) * 31 + layout.hashCode();
    }

    /**
     * A readable form.
     *
     * @return for instance {@code float32 [2, 3]}
     */
    @Override
    public String toString() {
        return dtype + " " + shape + (isRowMajor() ? "" : " (" + layout + ")");
    }
}
