package io.seriatim.train.data;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Maps characters to tokens: the distinct characters of a text, sorted by code point and numbered from 0. Immutable.
 */
public final class Vocabulary {
    /** The maximum number of tokens, because a token takes two bytes. */
    private static final int MOST = 1 << 16;

    private final int[] codePoints;
    // A look-up table for the first 256 code points: the token plus 1, or 0 if the character is missing.
    private final int[] early = new int[256];

    private Vocabulary(int... codePoints) {
        if (codePoints.length == 0 || codePoints.length > MOST) {
            throw new IllegalArgumentException(
                    "A vocabulary must have from 1 to " + MOST + " distinct characters, but the text has "
                            + codePoints.length);
        }
        this.codePoints = codePoints;
        for (int i = 0; i < codePoints.length && codePoints[i] < early.length; i++) {
            early[codePoints[i]] = i + 1;
        }
    }

    /**
     * Creates the vocabulary of a text.
     *
     * @param text
     *            a text that is not empty; the order and the frequency of its characters do not matter
     * @return the vocabulary
     * @throws IllegalArgumentException
     *             if the text has no characters, or more than 65,536 distinct ones
     */
    public static Vocabulary of(CharSequence text) {
        BitSet seen = new BitSet();
        for (int i = 0; i < text.length();) {
            int codePoint = Character.codePointAt(text, i);
            seen.set(codePoint);
            i += Character.charCount(codePoint);
        }
        return new Vocabulary(seen.stream().toArray());
    }

    /**
     * Returns the number of characters.
     *
     * @return from 1 to 65,536
     */
    public int size() {
        return codePoints.length;
    }

    /**
     * Returns all characters in the order of their tokens, from which {@link #of} creates an equal vocabulary.
     *
     * @return a text that contains each character once
     */
    public String characters() {
        return new String(codePoints, 0, codePoints.length);
    }

    /**
     * Returns whether a character has a token.
     *
     * @param codePoint
     *            any code point
     * @return true if the character is in the vocabulary
     */
    public boolean contains(int codePoint) {
        return find(codePoint) >= 0;
    }

    /**
     * Returns the token of a character.
     *
     * @param codePoint
     *            a character of this vocabulary
     * @return the token, from 0 to {@link #size} − 1
     * @throws IllegalArgumentException
     *             if the character is not in this vocabulary
     */
    public int token(int codePoint) {
        int token = find(codePoint);
        if (token < 0) {
            throw new IllegalArgumentException(unknown(codePoint));
        }
        return token;
    }

    /**
     * Encodes a text.
     *
     * @param text
     *            a text of characters of this vocabulary
     * @return one token for each code point
     * @throws IllegalArgumentException
     *             if a character is not in this vocabulary; the message names the first one and its position
     */
    public Tokens encode(CharSequence text) {
        char[] tokens = new char[text.length()];
        int count = 0;
        for (int i = 0; i < text.length();) {
            int codePoint = Character.codePointAt(text, i);
            int token = find(codePoint);
            if (token < 0) {
                throw new IllegalArgumentException(unknown(codePoint) + ", at place " + count + " of the text");
            }
            tokens[count++] = (char) token;
            i += Character.charCount(codePoint);
        }
        return new Tokens(count == tokens.length ? tokens : Arrays.copyOf(tokens, count));
    }

    /**
     * Decodes tokens.
     *
     * @param tokens
     *            the tokens, each from 0 to {@link #size} − 1
     * @return the text
     * @throws IllegalArgumentException
     *             if a token is out of range
     */
    public String decode(int... tokens) {
        StringBuilder text = new StringBuilder(tokens.length);
        for (int i = 0; i < tokens.length; i++) {
            if (tokens[i] < 0 || tokens[i] >= codePoints.length) {
                throw new IllegalArgumentException(
                        "A token must be from 0 to " + (codePoints.length - 1) + ", but that at place " + i + " is "
                                + tokens[i]);
            }
            text.appendCodePoint(codePoints[tokens[i]]);
        }
        return text.toString();
    }

    /** Returns the token, or a negative number if there is none. */
    private int find(int codePoint) {
        return codePoint >= 0 && codePoint < early.length
                ? early[codePoint] - 1
                : Arrays.binarySearch(codePoints, codePoint);
    }

    private String unknown(int codePoint) {
        boolean shown = Character.isValidCodePoint(codePoint) && !Character.isISOControl(codePoint)
                && Character.getType(codePoint) != Character.SURROGATE;
        return "The vocabulary of " + size() + " characters has no "
                + (shown ? "'" + Character.toString(codePoint) + "' " : "")
                + String.format("(U+%04X)", codePoint);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Vocabulary vocabulary && Arrays.equals(codePoints, vocabulary.codePoints);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(codePoints);
    }

    @Override
    public String toString() {
        return "Vocabulary[" + size() + "]";
    }
}
