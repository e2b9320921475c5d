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
     * Gathers slices at indices.
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
     * One-hot vectors for the indices in this array.
     *
     * @param depth
     *            the length of the added dimension
     * @param type
     *            the result's type
     * @return an array of one more dimension
     */
    public NDArray oneHot(long depth, DType type) {
        return apply("oneHot", new OneHot(depth, type));
    }

    /**
     * The dimensions in another order: a view.
     *
     * @param axes
     *            for each dimension of the result, the index of the dimension of this array; none to reverse them
     * @return a view
     */
    public NDArray transpose(int... axes) {
        return view("transpose", tensor().transpose(axes));
    }

    /**
     * A range of a dimension: a view.
     *
     * @param axis
     *            from −rank
     * @param from
     *            the first index
     * @param to
     *            the index after the last
     * @return a view
     */
    public NDArray slice(int axis, long from, long to) {
        return view("slice", tensor().slice(axis, from, to));
    }

    /**
     * One index of a dimension, which is removed: a view.
     *
     * @param axis
     *            from −rank
     * @param index
     *            from 0
     * @return a view with one dimension less
     */
    public NDArray select(int axis, long index) {
        return view("select", tensor().select(axis, index));
    }

    /**
     * Other dimensions: a view if this is dense, else a copy.
     *
     * @param dims
     *            the dimensions, with as many elements
     * @return a view or a copy
     */
    public NDArray reshape(long... dims) {
        requireNoTarget("reshape");
        return tensor().spec().isRowMajor() ? view("reshape", tensor().reshape(dims)) : self().copy().reshape(dims);
    }
}
