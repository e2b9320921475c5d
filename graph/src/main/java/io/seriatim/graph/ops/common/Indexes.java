package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.DType;

/** Checks and shapes that operations on indexes share. */
public final class Indexes {
    private Indexes() {
    }

    /** Indexes are whole numbers. */
    public static void require(Inference inference, String slot) {
        DType dtype = inference.dtype(slot);
        inference.require(dtype == DType.INT32 || dtype == DType.INT64,
                "the indexes in slot %s must be int32 or int64, but are %s", slot,
                dtype);
    }

    /** One index a slice: a vector, a column, or a number alone. */
    public static void requireVector(Inference inference, String slot) {
        require(inference, slot);
        long[] dims = inference.dims(slot);
        inference.require(dims.length < 2 || (dims.length == 2 && (dims[1] == 1 || dims[1] < 0)),
                "the indexes in slot %s must have the shape [n], [n, 1] or [], but have %s", slot,
                Numbers.text(dims));
    }

    /** Those of a slot as a vector; a number alone stays one. */
    public static Operand vector(Lowering l, String slot) {
        Operand indexes = l.in(slot);
        return indexes.rank() == 2 ? indexes.reshape(indexes.shape().size()) : indexes;
    }

    /** Dimensions with one replaced by others. */
    public static long[] replaced(long[] dims, int axis, long... by) {
        long[] result = new long[dims.length - 1 + by.length];
        System.arraycopy(dims, 0, result, 0, axis);
        System.arraycopy(by, 0, result, axis, by.length);
        System.arraycopy(dims, axis + 1, result, axis + by.length, dims.length - 1 - axis);
        return result;
    }

    /** An operation needs something to take slices of. */
    public static void requireDimensions(Inference inference, String slot) {
        inference.require(inference.dims(slot).length > 0, "the tensor in slot %s needs at least one dimension", slot);
    }

    /** A tensor of zeros, of the type and shape of an input. */
    public static Operand zeros(Lowering l, String like) {
        return l.fill(0, l.in(like).spec());
    }
}
