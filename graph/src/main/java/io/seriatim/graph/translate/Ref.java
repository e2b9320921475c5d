package io.seriatim.graph.translate;

import io.seriatim.graph.op.ArgType;
import io.seriatim.tensor.DType;

/**
 * A variable of the program that is being built.
 *
 * @param name
 *            its name in the program
 * @param type
 *            what is known of it: its kind, its type, and its dimensions, −1 where unknown
 */
public record Ref(String name, ArgType type) {
    /**
     * The type of its elements.
     *
     * @return never null
     */
    public DType dtype() {
        return type.dtype();
    }

    /**
     * Its dimensions.
     *
     * @return −1 where unknown
     */
    public long[] dims() {
        return type.dims();
    }

    /**
     * A dimension.
     *
     * @param axis
     *            from −rank to rank − 1
     * @return −1 if unknown
     * @throws IllegalArgumentException
     *             if there is no such axis
     */
    public long dim(int axis) {
        long[] dims = type.dims();
        if (axis < -dims.length || axis >= dims.length) {
            throw new IllegalArgumentException("Variable '" + name + "' has " + dims.length
                    + " dimensions, but axis " + axis + " is wanted");
        }
        return dims[axis < 0 ? axis + dims.length : axis];
    }

    /**
     * The number of its dimensions.
     *
     * @return 0 for a scalar
     */
    public int rank() {
        return type.dims().length;
    }

    @Override
    public String toString() {
        return name + ": " + type;
    }
}
