package io.seriatim.graph.ops.common;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Numbers;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Checks of types, shapes and values that operations on the host share. */
public final class Checks {
    private Checks() {
    }

    /** All of one type, float32 or float64. */
    public static void floating(Inference inference, String... slots) {
        DType dtype = inference.dtype(slots[0]);
        inference.require(dtype == DType.FLOAT32 || dtype == DType.FLOAT64, "%s must be float32 or float64, but is %s",
                slots[0], dtype);
        for (String slot : slots) {
            inference.require(inference.dtype(slot) == dtype, "%s and %s must be of one type, but are %s and %s",
                    slots[0], slot, dtype, inference.dtype(slot));
        }
    }

    /** int32 or int64. */
    public static void whole(Inference inference, String... slots) {
        for (String slot : slots) {
            DType dtype = inference.dtype(slot);
            inference.require(dtype == DType.INT32 || dtype == DType.INT64, "%s must be int32 or int64, but is %s",
                    slot, dtype);
        }
    }

    /** A number of elements, if both are known. */
    public static void elements(Inference inference, String slot, long count) {
        long size = Inference.size(inference.dims(slot));
        inference.require(size < 0 || count < 0 || size == count, "%s must have %d elements, but has %d", slot, count,
                size);
    }

    /** A shape of which −1 stands for any length. */
    public static void shape(Inference inference, String slot, long... expected) {
        long[] dims = inference.dims(slot);
        boolean fits = dims.length == expected.length;
        for (int i = 0; fits && i < dims.length; i++) {
            fits = dims[i] < 0 || expected[i] < 0 || dims[i] == expected[i];
        }
        inference.require(fits, "%s must have the shape %s, but has %s", slot,
                Arrays.toString(expected).replace("-1", "any"), Numbers.text(dims));
    }

    /** A whole number that must lie in a range. */
    public static int within(String type, String slot, int index, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException("Operation '" + type + "': the numbers in " + slot + " must be from "
                    + least + " to " + most + ", but element " + index + " is " + value);
        }
        return (int) value;
    }

    /** Whole numbers that must lie in a range. */
    public static int[] within(String type, String slot, Tensor given, long least, long most) {
        long[] values = given.toLongArray();
        int[] checked = new int[values.length];
        Arrays.setAll(checked, i -> within(type, slot, i, values[i], least, most));
        return checked;
    }

    /** One of the tensors of a function on the host, which is there. */
    public static Tensor tensor(List<@Nullable Tensor> tensors, int index) {
        return Objects.requireNonNull(tensors.get(index));
    }

    /** A dimension of a tensor on the host, whose elements can be in an array. */
    public static int dim(Tensor tensor, int axis) {
        return Math.toIntExact(tensor.shape().dim(axis));
    }
}
