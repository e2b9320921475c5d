package io.seriatim.graph.ops.common;

import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** The level-of-detail offsets that operations read, checked. */
public final class SequenceOffsets {
    private SequenceOffsets() {
    }

    /**
     * The row offsets of the sequences of the last level.
     *
     * @param type
     *            the operation's type
     * @param slot
     *            the slot of the variable that is divided
     * @param lod
     *            what a call got for {@link io.seriatim.graph.op.Lowering#lod}
     * @param rows
     *            how many rows the variable has
     * @return one for each sequence, and the end
     */
    public static long[] of(String type, String slot, @Nullable Tensor lod, long rows) {
        return of(type, slot, lod == null ? Lod.NONE : Lod.of(lod), rows).last();
    }

    /**
     * Checks offsets.
     *
     * @param type
     *            the operation's type
     * @param slot
     *            the slot of the variable that is divided
     * @param lod
     *            its offsets
     * @param rows
     *            how many rows the variable has
     * @return the offsets
     */
    public static Lod of(String type, String slot, Lod lod, long rows) {
        if (lod.isEmpty()) {
            throw new IllegalArgumentException("Operation '" + type + "': " + slot
                    + " must be divided into sequences, but has no LoD: feed it with offsets, Tensor.withLod");
        }
        if (lod.rows() != rows) {
            throw new IllegalArgumentException("Operation '" + type + "': the LoD of " + slot + " must end with its "
                    + rows + " rows, but ends with " + lod.rows());
        }
        return lod;
    }
}
