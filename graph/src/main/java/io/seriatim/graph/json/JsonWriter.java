package io.seriatim.graph.json;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Writes a JSON document piece by piece, on one line. Whole numbers and float64 are written so that reading them gives
 * the same number.
 */
public final class JsonWriter {
    private final Appendable out;
    /** Of each array and object that is open: the character that ends it. */
    private final Deque<Character> open = new ArrayDeque<>();
    private boolean needsComma;

    /**
     * Writes a document.
     *
     * @param out
     *            gets the characters
     */
    public JsonWriter(Appendable out) {
        this.out = out;
    }

    /**
     * Opens an object, whose members follow.
     *
     * @return this
     * @throws IOException
     *             if writing fails
     */
    public JsonWriter beginObject() throws IOException {
        return begin('{', '}');
    }

    /**
     * Opens an array, whose elements follow.
     *
     * @return this
     * @throws IOException
     *             if writing fails
     */
    public JsonWriter beginArray() throws IOException {
        return begin('[', ']');
    }

    private JsonWriter begin(char first, char last) throws IOException {
        separate().append(first);
        open.push(last);
        needsComma = false;
        return this;
    }

    /**
     * Closes the object or array that was opened last.
     *
     * @return this
     * @throws IOException
     *             if writing fails
     * @throws IllegalStateException
     *             if none is open
     */
    public JsonWriter end() throws IOException {
        if (open.isEmpty()) {
            throw new IllegalStateException("There is no open array or object to be closed");
        }
        out.append(open.pop());
        needsComma = true;
        return this;
    }

    /**
     * Writes the name of a member, whose value follows.
     *
     * @param name
     *            its name
     * @return this
     * @throws IOException
     *             if writing fails
     */
    public JsonWriter name(String name) throws IOException {
        separate();
        quote(name);
        out.append(':');
        needsComma = false;
        return this;
    }

    /**
     * Writes a text.
     *
     * @param text
     *            its characters
     * @return this
     * @throws IOException
     *             if writing fails
     * @throws IllegalArgumentException
     *             if it has half of a surrogate pair, which no file can hold
     */
    public JsonWriter value(String text) throws IOException {
        separate();
        quote(text);
        needsComma = true;
        return this;
    }

    /**
     * Writes a whole number.
     *
     * @param number
     *            the number
     * @return this
     * @throws IOException
     *             if writing fails
     */
    public JsonWriter value(long number) throws IOException {
        return plain(Long.toString(number));
    }

    /**
     * Writes a float64.
     *
     * @param number
     *            a finite number
     * @return this
     * @throws IOException
     *             if writing fails
     * @throws IllegalArgumentException
     *             if it is infinite or not a number, which JSON cannot say
     */
    public JsonWriter value(double number) throws IOException {
        if (!Double.isFinite(number)) {
            throw new IllegalArgumentException("JSON has finite numbers only, but this is " + number);
        }
        return plain(Double.toString(number));
    }

    /**
     * Writes a truth value.
     *
     * @param value
     *            the truth value
     * @return this
     * @throws IOException
     *             if writing fails
     */
    public JsonWriter value(boolean value) throws IOException {
        return plain(Boolean.toString(value));
    }

    /**
     * Writes null.
     *
     * @return this
     * @throws IOException
     *             if writing fails
     */
    public JsonWriter nothing() throws IOException {
        return plain("null");
    }

    private JsonWriter plain(String characters) throws IOException {
        separate().append(characters);
        needsComma = true;
        return this;
    }

    private Appendable separate() throws IOException {
        return needsComma ? out.append(',') : out;
    }

    private void quote(String text) throws IOException {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"', '\\' -> out.append('\\').append(c);
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < ' ' || c == 0x7f) {
                        out.append("\\u00").append(Character.forDigit(c >> 4, 16))
                                .append(Character.forDigit(c & 15, 16));
                    } else if (!Character.isSurrogate(c)) {
                        out.append(c);
                    } else if (Character.isHighSurrogate(c) && i + 1 < text.length()
                            && Character.isLowSurrogate(text.charAt(i + 1))) {
                        out.append(c).append(text.charAt(++i));
                    } else {
                        throw new IllegalArgumentException("A text for a file has whole characters, but character " + i
                                + " of this is half of a surrogate pair");
                    }
                }
            }
        }
        out.append('"');
    }
}
