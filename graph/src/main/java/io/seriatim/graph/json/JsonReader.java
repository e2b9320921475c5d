package io.seriatim.graph.json;

import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.InputFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a JSON document (RFC 8259) whole: UTF-8 only, one value, no comments, no name twice in an object. It does not
 * recurse, and its memory is a multiple of the file's size.
 */
public final class JsonReader {
    /** The largest document in bytes. */
    public static final int LARGEST = 256 << 20;
    /** The deepest nesting of arrays and objects. */
    public static final int DEEPEST = 4096;

    private static final int DISTINCT_NAMES = 1024;
    private static final JsonValue[] NO_VALUES = {};
    private static final String[] NO_NAMES = {};
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    /** An array or object that is not closed yet. */
    private static final class Open {
        final int offset;
        final boolean isObject;
        final List<String> names;
        final List<JsonValue> values = new ArrayList<>();

        Open(int offset, boolean isObject) {
            this.offset = offset;
            this.isObject = isObject;
            this.names = isObject ? new ArrayList<>() : List.of();
        }
    }

    private final JsonSource source;
    private final byte[] bytes;
    private final Deque<Open> open = new ArrayDeque<>();
    /** The names of members, which are few and occur often. */
    private final Map<String, String> names = new HashMap<>();
    private int at;

    private JsonReader(JsonSource source) {
        this.source = source;
        this.bytes = source.bytes();
    }

    /**
     * Reads a file.
     *
     * @param file
     *            its path
     * @return the document's value
     * @throws FileFormatException
     *             if it is not JSON, larger than {@link #LARGEST}, or deeper than {@link #DEEPEST}; the message gives
     *             the byte offset
     * @throws IOException
     *             if it cannot be read
     */
    public static JsonValue read(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new FileFormatException(file.toString(), 0, "a folder, and no JSON: name the file in it");
        }
        long size = Files.size(InputFiles.regular(file));
        if (size > LARGEST) {
            throw new FileFormatException(file.toString(), 0, tooLarge(size));
        }
        return parse(file.toString(), Files.readAllBytes(file));
    }

    /**
     * Reads a document.
     *
     * @param name
     *            where it is from, for messages
     * @param document
     *            the document in UTF-8, which must not be changed afterwards
     * @return its value
     * @throws FileFormatException
     *             if it is not JSON, larger than {@link #LARGEST}, or deeper than {@link #DEEPEST}; the message gives
     *             the byte offset
     */
    public static JsonValue parse(String name, byte[] document) throws FileFormatException {
        if (document.length > LARGEST) {
            throw new FileFormatException(name, 0, tooLarge(document.length));
        }
        return new JsonReader(new JsonSource(name, document)).document();
    }

    private static String tooLarge(long size) {
        return "a JSON document has at most " + LARGEST + " bytes, but this has " + size;
    }

    private FileFormatException error(int offset, String rule) {
        return source.error(offset, rule);
    }

    private JsonValue document() throws FileFormatException {
        if (bytes.length >= BYTE_ORDER_MARK.length && bytes[0] == BYTE_ORDER_MARK[0] && bytes[1] == BYTE_ORDER_MARK[1]
                && bytes[2] == BYTE_ORDER_MARK[2]) {
            at = BYTE_ORDER_MARK.length;
        }
        JsonValue value = null;
        while (value == null) {
            value = closed(next());
        }
        skipSpace();
        if (at < bytes.length) {
            throw error(at, "a JSON document ends after its value, but there is " + found());
        }
        return value;
    }

    /** A value that is complete, or null if an array or object was opened. */
    private @Nullable JsonValue next() throws FileFormatException {
        skipSpace();
        return switch (peek()) {
            case '{', '[' -> opened();
            case '"' -> {
                int start = at;
                yield new JsonText(source, start, text());
            }
            case 't' -> literal("true", true);
            case 'f' -> literal("false", false);
            case 'n' -> literal("null", null);
            default -> number();
        };
    }

    /** An array or object that is empty, or null if there is something in it. */
    private @Nullable JsonValue opened() throws FileFormatException {
        int start = at;
        boolean isObject = bytes[at++] == '{';
        if (open.size() >= DEEPEST) {
            throw error(start, "arrays and objects are nested at most " + DEEPEST + " deep, but here is one more");
        }
        skipSpace();
        if (peek() == (isObject ? '}' : ']')) {
            at++;
            return isObject
                    ? new JsonObject(source, start, NO_NAMES, NO_VALUES)
                    : new JsonArray(source, start, NO_VALUES);
        }
        Open container = new Open(start, isObject);
        open.push(container);
        name(container);
        return null;
    }

    /** Puts a complete value where it belongs, and closes what ends behind it: the document, or null. */
    private @Nullable JsonValue closed(
            @Nullable JsonValue complete) throws FileFormatException {
        JsonValue value = complete;
        while (value != null && !open.isEmpty()) {
            Open container = open.element();
            container.values.add(value);
            skipSpace();
            int c = peek();
            if (c == ',') {
                at++;
                name(container);
                return null;
            }
            if (c != (container.isObject ? '}' : ']')) {
                throw error(at, "a comma or the end of the " + (container.isObject ? "object" : "array") + " of byte "
                        + container.offset + " is expected, but there is " + found());
            }
            at++;
            open.remove();
            value = container(container);
        }
        return value;
    }

    private JsonValue container(Open container) throws FileFormatException {
        JsonValue[] values = container.values.toArray(JsonValue[]::new);
        if (!container.isObject) {
            return new JsonArray(source, container.offset, values);
        }
        JsonObject object = new JsonObject(source, container.offset, container.names.toArray(String[]::new), values);
        String duplicate = object.duplicate();
        if (duplicate != null) {
            throw error(container.offset, "the members of an object have different names, but \""
                    + JsonSource.shown(duplicate) + "\" is there twice");
        }
        return object;
    }

    /** The name of an object's next member and its colon; an array's elements have none. */
    private void name(Open container) throws FileFormatException {
        if (!container.isObject) {
            return;
        }
        skipSpace();
        if (peek() != '"') {
            throw error(at, "the name of a member in double quotes is expected, but there is " + found());
        }
        String name = text();
        skipSpace();
        if (peek() != ':') {
            throw error(at, "a colon is expected after the name of a member, but there is " + found());
        }
        at++;
        String known = names.get(name);
        if (known == null) {
            known = name;
            if (names.size() < DISTINCT_NAMES) {
                names.put(name, name);
            }
        }
        container.names.add(known);
    }

    private JsonValue literal(String text, @Nullable Boolean value) throws FileFormatException {
        int start = at;
        for (int i = 0; i < text.length(); i++, at++) {
            if (peek() != text.charAt(i)) {
                throw error(start, "a value is expected, such as " + text + ", but there is " + found());
            }
        }
        return new JsonLiteral(source, start, value);
    }

    private JsonValue number() throws FileFormatException {
        int start = at;
        if (peek() == '-') {
            at++;
        }
        if (peek() == '0') {
            at++;
        } else {
            digits(start);
        }
        if (peek() == '.') {
            at++;
            digits(start);
        }
        if (peek() == 'e' || peek() == 'E') {
            at++;
            if (peek() == '+' || peek() == '-') {
                at++;
            }
            digits(start);
        }
        return new JsonNumber(source, start, at);
    }

    private void digits(int start) throws FileFormatException {
        int from = at;
        while (peek() >= '0' && peek() <= '9') {
            at++;
        }
        if (at == from) {
            throw error(at, at == start
                    ? "a value is expected, but there is " + found()
                    : "a digit of the number of byte " + start + " is expected, but there is " + found());
        }
    }

    private String text() throws FileFormatException {
        int start = ++at;
        while (at < bytes.length && bytes[at] != '"' && bytes[at] != '\\' && bytes[at] >= ' ') {
            at++;
        }
        if (peek() == '"') {
            return source.ascii(start, at++);
        }
        StringBuilder text = new StringBuilder(at - start + 16);
        int from = start;
        while (peek() != '"') {
            if (at == bytes.length) {
                throw error(at, "the text of byte " + (start - 1) + " ends with a double quote, but the file ends");
            }
            if (bytes[at] >= 0 && bytes[at] < ' ') {
                throw error(at, "control characters in a text are escaped, but there is " + found());
            }
            if (bytes[at] == '\\') {
                decode(text, from, at);
                escape(text);
                from = at;
            } else {
                at++;
            }
        }
        decode(text, from, at++);
        return text.toString();
    }

    private void decode(StringBuilder to, int from, int end) throws FileFormatException {
        try {
            to.append(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, end - from)));
        } catch (CharacterCodingException e) {
            FileFormatException error =
                    error(from, "texts are in UTF-8, but that of " + (end - from) + " bytes here is not");
            error.initCause(e);
            throw error;
        }
    }

    private void escape(StringBuilder to) throws FileFormatException {
        int start = at++;
        int c = peek();
        at++;
        switch (c) {
            case '"', '\\', '/' -> to.append((char) c);
            case 'b' -> to.append('\b');
            case 'f' -> to.append('\f');
            case 'n' -> to.append('\n');
            case 'r' -> to.append('\r');
            case 't' -> to.append('\t');
            case 'u' -> {
                char first = unit(start);
                if (!Character.isSurrogate(first)) {
                    to.append(first);
                    return;
                }
                char second = 0;
                if (peek() == '\\' && at + 1 < bytes.length && bytes[at + 1] == 'u') {
                    at += 2;
                    second = unit(start);
                }
                if (!Character.isSurrogatePair(first, second)) {
                    throw error(start, "an escaped surrogate is half of a pair, but the other half is missing");
                }
                to.append(first).append(second);
            }
            default -> {
                at = start + 1;
                throw error(start,
                        "a backslash is followed by one of \"\\/bfnrtu, but there is " + found());
            }
        }
    }

    private char unit(int start) throws FileFormatException {
        int unit = 0;
        for (int i = 0; i < 4; i++, at++) {
            int digit = Character.digit(peek(), 16);
            if (digit < 0) {
                throw error(start, "\\u is followed by four hexadecimal digits, but there is " + found());
            }
            unit = unit * 16 + digit;
        }
        return (char) unit;
    }

    private void skipSpace() {
        while (at < bytes.length
                && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r' || bytes[at] == '\t')) {
            at++;
        }
    }

    /** The next byte, or −1 at the end; bytes above 127 are negative, too. */
    private int peek() {
        return at < bytes.length ? bytes[at] : -1;
    }

    private String found() {
        if (at >= bytes.length) {
            return "the end of the file";
        }
        return bytes[at] > ' ' && bytes[at] < 127 ? "'" + (char) bytes[at] + "'" : "byte " + (bytes[at] & 0xff);
    }
}
