package io.seriatim.graph.ops.common;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;

/** Compares elements of a tensor, which are given by their numbers in it; whole numbers exactly. */
@FunctionalInterface
public interface ElementOrder {
    /** Below 0, 0 or above, as the one is less than the other, equal or greater. */
    int compare(int one, int other);

    /** NaN is greater than all numbers, or less than all. */
    static ElementOrder of(Tensor tensor, boolean nanLast) {
        if (!tensor.dtype().isFloating()) {
            long[] values = tensor.toLongArray();
            if (tensor.dtype() == DType.UINT64) {
                return (one, other) -> Long.compareUnsigned(values[one], values[other]);
            }
            return (one, other) -> Long.compare(values[one], values[other]);
        }
        double[] values = tensor.toDoubleArray();
        return (one, other) -> {
            double a = values[one] + 0.0; // of both zeros, the positive one
            double b = values[other] + 0.0;
            int order = Double.compare(a, b);
            return !nanLast && Double.isNaN(a) != Double.isNaN(b) ? -order : order;
        };
    }
}
