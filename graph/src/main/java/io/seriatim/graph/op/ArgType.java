package io.seriatim.graph.op;

import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.TensorSpec;
import java.util.Arrays;

/** The known type of a variable where an operation reads or writes it. Compared by content. */
public final class ArgType {
    /** What the variable holds. */
    public enum Kind {
        /** A tensor. */
        DENSE,
        /** Some rows of a tensor. */
        ROWS,
        /** A list of tensors. */
        ARRAY
    }

    private final Kind kind;
    private final DType dtype;
    private final long[] dims;
    private final long rows;

    private ArgType(Kind kind, DType dtype, long[] dims, long rows) {
        this.kind = kind;
        this.dtype = dtype;
        this.dims = dims;
        this.rows = rows;
    }

    /**
     * A tensor.
     *
     * @param dtype
     *            its elements' type
     * @param dims
     *            its dimensions, −1 where unknown
     * @return its type
     */
    public static ArgType dense(DType dtype, long... dims) {
        return new ArgType(Kind.DENSE, dtype, dims.clone(), 0);
    }

    /**
     * Some rows of a tensor.
     *
     * @param dtype
     *            its elements' type
     * @param rows
     *            how many, −1 if unknown
     * @param dims
     *            the dimensions of the whole
     * @return its type
     */
    public static ArgType rows(DType dtype, long rows, long... dims) {
        return new ArgType(Kind.ROWS, dtype, dims.clone(), rows);
    }

    /**
     * A list of tensors.
     *
     * @param dtype
     *            their elements' type
     * @param dims
     *            the dimensions of each, −1 where unknown
     * @return its type
     */
    public static ArgType array(DType dtype, long... dims) {
        return new ArgType(Kind.ARRAY, dtype, dims.clone(), 0);
    }

    /**
     * What the variable holds.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * The elements' type.
     *
     * @return the type
     */
    public DType dtype() {
        return dtype;
    }

    /**
     * The dimensions.
     *
     * @return a copy; −1 where unknown
     */
    public long[] dims() {
        return dims.clone();
    }

    /**
     * The number of dimensions that count for {@link Shape#MAX_RANK}: without the 0 in front of an XShape, which
     * remembers the shape of another variable.
     */
    int rank() {
        return dims.length == 0 || dims[0] != 0 ? dims.length : dims.length - 1;
    }

    /**
     * How many rows there are.
     *
     * @return −1 if unknown
     */
    public long rowCount() {
        return rows;
    }

    /**
     * Whether all dimensions are known.
     *
     * @return false if one is −1
     */
    public boolean isKnown() {
        return Arrays.stream(dims).allMatch(dim -> dim >= 0) && rows >= 0;
    }

    /**
     * With another element type.
     *
     * @param other
     *            the type
     * @return a copy
     */
    public ArgType with(DType other) {
        return new ArgType(kind, other, dims, rows);
    }

    /**
     * The tensor.
     *
     * @return row-major
     * @throws IllegalArgumentException
     *             if a dimension is unknown
     */
    public TensorSpec spec() {
        return TensorSpec.of(dtype, Shape.of(dims));
    }

    /**
     * The type of a variable of a program.
     *
     * @return with the same element type and dimensions
     */
    public VarType varType() {
        VarType.TensorType tensor = VarType.TensorType.of(dtype, dims);
        return switch (kind) {
            case DENSE -> new VarType.Dense(tensor, null);
            case ROWS -> new VarType.Rows(tensor);
            case ARRAY -> new VarType.TensorArray(tensor, null);
        };
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ArgType type && kind == type.kind && dtype == type.dtype && rows == type.rows
                && Arrays.equals(dims, type.dims);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(dims) * 31 + dtype.hashCode();
    }

    @Override
    public String toString() {
        String text = dtype + Arrays.toString(dims);
        return switch (kind) {
            case DENSE -> text;
            case ROWS -> rows + " rows of " + text;
            case ARRAY -> "array of " + text;
        };
    }
}
