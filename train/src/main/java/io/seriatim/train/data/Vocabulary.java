package io.seriatim.train.data;

import java.util.Arrays;
import java.util.BitSet;

/** Numbers for characters: the distinct characters of a text, sorted by code point and numbered from 0. Immutable. */
public final class Vocabulary {
    /** Tokens take two bytes each. */
    private static final int MOST = 1 << 16;

    private final int[] codePoints;
    // The first characters of Unicode, which most texts consist of, are looked up without a search: 0 for those that
    // are missing.
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
     * The characters of a text.
     *
     * @param text
     *            not empty; the order of its characters and how often they occur do not matter
     * @return the vocabulary
     * @throws IllegalArgumentException
     *             if it has no characters, or more than 65,536 distinct ones
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
     * How many characters there are: tokens are from 0 to one less.
     *
     * @return from 1 to 65,536
     */
    public int size() {
        return codePoints.length;
    }

    /**
     * All characters in the order of their tokens. {@link #of} makes an equal vocabulary of it.
     *
     * @return a text in which each occurs once
     */
    public String characters() {
        return new String(codePoints, 0, codePoints.length);
    }

    /**
     * Whether a character has a token.
     *
     * @param codePoint
     *            any
     * @return whether {@link #token} may be asked
     */
    public boolean contains(int codePoint) {
        return find(codePoint) >= 0;
    }

    /**
     * The token of a character.
     *
     * @param codePoint
     *            of this vocabulary
     * @return from 0 to {@link #size} − 1
     * @throws IllegalArgumentException
     *             if it is not of this vocabulary
     */
    public int token(int codePoint) {
        int token = find(codePoint);
        if (token < 0) {
            throw new IllegalArgumentException(unknown(codePoint));
        }
        return token;
    }

    /**
     * The tokens of a text.
     *
     * @param text
     *            of characters of this vocabulary
     * @return one for each character, by code point
     * @throws IllegalArgumentException
     *             that names the first character which is not of this vocabulary, and its place
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
     * The text of some tokens.
     *
     * @param tokens
     *            each from 0 to {@link #size} − 1
     * @return their characters
     * @throws IllegalArgumentException
     *             if there is no such token
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

    /** The token, or a negative number. */
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
