package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Lowered;
import io.seriatim.graph.op.Operation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The operations of a plan that are lowered already. Equal operations on inputs of the same types, such as those of the
 * layers of a network, have the same results and steps.
 */
final class LoweredOperations {
    private final Map<OperationInputs, Entry> entries = new HashMap<>();

    /**
     * What an operation was lowered to.
     *
     * @param results
     *            the types of its results
     * @param lowered
     *            its steps
     */
    record Entry(Map<String, List<@Nullable ArgType>> results, Lowered lowered) {
    }

    /** Returns what an equal operation was lowered to; null if that is not known. */
    @Nullable
    Entry find(OperationInputs inputs) {
        return entries.get(inputs);
    }

    /**
     * Keeps what an operation was lowered to, if it is a function of its inputs and not one that may be folded: whether
     * that is done depends also on the use of the results.
     */
    void keep(Access access, Operation schema, KnownOperands source, OperationInputs inputs, Entry entry,
            ValueTable values) {
        if (!source.hasComputed() && access.isPure() && schema.lodInputs().isEmpty() && !schema.isOfShape()
                && hasVariables(access, values) && ShapeFolding.isFunction(entry.lowered())) {
            entries.put(inputs, entry);
        }
    }

    private static boolean hasVariables(Access access, ValueTable values) {
        for (int value : access.reads()) {
            if (values.constant(value) == null) {
                return true;
            }
        }
        return false;
    }
}
