package io.seriatim.executor.lower;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Operation;
import io.seriatim.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The latest results of operations that {@link ShapeFolding} has folded, so that equal operations, and plans of a block
 * for further sizes, need not infer, lower and compute them again. Results are found by all that they follow from: the
 * types of the operation's inputs and their constant elements. Thread-safe.
 */
public final class FoldedResults {
    /** There are this many results for each operation at most; those used least recently are replaced. */
    private static final int MOST_RESULTS = 8;

    private final int[] equal;
    @GuardedBy("this")
    private final Map<OperationInputs, Folded> results = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * What an operation was folded to.
     *
     * @param types
     *            the types of the values that it writes
     * @param constants
     *            their elements
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Folded(ArgType[] types, Tensor[] constants) {
    }

    /** Creates the store of a block. */
    public FoldedResults(ValueNumbering accesses) {
        this.equal = EqualOperations.of(accesses);
    }

    /** Returns the key of an operation's results: what they follow from, if they follow from its inputs alone. */
    OperationInputs inputs(Access access, Operation schema, @Nullable ArgType[] types, ValueTable values) {
        return OperationInputs.of(equal[access.index()], access.reads(), !schema.isOfShape(), types, values);
    }

    /** Returns what an operation was folded to for the same inputs; null if that is not known. */
    synchronized @Nullable Folded find(OperationInputs inputs) {
        return results.get(inputs);
    }

    /** Keeps what an operation was just folded to, with its results in the tables. */
    void keep(Access access, OperationInputs inputs, @Nullable ArgType[] types, ValueTable values) {
        int[] writes = access.writes();
        ArgType[] made = new ArgType[writes.length];
        Tensor[] constants = new Tensor[writes.length];
        for (int i = 0; i < writes.length; i++) {
            ArgType type = types[writes[i]];
            Tensor constant = values.constant(writes[i]);
            if (type == null || constant == null) {
                return;
            }
            made[i] = type;
            constants[i] = constant;
        }
        put(inputs, new Folded(made, constants));
    }

    private synchronized void put(OperationInputs inputs, Folded folded) {
        results.put(inputs, folded);
        if (results.size() > MOST_RESULTS * equal.length) {
            results.remove(results.keySet().iterator().next());
        }
    }
}
