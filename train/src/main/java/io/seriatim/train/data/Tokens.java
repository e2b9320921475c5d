package io.seriatim.train.data;

import java.util.Objects;

/**
 * A sequence of tokens from 0 to 65,535, each of which represents a character of a {@link Vocabulary}. Immutable; takes
 * two bytes per token.
 */
public final class Tokens {
    private final char[] all;
    private final int from;
    private final int length;

    /** Creates a sequence without copying the array. */
    Tokens(char[] all) {
        this(all, 0, all.length);
    }

    private Tokens(char[] all, int from, int length) {
        this.all = all;
        this.from = from;
        this.length = length;
    }

    /**
     * Creates a sequence.
     *
     * @param tokens
     *            the tokens, each from 0 to 65,535
     * @return the sequence
     */
    public static Tokens of(int... tokens) {
        char[] all = new char[tokens.length];
        for (int i = 0; i < all.length; i++) {
            if (tokens[i] < 0 || tokens[i] > Character.MAX_VALUE) {
                throw new IllegalArgumentException(
                        "A token must be from 0 to 65535, but that at " + i + " is " + tokens[i]);
            }
            all[i] = (char) tokens[i];
        }
        return new Tokens(all);
    }

    /**
     * Returns the number of tokens.
     *
     * @return at least 0
     */
    public int length() {
        return length;
    }

    /**
     * Returns one token.
     *
     * @param index
     *            from 0 to {@link #length} − 1
     * @return the token, from 0 to 65,535
     */
    public int get(int index) {
        return all[from + Objects.checkIndex(index, length)];
    }

    /**
     * Returns a part of the sequence, without copying it.
     *
     * @param begin
     *            the first index
     * @param end
     *            the index after the last
     * @return the part
     */
    public Tokens slice(int begin, int end) {
        Objects.checkFromToIndex(begin, end, length);
        return new Tokens(all, from + begin, end - begin);
    }

    /**
     * Copies the sequence.
     *
     * @return all tokens
     */
    public int[] toArray() {
        int[] copy = new int[length];
        for (int i = 0; i < length; i++) {
            copy[i] = all[from + i];
        }
        return copy;
    }

    @Override
    public String toString() {
        return "Tokens[" + length + "]";
    }
}
