package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.interpret.Collective;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Operation;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The types of what operations compute from operands with open sizes. The interpreter runs such operations. Where their
 * results have known sizes in all iterations, as the product of weights with a cache that grows, the operations that
 * follow are compiled.
 */
final class OpenResults {
    private final ValueTable values;
    private final @Nullable ArgType[] types;
    private final Set<String> everShared;
    private final boolean[] isWrittenOnce;

    /**
     * Creates the results of a block.
     *
     * @param types
     *            by value, its inferred type, to which {@link #record} adds types
     * @param everShared
     *            the variables that share memory at any point of the program
     */
    OpenResults(ValueNumbering accesses, ValueTable values, @Nullable ArgType[] types, Set<String> everShared) {
        this.values = values;
        this.types = types;
        this.everShared = everShared;
        this.isWrittenOnce = accesses.isWrittenOnce();
    }

    /** Returns the types of an operation's results, as far as the known sizes of its operands decide them. */
    Map<String, List<@Nullable ArgType>> of(Access access, Operation schema) {
        if (!schema.lodInputs().isEmpty() || Collective.is(access.op())) {
            return Map.of();
        }
        try {
            return schema.infer(access.op(), new KnownOperands(access, types, values, false));
        } catch (IllegalArgumentException e) {
            // The sizes of the run decide whether it is an error.
            return Map.of();
        }
    }

    /** Records the types of what the interpreter will have computed. */
    void record(Access access, Map<String, List<@Nullable ArgType>> results) {
        results.forEach((slot, list) -> {
            for (int i = 0; i < list.size(); i++) {
                ArgType type = list.get(i);
                int value = type == null ? -1 : access.written(access.op().output(slot).get(i));
                if (type != null && value >= 0 && type.kind() == ArgType.Kind.DENSE && isOnlyOfRun(value)) {
                    types[value] = type;
                    if (type.isKnown()) {
                        values.declared(value, type.spec());
                    }
                }
            }
        });
    }

    /** Returns whether a value is computed once in a run, in memory of its own. */
    boolean isOnlyOfRun(int value) {
        return isWrittenOnce[value] && values.origin(value) == ValueNumbering.Origin.COMPUTED && isAlone(value);
    }

    /** Returns whether a value is no variable that outlives runs, and has no memory of another one. */
    boolean isAlone(int value) {
        return !values.isPersistable(value) && values.memory(value) == value
                && !everShared.contains(values.name(value));
    }
}
