package io.seriatim.tensor.kernel.portable.view;

import io.seriatim.tensor.Doubles;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.LoopNest;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;

/**
 * A view of a tensor as vectors along one axis, for a softmax or a sort of each vector.
 *
 * @param count
 *            how many vectors
 * @param length
 *            of each
 * @param others
 *            the loops over all other dimensions
 * @param stride
 *            of the axis, in elements
 */
public record AxisView(long count, int length, LoopNest others, long stride) {
    public static AxisView of(TensorSpec spec, int axis) {
        if (spec.shape().rank() == 0) {
            return new AxisView(1, 1, LoopNest.of(spec.shape(), new long[0]), 1);
        }
        int at = spec.shape().axis(axis);
        long[] strides = spec.strides();
        TensorSpec one = new TensorSpec(spec.dtype(), spec.shape().with(at, 1), Layout.strided(strides));
        return new AxisView(one.shape().size(), Math.toIntExact(spec.shape().dim(at)),
                LoopNest.of(one.shape(), strides), strides[at]);
    }

    /** Where a vector begins, in bytes. */
    public long at(Tensor tensor, long index) {
        long row = others.rowLength() == 0 ? 0 : index / others.rowLength();
        long element = others.offset(0, row) + (index - row * others.rowLength()) * others.rowStride(0);
        return tensor.offset() + element * tensor.dtype().bytes();
    }

    public void load(Tensor tensor, long index, double[] into, int from) {
        Doubles.load(tensor.memory(), tensor.dtype(), at(tensor, index), stride, into, from, length);
    }

    public void store(Tensor tensor, long index, double[] values, int from) {
        Doubles.store(tensor.memory(), tensor.dtype(), at(tensor, index), stride, values, from, length);
    }
}
