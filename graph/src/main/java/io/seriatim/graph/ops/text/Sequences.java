package io.seriatim.graph.ops.text;

import io.seriatim.graph.ops.common.Checks;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;

/**
 * Sequences of different lengths in one tensor.
 *
 * @param begins
 *            for each, the row of its first element
 * @param lengths
 *            for each, how many elements it has
 */
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

    /** Lengths from 0 to the one that all sequences are padded to. */
    static int[] lengths(String type, String slot, Tensor given, int padded) {
        return Checks.within(type, slot, given, 0, padded);
    }

    int count() {
        return begins.length;
    }
}
