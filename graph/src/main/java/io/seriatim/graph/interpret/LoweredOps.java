package io.seriatim.graph.interpret;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Lowered;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The steps of operations for the types and shapes of their operands, where these alone decide on them. Loops meet the
 * same ones in each run, and inference and lowering take longer than small kernels. Thread-safe.
 */
final class LoweredOps {
    /** The most entries that are kept: those used last. */
    private static final int MOST = 4096;
    /** Steps with larger constants are not kept. */
    private static final long MOST_BYTES = 4096;

    @GuardedBy("this")
    private final Map<Key, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * What was inferred.
     *
     * @param op
     *            as it is run
     * @param types
     *            of its outputs
     * @param lowered
     *            its steps
     */
    record Entry(OpDesc op, Map<String, List<@Nullable ArgType>> types, Lowered lowered) {
    }

    /** An operation of a program with types and dimensions of its operands, in the order of its slots. */
    static final class Key {
        private final OpDesc op;
        private final List<@Nullable DType> dtypes;
        private final long[] dims;
        private final int hash;

        private Key(OpDesc op, List<@Nullable DType> dtypes, long[] dims) {
            this.op = op;
            this.dtypes = dtypes;
            this.dims = dims;
            hash = 31 * System.identityHashCode(op) + Arrays.hashCode(dims);
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // Equal operations of other programs get entries of their own.
        public boolean equals(@Nullable Object other) {
            return other instanceof Key key && op == key.op && Arrays.equals(dims, key.dims)
                    && dtypes.equals(key.dtypes);
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    /** The key of an operation; null if more than the types of tensors decides on its steps. */
    static @Nullable Key key(OpDesc op, Operation schema, Environment environment) {
        if (!schema.isLowered() || schema.effects().contains(Effect.RANDOM) || Collective.isComputation(op)
                || !schema.lodInputs().isEmpty()) {
            return null;
        }
        List<@Nullable DType> dtypes = new ArrayList<>(4);
        long[] dims = new long[16];
        int count = 0;
        for (List<String> names : op.inputs().values()) {
            for (String name : names) {
                Object value = name.equals(GradientRule.EMPTY) ? null : environment.find(name);
                if (value == null) {
                    dtypes.add(null);
                } else if (value instanceof Tensor tensor) {
                    int rank = tensor.shape().rank();
                    dims = count + rank >= dims.length ? Arrays.copyOf(dims, 2 * (count + rank + 1)) : dims;
                    dtypes.add(tensor.dtype());
                    dims[count++] = rank;
                    for (int axis = 0; axis < rank; axis++) {
                        dims[count++] = tensor.shape().dim(axis);
                    }
                } else {
                    return null;
                }
            }
        }
        return new Key(op, dtypes, Arrays.copyOf(dims, count));
    }

    @Nullable
    synchronized Entry find(Key key) {
        return entries.get(key);
    }

    synchronized void put(Key key, Entry entry) {
        for (Step step : entry.lowered().steps()) {
            for (Operand operand : step.inputs()) {
                if (operand != null && operand.source() instanceof Operand.Source.Constant(Tensor tensor)
                        && tensor.spec().bytes() > MOST_BYTES) {
                    return;
                }
            }
        }
        entries.put(key, entry);
        if (entries.size() > MOST) {
            entries.remove(entries.keySet().iterator().next());
        }
    }
}
