package io.seriatim.tensor.array;

import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.ArgReduction;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.TopK;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The part of an {@link NDArray} with reductions and matrix products. */
abstract sealed class ArrayReductions extends ArrayFunctions permits ArrayIndexing {
    ArrayReductions(NDArrays home, Storage storage, Tensor tensor, List<NDArray> targets) {
        super(home, storage, tensor, targets);
    }

    /**
     * Computes the sum along some axes, which are removed.
     *
     * @param axes
     *            the axes, from −rank; none for all
     * @return an array of fewer dimensions
     */
    public NDArray sum(int... axes) {
        return reduce("sum", Reduction.Function.SUM, false, axes);
    }

    /**
     * Computes the mean along some axes, which are removed.
     *
     * @param axes
     *            the axes, from −rank; none for all
     * @return an array of fewer dimensions
     */
    public NDArray mean(int... axes) {
        return reduce("mean", Reduction.Function.MEAN, false, axes);
    }

    /**
     * Computes the largest element along some axes, which are removed.
     *
     * @param axes
     *            the axes, from −rank; none for all
     * @return an array of fewer dimensions
     */
    public NDArray max(int... axes) {
        return reduce("max", Reduction.Function.MAX, false, axes);
    }

    /**
     * Computes the smallest element along some axes, which are removed.
     *
     * @param axes
     *            the axes, from −rank; none for all
     * @return an array of fewer dimensions
     */
    public NDArray min(int... axes) {
        return reduce("min", Reduction.Function.MIN, false, axes);
    }

    /**
     * Computes the product along some axes, which are removed.
     *
     * @param axes
     *            the axes, from −rank; none for all
     * @return an array of fewer dimensions
     */
    public NDArray prod(int... axes) {
        return reduce("prod", Reduction.Function.PRODUCT, false, axes);
    }

    /**
     * Reduces along some axes.
     *
     * @param function
     *            the function
     * @param keepDims
     *            whether the axes stay, with length 1
     * @param axes
     *            the axes, from −rank; none for all
     * @return the reduced array
     */
    public NDArray reduce(Reduction.Function function, boolean keepDims, int... axes) {
        return reduce(function.toString().toLowerCase(Locale.ROOT), function, keepDims, axes);
    }

    private NDArray reduce(String name, Reduction.Function function, boolean keepDims, int... axes) {
        return apply(name, new Reduction(function, Arrays.stream(axes).boxed().toList(), keepDims));
    }

    /**
     * The index of the largest element along an axis.
     *
     * @param axis
     *            from −rank
     * @return int64, without the axis
     */
    public NDArray argMax(int axis) {
        return apply("argMax", new ArgReduction(true, axis, false));
    }

    /**
     * The k largest elements along an axis, in order.
     *
     * @param k
     *            the number of elements
     * @param axis
     *            from −rank
     * @return their values, and their indices as int64
     */
    public List<NDArray> topK(long k, int axis) {
        TopK computation = new TopK(k, axis, true);
        storage().requireOpen();
        TensorSpec[] specs = computation.infer(tensor().spec());
        List<NDArray> results = results("topK", specs);
        ArrayOps.compute("topK", computation, List.of(plain()), results);
        return results;
    }

    /**
     * The matrix product.
     *
     * @param y
     *            an array of the type of this one; leading dimensions broadcast
     * @return [..., m, n]
     */
    public NDArray matmul(NDArray y) {
        return apply("matmul", MatMul.PLAIN, y);
    }

    /**
     * The matrix product of transposes.
     *
     * @param y
     *            an array of the type of this one; leading dimensions broadcast
     * @param transposeThis
     *            whether this is transposed
     * @param transposeY
     *            whether y is transposed
     * @return [..., m, n]
     */
    public NDArray matmul(NDArray y, boolean transposeThis, boolean transposeY) {
        return apply("matmul", new MatMul(transposeThis, transposeY, false, List.of()), y);
    }
}
