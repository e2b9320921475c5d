package io.seriatim.tensor.array;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.OneHot;
import java.util.List;

/** The part of an {@link NDArray} that selects elements and rearranges dimensions. */
abstract sealed class ArrayIndexing extends ArrayReductions permits NDArray {
    ArrayIndexing(NDArrays home, Storage storage, Tensor tensor, List<NDArray> targets) {
        super(home, storage, tensor, targets);
    }

    /**
     * Slices at indices.
     *
     * @param indices
     *            int32 or int64, of any shape
     * @param axis
     *            from −rank
     * @return this shape with the axis replaced by the shape of the indices
     */
    public NDArray gather(NDArray indices, int axis) {
        return apply("gather", Gather.of(axis), indices);
    }

    /**
     * Ones at the indices that this array holds.
     *
     * @param depth
     *            the length of the added dimension
     * @param type
     *            of the result
     * @return an array of one more dimension
     */
    public NDArray oneHot(long depth, DType type) {
        return apply("oneHot", new OneHot(depth, type));
    }

    /**
     * The dimensions in another order: a view.
     *
     * @param axes
     *            for each dimension of the result, which one of this it is; none to reverse them
     * @return a view
     */
    public NDArray transpose(int... axes) {
        return view("transpose", tensor().transpose(axes));
    }

    /**
     * A part of a dimension: a view.
     *
     * @param axis
     *            from −rank
     * @param from
     *            the first index
     * @param to
     *            after the last
     * @return a view
     */
    public NDArray slice(int axis, long from, long to) {
        return view("slice", tensor().slice(axis, from, to));
    }

    /**
     * One index of a dimension, which goes: a view.
     *
     * @param axis
     *            from −rank
     * @param index
     *            from 0
     * @return a view of one dimension less
     */
    public NDArray select(int axis, long index) {
        return view("select", tensor().select(axis, index));
    }

    /**
     * Other dimensions: a view if this is dense, else a copy.
     *
     * @param dims
     *            as many elements
     * @return a view or a copy
     */
    public NDArray reshape(long... dims) {
        requireNoTarget("reshape");
        return tensor().spec().isRowMajor() ? view("reshape", tensor().reshape(dims)) : self().copy().reshape(dims);
    }
}
