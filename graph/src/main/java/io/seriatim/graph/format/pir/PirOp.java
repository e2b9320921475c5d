package io.seriatim.graph.format.pir;

import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation of PIR as it is written.
 *
 * @param kind
 *            dialect and name, such as {@code 1.add}
 * @param attributes
 *            in order
 * @param operands
 *            the numbers of values, 0 for one that is absent
 * @param results
 *            in order
 * @param regions
 *            the blocks of an operation that runs blocks
 */
record PirOp(String kind, List<Given> attributes, List<Long> operands, List<Result> results, List<Region> regions) {

    /**
     * An attribute.
     *
     * @param name
     *            its name
     * @param kind
     *            its type, as the table says it
     * @param value
     *            as {@link PirAttributes#read} returns values
     */
    record Given(String name, String kind, Object value) {
    }

    /**
     * A result, or an argument of a block.
     *
     * @param number
     *            of the value, 0 for one that is absent
     * @param types
     *            its type, or those of its elements
     * @param isVector
     *            whether it is a list
     */
    record Result(long number, List<@Nullable VarType> types, boolean isVector) {
        static Result of(long number, @Nullable VarType type) {
            List<@Nullable VarType> types = new ArrayList<>();
            types.add(type);
            return new Result(number, types, false);
        }
    }

    /**
     * A block.
     *
     * @param arguments
     *            its arguments
     * @param ops
     *            its operations
     */
    record Region(List<Result> arguments, List<PirOp> ops) {
    }

    /**
     * A parameter, which is written in a form of its own.
     *
     * @param name
     *            its name
     * @param number
     *            of its value
     * @param type
     *            its type
     * @param stops
     *            whether no gradient flows through it
     */
    record Parameter(String name, long number, VarType type, boolean stops) {
    }
}
