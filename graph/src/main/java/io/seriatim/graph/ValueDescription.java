package io.seriatim.graph;

import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.List;

/** The part of a {@link Value} that says what a variable is: its name, type and shape. */
abstract sealed class ValueDescription permits ValueArithmetic {
    private final Graph graph;
    private final String name;

    ValueDescription(Graph graph, String name) {
        this.graph = graph;
        this.name = name;
    }

    /** This object, whose type callers of the API know. */
    abstract Value self();

    /**
     * The variable's name.
     *
     * @return as in the program
     */
    public String name() {
        return name;
    }

    /**
     * Type and dimensions.
     *
     * @return as far as they are known
     */
    public VarType.TensorType type() {
        return desc().tensor();
    }

    private VarDesc desc() {
        VarDesc desc = graph.block().find(name);
        return desc != null ? desc : graph.anywhere(name);
    }

    /**
     * The elements' type.
     *
     * @return the type
     */
    public DType dtype() {
        return type().dtype();
    }

    /**
     * The dimensions.
     *
     * @return −1 where unknown
     */
    public List<Long> shape() {
        return type().dims();
    }

    /**
     * How many dimensions.
     *
     * @return from 0
     */
    public int rank() {
        return shape().size();
    }

    /**
     * A dimension.
     *
     * @param axis
     *            from −rank
     * @return its length, −1 if unknown
     */
    public long dim(int axis) {
        int rank = rank();
        if (axis < -rank || axis >= rank) {
            throw new IllegalArgumentException(
                    "Variable '" + name + "' is " + type() + ": it has no dimension " + axis);
        }
        return shape().get(axis < 0 ? axis + rank : axis);
    }

    /**
     * Whether no gradient flows through it.
     *
     * @return true for what is fed, and what depends only on that
     */
    public boolean stopsGradient() {
        return desc().stopsGradient();
    }

    Graph graph() {
        return graph;
    }

    void check(Graph other) {
        if (graph != other) {
            throw new IllegalArgumentException(
                    "Variable '" + name + "' belongs to another network; a network uses its own variables only");
        }
    }

    /** Refuses variables of a branch or step that is complete: they live only while it runs. */
    void checkVisible(Graph other) {
        check(other);
        if (graph.block().find(name) == null) {
            throw new IllegalArgumentException(
                    "'" + name + "' : " + type() + " belongs to a branch, loop or recurrent network that is complete;"
                            + " only what that returns can be used after it");
        }
    }
}
