package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.portable.FloatRecurrence.Products;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The products of a kernel, for a recurrence or for its gradient: those with the weights of the gates, and others for a
 * cell whose candidate has weights of its own.
 *
 * @param gates
 *            those with the weights
 * @param candidate
 *            those with a candidate's own weights; null if it has none
 */
record CellProducts(Products gates, @Nullable Products candidate) {
    /** Returns null if there is no way to multiply with some of the weights; a candidate may have none of its own. */
    static @Nullable CellProducts of(Function<TensorSpec, @Nullable Products> way, TensorSpec weights,
            @Nullable TensorSpec ofCandidate) {
        Products gates = way.apply(weights);
        if (gates == null || ofCandidate == null) {
            return gates == null ? null : new CellProducts(gates, null);
        }
        Products candidate = way.apply(ofCandidate);
        if (candidate == null) {
            gates.close();
            return null;
        }
        return new CellProducts(gates, candidate);
    }

    void load() {
        gates.load();
        if (candidate != null) {
            candidate.load();
        }
    }

    long bytes() {
        return gates.bytes() + (candidate == null ? 0 : candidate.bytes());
    }

    long loadedBytes() {
        return gates.loadedBytes() + (candidate == null ? 0 : candidate.loadedBytes());
    }

    void release() {
        gates.release();
        if (candidate != null) {
            candidate.release();
        }
    }

    void close() {
        gates.close();
        if (candidate != null) {
            candidate.close();
        }
    }
}
