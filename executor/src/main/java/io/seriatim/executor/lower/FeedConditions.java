package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.interpret.TakenBranches;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds the conditions of branches of the global block that follow from a few integers or truth values that runs are
 * given, such as a sampling rate.
 */
final class FeedConditions {
    /** The most elements of a tensor from which a condition may follow. */
    private static final int MOST_ELEMENTS = 16;
    /** The most operations between what a run is given and a condition. */
    private static final int MOST_STEPS = 32;

    private final ValueNumbering accesses;
    private final ValueTable values;
    private final @Nullable ArgType[] types;
    private final Predicate<OpDesc> isPure;
    /** By value, the operation that computes it. */
    private final Map<Integer, Access> producers = new HashMap<>();

    FeedConditions(ValueNumbering accesses, ValueTable values, @Nullable ArgType[] types, Predicate<OpDesc> isPure) {
        this.accesses = accesses;
        this.values = values;
        this.types = types;
        this.isPure = isPure;
    }

    /** Returns the condition of a branch that follows from elements of feeds; −1 for any other operation. */
    int of(Access access) {
        String name = access.runsBlocks() && accesses.block().index() == 0
                ? TakenBranches.condition(access.op())
                : null;
        int value = name == null ? -1 : access.read(name);
        if (value < 0 || values.constant(value) != null) {
            return -1;
        }
        if (producers.isEmpty()) {
            for (Access each : accesses.operations()) {
                Arrays.stream(each.writes()).forEach(written -> producers.put(written, each));
            }
        }
        ArgType type = types[value];
        // An integer may have other elements than 0 and 1, which other operations may read.
        return type != null && type.isKnown() && type.dtype() == DType.BOOL && type.spec().shape().size() == 1
                && steps(value, 0) <= MOST_STEPS
                        ? value
                        : -1;
    }

    /** Returns the operations that compute a value, and some before; more than the most if it is not eligible. */
    private int steps(int value, int before) {
        ArgType type = types[value];
        if (values.constant(value) != null || before > MOST_STEPS) {
            return before;
        }
        if (type == null || type.kind() != ArgType.Kind.DENSE || !type.isKnown() || type.dtype().isFloating()
                || type.dtype().isComplex() || type.spec().shape().size() > MOST_ELEMENTS
                || values.isPersistable(value)) {
            return MOST_STEPS + 1;
        }
        Access producer = producers.get(value);
        if (producer == null) {
            return before;
        }
        Operation schema = producer.schema();
        if (schema == null || !schema.isLowered() || !isPure.test(producer.op())) {
            return MOST_STEPS + 1;
        }
        int steps = before + 1;
        for (int read : producer.reads()) {
            steps = steps(read, steps);
        }
        return steps;
    }
}
