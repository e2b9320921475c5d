package io.seriatim.graph.json;

import io.seriatim.tensor.FileFormatException;

/**
 * A value of a JSON document. Each method that converts it throws if it is of another kind; the message has the byte
 * offset of the value in its file.
 */
public abstract sealed class JsonValue permits JsonObject, JsonArray, JsonText, JsonNumber, JsonLiteral {
    private final JsonSource source;
    private final int offset;

    JsonValue(JsonSource source, int offset) {
        this.source = source;
        this.offset = offset;
    }

    final JsonSource source() {
        return source;
    }

    /**
     * Its place in the file.
     *
     * @return the offset of its first byte
     */
    public final int offset() {
        return offset;
    }

    /** The kind of value with its article, as messages say it. */
    abstract String kind();

    /**
     * An error in the file at this value.
     *
     * @param rule
     *            the rule that a valid file follows, and the value that was found
     * @return an exception to throw
     */
    public final FileFormatException error(String rule) {
        return source.error(offset, rule);
    }

    private FileFormatException expected(String kind) {
        return error(kind + " is expected here, but this is " + kind());
    }

    /**
     * As an object.
     *
     * @return this
     * @throws FileFormatException
     *             if it is not an object
     */
    public JsonObject object() throws FileFormatException {
        throw expected("an object");
    }

    /**
     * As an array.
     *
     * @return this
     * @throws FileFormatException
     *             if it is not an array
     */
    public JsonArray array() throws FileFormatException {
        throw expected("an array");
    }

    /**
     * As a text.
     *
     * @return its characters
     * @throws FileFormatException
     *             if it is not a text
     */
    public String text() throws FileFormatException {
        throw expected("a text");
    }

    /**
     * As a whole number of 64 bits.
     *
     * @return the number, exactly
     * @throws FileFormatException
     *             if it is not a number, not whole, or out of range
     */
    public long int64() throws FileFormatException {
        throw expected("a whole number");
    }

    /**
     * As a whole number of 32 bits.
     *
     * @return the number, exactly
     * @throws FileFormatException
     *             if it is not a number, not whole, or out of range
     */
    public final int int32() throws FileFormatException {
        long value = int64();
        if (value != (int) value) {
            throw error("a whole number of 32 bits is expected here, but this is " + value);
        }
        return (int) value;
    }

    /**
     * As a float64.
     *
     * @return the float64 that is nearest to the number
     * @throws FileFormatException
     *             if it is not a number, or out of the range of finite numbers
     */
    public double float64() throws FileFormatException {
        throw expected("a number");
    }

    /**
     * As a truth value.
     *
     * @return the truth value
     * @throws FileFormatException
     *             if it is not true or false
     */
    public boolean bool() throws FileFormatException {
        throw expected("true or false");
    }

    /**
     * Whether it is null.
     *
     * @return false for every other value
     */
    public boolean isNull() {
        return false;
    }
}
