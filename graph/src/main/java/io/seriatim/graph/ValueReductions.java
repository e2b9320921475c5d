package io.seriatim.graph;

import java.util.Arrays;
import java.util.List;

/** The part of a {@link Value} with reductions, cumulative sums and sorting. */
abstract sealed class ValueReductions extends ValueFunctions permits ValueShapes {
    ValueReductions(Graph graph, String name) {
        super(graph, name);
    }

    private Value reduced(String type, String key, boolean keep, int... axes) {
        checkDistinct(axes);
        boolean logic = type.equals("reduce_all") || type.equals("reduce_any");
        Object dims = logic ? Arrays.stream(axes).asLongStream().toArray() : axes.clone();
        // For a sum over all dimensions Paddle sets reduce_all to false and gives no axes.
        boolean everything = axes.length == 0 && !type.equals("reduce_sum");
        return graph().op(type).key(key).in("X", self()).attr("dim", dims).attr("keep_dim", keep)
                .attr("reduce_all", everything).one("Out");
    }

    private void checkDistinct(int[] axes) {
        int rank = rank();
        if (Arrays.stream(axes).map(axis -> axis < 0 ? axis + rank : axis).distinct().count() != axes.length) {
            throw new IllegalArgumentException(
                    "Each dimension is named once, but those of '" + name() + "' as " + Arrays.toString(axes));
        }
    }

    /**
     * The sum over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value sum(int... axes) {
        return reduced("reduce_sum", "sum", false, axes);
    }

    /**
     * The sum over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value sumKeeping(int... axes) {
        return reduced("reduce_sum", "sum", true, axes);
    }

    /**
     * The mean over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value mean(int... axes) {
        return reduced("reduce_mean", "mean", false, axes);
    }

    /**
     * The mean over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value meanKeeping(int... axes) {
        return reduced("reduce_mean", "mean", true, axes);
    }

    /**
     * The largest over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value max(int... axes) {
        return reduced("reduce_max", "max", false, axes);
    }

    /**
     * The largest over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value maxKeeping(int... axes) {
        return reduced("reduce_max", "max", true, axes);
    }

    /**
     * The smallest over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value min(int... axes) {
        return reduced("reduce_min", "min", false, axes);
    }

    /**
     * The smallest over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value minKeeping(int... axes) {
        return reduced("reduce_min", "min", true, axes);
    }

    /**
     * The product over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value prod(int... axes) {
        return reduced("reduce_prod", "prod", false, axes);
    }

    /**
     * The product over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value prodKeeping(int... axes) {
        return reduced("reduce_prod", "prod", true, axes);
    }

    /**
     * Whether all hold, over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value all(int... axes) {
        return reduced("reduce_all", "all", false, axes);
    }

    /**
     * Whether all hold, over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value allKeeping(int... axes) {
        return reduced("reduce_all", "all", true, axes);
    }

    /**
     * Whether any holds, over some dimensions, which go.
     *
     * @param axes
     *            from −rank; none for all
     * @return without those dimensions
     */
    public Value any(int... axes) {
        return reduced("reduce_any", "any", false, axes);
    }

    /**
     * Whether any holds, over some dimensions, which stay with length 1.
     *
     * @param axes
     *            from −rank; none for all
     * @return with those dimensions of length 1
     */
    public Value anyKeeping(int... axes) {
        return reduced("reduce_any", "any", true, axes);
    }

    /**
     * ln Σ eˣ over a dimension, without overflow.
     *
     * @param axis
     *            from −rank
     * @return without that dimension
     */
    public Value logSumExp(int axis) {
        return graph().op("logsumexp").in("X", self()).attr("axis", new int[]{axis}).attr("keepdim", false)
                .attr("reduce_all", false)
                .one("Out");
    }

    /**
     * (Σ |x|^order)^(1/order) over a dimension.
     *
     * @param order
     *            2 for the length, infinity for the largest |x|, 0 for how many are not 0
     * @param axis
     *            from −rank
     * @return without that dimension
     */
    public Value norm(double order, int axis) {
        return graph().op("p_norm").in("X", self()).attr("porder", (float) order).attr("axis", axis)
                .attr("keepdim", false)
                .attr("epsilon", 1e-12f).attr("asvector", false)
                .one("Out");
    }

    /**
     * Where the largest element along a dimension is.
     *
     * @param axis
     *            from −rank
     * @return int64, without that dimension
     */
    public Value argMax(int axis) {
        return graph().op("arg_max").in("X", self()).attr("axis", (long) axis).attr("keepdims", false)
                .attr("flatten", false).attr("dtype", 3)
                .one("Out");
    }

    /**
     * Where the smallest element along a dimension is.
     *
     * @param axis
     *            from −rank
     * @return int64, without that dimension
     */
    public Value argMin(int axis) {
        return graph().op("arg_min").in("X", self()).attr("axis", (long) axis).attr("keepdims", false)
                .attr("flatten", false).attr("dtype", 3)
                .one("Out");
    }

    /**
     * In order along a dimension.
     *
     * @param axis
     *            from −rank
     * @param descending
     *            whether the largest come first
     * @return the values, and where they were (int64)
     */
    public List<Value> sort(int axis, boolean descending) {
        return graph().op("argsort").in("X", self()).attr("axis", axis).attr("descending", descending).all("Out",
                "Indices");
    }

    /**
     * The largest along a dimension, in order.
     *
     * @param k
     *            how many, from 1 to the dimension's length
     * @param axis
     *            from −rank
     * @return the values, and where they were (int64)
     */
    public List<Value> topK(int k, int axis) {
        return graph().op("top_k_v2").in("X", self()).attr("k", k).attr("axis", axis).attr("largest", true)
                .attr("sorted", true).all("Out",
                        "Indices");
    }

    /**
     * The sums up to each element along a dimension.
     *
     * @param axis
     *            from −rank
     * @return of this shape
     */
    public Value cumSum(int axis) {
        return graph().op("cumsum").in("X", self()).attr("axis", axis).one("Out");
    }
}
