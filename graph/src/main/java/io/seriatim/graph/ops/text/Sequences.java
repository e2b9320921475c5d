package io.seriatim.graph.ops.text;

import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.SequenceOffsets;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Sequences of different lengths in one tensor.
 *
 * @param begins
 *            for each, the row of its first element
 * @param lengths
 *            for each, how many elements it has
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Sequences(int[] begins, int[] lengths) {
    /**
     * Sequences that are padded to one length.
     *
     * @param type
     *            the operation's, for messages
     * @param slot
     *            which input has the lengths, for messages
     * @param given
     *            one length a sequence
     * @param padded
     *            the length of all
     */
    static Sequences padded(String type, String slot, Tensor given, int padded) {
        int[] lengths = lengths(type, slot, given, padded);
        int[] begins = new int[lengths.length];
        Arrays.setAll(begins, i -> i * padded);
        return new Sequences(begins, lengths);
    }

    /**
     * Sequences that level-of-detail offsets divide rows into.
     *
     * @param type
     *            the operation's, for messages
     * @param slot
     *            which input is divided, for messages
     * @param lod
     *            the offsets
     * @param rows
     *            how many rows there are
     */
    static Sequences divided(String type, String slot, @Nullable Tensor lod, long rows) {
        long[] offsets = SequenceOffsets.of(type, slot, lod, rows);
        int[] begins = new int[offsets.length - 1];
        int[] lengths = new int[begins.length];
        Arrays.setAll(begins, i -> Math.toIntExact(offsets[i]));
        Arrays.setAll(lengths, i -> Math.toIntExact(offsets[i + 1] - offsets[i]));
        return new Sequences(begins, lengths);
    }

    /** Padded sequences if lengths are given, else those that offsets divide the first dimension into. */
    static Sequences of(String type, String slot, Tensor of, String lengthSlot, @Nullable Tensor lengths,
            @Nullable Tensor lod) {
        return lengths == null
                ? divided(type, slot, lod, of.shape().dim(0))
                : padded(type, lengthSlot, lengths, Checks.dim(of, 1));
    }

    /** Lengths from 0 to the one that all sequences are padded to. */
    static int[] lengths(String type, String slot, Tensor given, int padded) {
        return Checks.within(type, slot, given, 0, padded);
    }

    int count() {
        return begins.length;
    }
}
