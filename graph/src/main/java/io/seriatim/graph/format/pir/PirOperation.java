package io.seriatim.graph.format.pir;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An operation of PIR and its counterpart here: a line of the table.
 *
 * @param name
 *            its name in PIR, without dialect
 * @param type
 *            the type here
 * @param operands
 *            in PIR's order
 * @param parameters
 *            its attributes
 * @param fixed
 *            attributes here that follow from PIR's name
 * @param results
 *            in PIR's order
 */
record PirOperation(String name, String type, List<Operand> operands, List<Parameter> parameters,
        Map<String, String> fixed, List<Result> results) {

    /** An operand. */
    sealed interface Operand {
    }

    /**
     * An operand that is a variable.
     *
     * @param slot
     *            its slot
     * @param list
     *            whether it is a list of variables
     */
    record SlotOperand(String slot, boolean list) implements Operand {
    }

    /**
     * An operand that is an attribute here, unless it is computed.
     *
     * @param attribute
     *            the attribute, or null if there is none
     * @param filled
     *            {@code ints}, or the element type that an operation full gives it when it is written
     * @param tensor
     *            the slot of a tensor that takes the place of the attribute, or null
     * @param tensors
     *            the slot of several such tensors, or null
     */
    record AttributeOperand(@Nullable String attribute, String filled, @Nullable String tensor,
            @Nullable String tensors)
            implements
                Operand {
        boolean isInts() {
            return filled.equals(PirTable.INTS);
        }
    }

    /** An operand that has no counterpart, and is absent. */
    record AbsentOperand() implements Operand {
    }

    /**
     * An operand that has no counterpart, but must be there.
     *
     * @param dtype
     *            the name of the type of its elements
     */
    record StateOperand(String dtype) implements Operand {
    }

    /**
     * An attribute of PIR.
     *
     * @param name
     *            its name in PIR
     * @param attribute
     *            its name here, or null if it has no counterpart
     * @param kind
     *            its type in PIR, as the table says it
     * @param byDefault
     *            its value unless given, as the table says it, or null
     */
    record Parameter(String name, @Nullable String attribute, String kind, @Nullable String byDefault) {
    }

    /**
     * A result.
     *
     * @param slot
     *            the output slot, or null if it has no counterpart
     * @param list
     *            whether it is a list of variables
     */
    record Result(@Nullable String slot, boolean list) {
    }
}
