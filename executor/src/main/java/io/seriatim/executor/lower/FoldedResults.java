package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.executor.ir.ValueTable;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Operation;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The latest results of operations that {@link ShapeFolding} has folded, so that plans of a block for further sizes
 * need not infer, lower and compute them again. Results are found by all that they follow from: the types of the
 * operation's inputs and their constant elements. Thread-safe.
 */
public final class FoldedResults {
    /** Operations have this many results at most; the oldest is replaced. */
    private static final int MOST_RESULTS = 8;

    /** By operation, the position among those of the block. */
    private final Map<Access, Integer> positions = new HashMap<>();
    /** By position, the latest results, the most recent one first; the arrays are never written. */
    private final AtomicReferenceArray<Folded @Nullable []> results;

    /**
     * What an operation was folded to.
     *
     * @param inputs
     *            the types of the values that it reads
     * @param elements
     *            their constant elements; none if the result follows from types only
     * @param values
     *            the values that it writes
     * @param types
     *            their types
     * @param constants
     *            their elements
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Folded(ArgType[] inputs, Tensor[] elements, int[] values, ArgType[] types, Tensor[] constants) {
        private boolean fits(int[] reads, @Nullable ArgType[] known, ValueTable table) {
            for (int i = 0; i < reads.length; i++) {
                ArgType type = known[reads[i]];
                if (type == null || !inputs[i].equals(type)) {
                    return false;
                }
            }
            for (int i = 0; i < elements.length; i++) {
                if (!areEqual(elements[i], table.constant(reads[i]))) {
                    return false;
                }
            }
            return true;
        }

        /** Returns whether two constants of the same type and shape surely have the same elements. */
        @SuppressWarnings("ReferenceEquality") // The same constant has the same elements.
        private static boolean areEqual(Tensor one, @Nullable Tensor other) {
            if (one == other) {
                return true;
            }
            return other != null && !one.dtype().isFloating() && !one.dtype().isComplex() && hasFew(one)
                    && hasFew(other) && Arrays.equals(one.toLongArray(), other.toLongArray());
        }

        private static boolean hasFew(Tensor tensor) {
            return tensor.shape().size() <= ShapeFolding.MOST_FOLDED && tensor.lod().equals(Lod.NONE);
        }
    }

    /** Creates the store of a block. */
    public FoldedResults(ValueNumbering accesses) {
        accesses.operations().forEach(access -> positions.put(access, positions.size()));
        this.results = new AtomicReferenceArray<>(positions.size());
    }

    /** Returns what an operation was folded to for the same inputs; null if that is not known. */
    @Nullable
    Folded find(Access access, @Nullable ArgType[] types, ValueTable values) {
        Integer at = positions.get(access);
        Folded[] known = at == null ? null : results.get(at);
        if (known != null) {
            for (Folded folded : known) {
                if (folded.fits(access.reads(), types, values)) {
                    return folded;
                }
            }
        }
        return null;
    }

    /** Keeps what an operation was just folded to, with its results in the tables. */
    void keep(Access access, Operation schema, @Nullable ArgType[] types, ValueTable values) {
        Integer at = positions.get(access);
        int[] reads = access.reads();
        ArgType[] inputs = new ArgType[reads.length];
        Tensor[] elements = new Tensor[schema.isOfShape() ? 0 : reads.length];
        for (int i = 0; i < reads.length; i++) {
            ArgType type = types[reads[i]];
            Tensor constant = values.constant(reads[i]);
            if (type == null || (i < elements.length && constant == null)) {
                return;
            }
            inputs[i] = type;
            if (i < elements.length && constant != null) {
                elements[i] = constant;
            }
        }
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
        if (at != null) {
            Folded folded = new Folded(inputs, elements, writes, made, constants);
            results.updateAndGet(at, known -> with(known, folded));
        }
    }

    private static Folded[] with(Folded @Nullable [] known, Folded latest) {
        if (known == null) {
            return new Folded[]{latest};
        }
        Folded[] all = new Folded[Math.min(known.length + 1, MOST_RESULTS)];
        all[0] = latest;
        System.arraycopy(known, 0, all, 1, all.length - 1);
        return all;
    }
}
