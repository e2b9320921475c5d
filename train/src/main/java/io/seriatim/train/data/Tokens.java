package io.seriatim.train.data;

import java.util.Objects;

/**
 * A long sequence of numbers from 0 to 65,535, each of which stands for a character of a {@link Vocabulary}. Immutable;
 * two bytes a number.
 */
public final class Tokens {
    private final char[] all;
    private final int from;
    private final int length;

    /** Takes the array over. */
    Tokens(char[] all) {
        this(all, 0, all.length);
    }

    private Tokens(char[] all, int from, int length) {
        this.all = all;
        this.from = from;
        this.length = length;
    }

    /**
     * A copy of some numbers.
     *
     * @param tokens
     *            each from 0 to 65,535
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
     * How many there are.
     *
     * @return from 0
     */
    public int length() {
        return length;
    }

    /**
     * One of them.
     *
     * @param index
     *            from 0 to {@link #length} − 1
     * @return from 0 to 65,535
     */
    public int get(int index) {
        return all[from + Objects.checkIndex(index, length)];
    }

    /**
     * A part, without a copy.
     *
     * @param begin
     *            the first
     * @param end
     *            after the last
     * @return the part
     */
    public Tokens slice(int begin, int end) {
        Objects.checkFromToIndex(begin, end, length);
        return new Tokens(all, from + begin, end - begin);
    }

    /**
     * A copy.
     *
     * @return all numbers
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
