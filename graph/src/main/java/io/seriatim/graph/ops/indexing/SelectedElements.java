package io.seriatim.graph.ops.indexing;

import io.seriatim.device.Device;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Elements that are not zero, found in the memory of tensors. */
final class SelectedElements {
    private SelectedElements() {
    }

    /**
     * Returns the indexes along all axes of the elements that are not zero, in their order.
     *
     * @return [elements, axes] of int64; null for scalars and for types that are rarely used as conditions
     */
    static @Nullable Tensor indexes(Tensor condition, Device host) {
        int rank = condition.shape().rank();
        DType dtype = condition.dtype();
        if (rank == 0 || !isKnown(dtype)) {
            return null;
        }
        MemorySegment elements = condition.elements();
        long size = condition.shape().size();
        long count = 0;
        for (long i = 0; i < size; i++) {
            count += isSet(elements, dtype, i) ? 1 : 0;
        }
        Tensor result = Tensor.allocate(host, TensorSpec.of(DType.INT64, count, rank));
        if (count > 0) {
            store(elements, condition, result.elements());
        }
        return result;
    }

    private static void store(MemorySegment elements, Tensor condition, MemorySegment result) {
        DType dtype = condition.dtype();
        long[] dims = condition.shape().dims();
        int last = dims.length - 1;
        long[] index = new long[dims.length];
        long size = condition.shape().size();
        long at = 0;
        for (long row = 0; row < size; row += dims[last]) {
            for (long i = 0; i < dims[last]; i++) {
                if (isSet(elements, dtype, row + i)) {
                    for (int axis = 0; axis < last; axis++) {
                        result.setAtIndex(ValueLayout.JAVA_LONG, at++, index[axis]);
                    }
                    result.setAtIndex(ValueLayout.JAVA_LONG, at++, i);
                }
            }
            next(index, dims);
        }
    }

    /** Goes on to the next row of the last axis. */
    private static void next(long[] index, long[] dims) {
        for (int axis = dims.length - 2; axis >= 0; axis--) {
            if (++index[axis] < dims[axis]) {
                return;
            }
            index[axis] = 0;
        }
    }

    /**
     * Returns the elements of a tensor for which a mask of the same shape holds, in their order.
     *
     * @return null for other masks
     */
    static @Nullable Tensor chosen(Tensor x, Tensor mask, Device host) {
        if (mask.dtype() != DType.BOOL || !mask.shape().equals(x.shape())) {
            return null;
        }
        MemorySegment holds = mask.elements();
        long size = mask.shape().size();
        long count = 0;
        for (long i = 0; i < size; i++) {
            count += isSet(holds, DType.BOOL, i) ? 1 : 0;
        }
        Tensor result = Tensor.allocate(host, TensorSpec.of(x.dtype(), count));
        MemorySegment from = x.elements();
        MemorySegment to = result.elements();
        long bytes = x.dtype().bytes();
        long at = 0;
        for (long i = 0; i < size; i++) {
            if (isSet(holds, DType.BOOL, i)) {
                if (bytes == Float.BYTES) {
                    to.set(ValueLayout.JAVA_INT_UNALIGNED, at, from.get(ValueLayout.JAVA_INT_UNALIGNED, i * bytes));
                } else {
                    MemorySegment.copy(from, i * bytes, to, at, bytes);
                }
                at += bytes;
            }
        }
        return result;
    }

    private static boolean isKnown(DType dtype) {
        return switch (dtype) {
            case BOOL, UINT8, INT8, INT32, INT64, FLOAT32 -> true;
            default -> false;
        };
    }

    private static boolean isSet(MemorySegment elements, DType dtype, long index) {
        return switch (dtype) {
            case INT64 -> elements.get(ValueLayout.JAVA_LONG_UNALIGNED, index * Long.BYTES) != 0;
            case INT32 -> elements.get(ValueLayout.JAVA_INT_UNALIGNED, index * Integer.BYTES) != 0;
            case FLOAT32 -> elements.get(ValueLayout.JAVA_FLOAT_UNALIGNED, index * Float.BYTES) != 0;
            default -> elements.get(ValueLayout.JAVA_BYTE, index) != 0;
        };
    }
}
