package io.seriatim.graph;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.VarType;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** The part of a {@link Value} that changes the shape or moves elements. */
abstract sealed class ValueShapes extends ValueReductions permits ValueIndexing {
    ValueShapes(Graph graph, String name) {
        super(graph, name);
    }

    /** Replaces the inferred dimensions, which Paddle computes wrongly here: it counts them from the left. */
    Value withDims(long[] dims) {
        Block block = graph().block();
        block.put(block.get(name()).with(VarType.dense(dtype(), dims)));
        return self();
    }

    /**
     * The same elements with other dimensions.
     *
     * @param dims
     *            −1 for one that follows from the others, 0 for this one's
     * @return a tensor of that shape
     */
    public Value reshape(int... dims) {
        return graph().op("reshape2").in("X", self()).attr("shape", dims.clone()).all("Out", "XShape").getFirst();
    }

    /**
     * The dimensions in another order.
     *
     * @param axes
     *            for each dimension of the result, which one of this it is; each is there once
     * @return a tensor of that shape
     */
    public Value transpose(int... axes) {
        return graph().op("transpose2").key("transpose").in("X", self()).attr("axis", axes.clone()).all("Out", "XShape")
                .getFirst();
    }

    /**
     * All dimensions from one on as one.
     *
     * @param from
     *            the first of them
     * @return a tensor of that shape
     */
    public Value flatten(int from) {
        return graph().op("flatten_contiguous_range").key("flatten").in("X", self()).attr("start_axis", from)
                .attr("stop_axis", rank() - 1)
                .all("Out", "XShape")
                .getFirst();
    }

    /**
     * Without some dimensions of length 1.
     *
     * @param axes
     *            from −rank; none for all of length 1. One whose length is not known stays at run time unless it is 1
     * @return a tensor of that shape
     */
    public Value squeeze(int... axes) {
        for (int axis : axes) {
            if (dim(axis) > 1) {
                throw new IllegalArgumentException(
                        "A dimension that goes has length 1, but dimension " + axis + " of '" + name() + "' : " + type()
                                + " has not");
            }
        }
        return graph().op("squeeze2").in("X", self()).attr("axes", axes.clone()).all("Out", "XShape").getFirst();
    }

    /**
     * With more dimensions, of length 1.
     *
     * @param axes
     *            where they are in the result, which has this rank and as many more; from −rank of the result
     * @return a tensor of that shape
     */
    public Value unsqueeze(int... axes) {
        return graph().op("unsqueeze2").in("X", self()).attr("axes", axes.clone()).all("Out", "XShape").getFirst();
    }

    /**
     * Some dimensions backwards.
     *
     * @param axes
     *            which
     * @return of this shape
     */
    public Value flip(int... axes) {
        return graph().op("flip").in("X", self()).attr("axis", axes.clone()).one("Out");
    }

    /**
     * Moved along a dimension; what leaves at one end comes in at the other.
     *
     * @param shift
     *            how far
     * @param axis
     *            from −rank
     * @return of this shape
     */
    public Value roll(long shift, long axis) {
        return graph().op("roll").in("X", self()).attr("shifts", new long[]{shift}).attr("axis", new long[]{axis})
                .one("Out");
    }

    /**
     * In equal parts.
     *
     * @param count
     *            how many, a divisor of the dimension's length
     * @param axis
     *            from −rank
     * @return the parts
     */
    public List<Value> split(int count, int axis) {
        if (count < 1) {
            throw new IllegalArgumentException(
                    "There is at least 1 part, but '" + name() + "' is to be split into " + count);
        }
        return graph().op("split").in("X", self()).attr("num", count).attr("sections", new int[0]).attr("axis", axis)
                .list("Out", count);
    }

    /**
     * Each index of a dimension, which goes.
     *
     * @param axis
     *            from −rank; of known length
     * @return one for each index
     */
    public List<Value> unstack(int axis) {
        if (dim(axis) < 0) {
            throw new IllegalArgumentException("Dimension " + axis + " of '" + name() + "' : " + type()
                    + " is not known, so that there is no telling how many parts there are; take get(...) for one");
        }
        int count = Math.toIntExact(dim(axis));
        return graph().op("unstack").in("X", self()).attr("num", count).attr("axis", axis).list("Y", count);
    }

    /**
     * Dimensions of length 1 repeated.
     *
     * @param dims
     *            of the result, at least as many as this has; −1 for this one's
     * @return a tensor of that shape
     */
    public Value expand(int... dims) {
        int added = dims.length - rank();
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] < -1 || (dims[i] == -1 && i < added)) {
                throw new IllegalArgumentException(
                        "The dimensions of an expansion are from 0 on, or -1 for those of '" + name() + "' : " + type()
                                + ", but are " + Arrays.toString(dims));
            }
        }
        if (added < 0) {
            throw new IllegalArgumentException(
                    "'" + name() + "' : " + type() + " expands to at least as many dimensions, but not to "
                            + Arrays.toString(dims));
        }
        Value expanded = graph().op("expand_v2").key("expand").in("X", self()).attr("shape", dims.clone()).one("Out");
        return added == 0
                ? expanded
                : expanded.withDims(IntStream.range(0, dims.length)
                        .mapToLong(axis -> dims[axis] == -1 ? dim(axis - added) : dims[axis]).toArray());
    }

    /**
     * Repeated.
     *
     * @param times
     *            how often in each dimension
     * @return a tensor of that shape
     */
    public Value tile(int... times) {
        if (times.length == 0) {
            throw new IllegalArgumentException(
                    "'" + name() + "' is repeated a number of times in each dimension; give those numbers");
        }
        return graph().op("tile").in("X", self()).attr("repeat_times", times.clone()).one("Out");
    }

    /**
     * The dimensions as a tensor, for operations that take them at run time.
     *
     * @return int32 [rank]
     */
    public Value shapeTensor() {
        return graph().op("shape").in("Input", self()).one("Out");
    }
}
