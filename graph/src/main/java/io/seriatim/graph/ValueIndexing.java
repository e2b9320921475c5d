package io.seriatim.graph;

/** The part of a {@link Value} that selects elements by index, range or mask. */
abstract sealed class ValueIndexing extends ValueShapes permits Value {
    ValueIndexing(Graph graph, String name) {
        super(graph, name);
    }

    /**
     * A part of a dimension.
     *
     * @param axis
     *            from −rank
     * @param from
     *            the first index; negative from the end
     * @param to
     *            after the last; negative from the end; beyond the end for all
     * @return a tensor of that shape
     */
    public Value slice(int axis, int from, int to) {
        return graph().op("slice").in("Input", self()).attr("axes", new int[]{axis}).attr("starts", new int[]{from})
                .attr("ends", new int[]{to})
                .attr("infer_flags", new int[]{1}).attr("decrease_axis", new int[0]).one("Out");
    }

    /**
     * One index of a dimension, which goes.
     *
     * @param axis
     *            from −rank
     * @param index
     *            negative from the end
     * @return one dimension less
     */
    public Value get(int axis, int index) {
        int end = index == -1 || index == Integer.MAX_VALUE ? Integer.MAX_VALUE : index + 1;
        return graph().op("slice").key(name() + "_slice").bare().in("Input", self()).attr("axes", new int[]{axis})
                .attr("starts", new int[]{index})
                .attr("ends", new int[]{end}).attr("infer_flags", new int[]{1}).attr("decrease_axis", new int[]{axis})
                .one("Out");
    }

    /**
     * Slices at indices.
     *
     * @param indices
     *            int32 or int64, one dimension
     * @param axis
     *            along which dimension, from −rank
     * @return a slice for each index
     */
    public Value gather(Value indices, int axis) {
        return graph().op("gather").in("X", self()).in("Index", indices).attr("axis", axis).one("Out");
    }

    /**
     * Slices at index tuples.
     *
     * @param indices
     *            int32 or int64, [..., k]
     * @return a slice for each tuple
     */
    public Value gatherNd(Value indices) {
        return graph().op("gather_nd").in("X", self()).in("Index", indices).one("Out");
    }

    /**
     * One element for each index, along a dimension.
     *
     * @param indices
     *            int32 or int64, of this rank
     * @param axis
     *            along which dimension, from −rank
     * @return of the shape of the indices
     */
    public Value takeAlongAxis(Value indices, int axis) {
        return graph().op("take_along_axis").in("Input", self()).in("Index", indices).attr("Axis", axis).one("Result");
    }

    /**
     * The elements where a mask holds.
     *
     * @param mask
     *            bool, of this shape or one that broadcasts to it
     * @return one dimension, whose length depends on the values
     */
    public Value maskedSelect(Value mask) {
        return graph().op("masked_select").in("X", self()).in("Mask", mask).one("Y");
    }

    /**
     * Ones at these indices (int32 or int64, from 0 to below the number of classes), zeros elsewhere.
     *
     * @param classes
     *            the length of the added dimension
     * @return float32, of one dimension more
     */
    public Value oneHot(int classes) {
        return graph().op("one_hot_v2").key("one_hot").in("X", self()).attr("depth", classes).attr("dtype", 5)
                .attr("allow_out_of_range", false)
                .one("Out");
    }

    /**
     * One triangle of matrices, the rest cleared.
     *
     * @param lower
     *            which
     * @param diagonal
     *            where it ends; 0 for the main one
     * @return of this shape
     */
    public Value triangle(boolean lower, int diagonal) {
        return graph().op("tril_triu").in("X", self()).attr("lower", lower).attr("diagonal", diagonal).one("Out");
    }
}
