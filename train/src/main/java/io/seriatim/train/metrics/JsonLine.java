package io.seriatim.train.metrics;

import io.seriatim.graph.util.Printable;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One line of metrics.jsonl: a flat JSON object (RFC 8259) without white space. NaN is {@code null} and the infinities
 * are the strings {@code "Infinity"} and {@code "-Infinity"}, because JSON has no numbers for them; all other numbers
 * are read back exactly.
 */
final class JsonLine {
    private final Map<String, Object> values;

    private JsonLine(Map<String, Object> values) {
        this.values = values;
    }

    /** Parses a line in the form that {@link Writer} writes; other forms are errors. */
    static JsonLine parse(String line) {
        return new JsonLine(new Parser(line).object());
    }

    /** Returns all keys, in order. */
    Iterable<String> keys() {
        return Collections.unmodifiableSet(values.keySet());
    }

    /** Returns the string value of a key. */
    String text(String key) {
        if (value(key) instanceof String text) {
            return text;
        }
        throw wrong(key, "a string");
    }

    /** Returns the number of a key, which may be NaN or infinite. */
    double number(String key) {
        return switch (value(key)) {
            case Double number -> number;
            case String text when text.equals("Infinity") -> Double.POSITIVE_INFINITY;
            case String text when text.equals("-Infinity") -> Double.NEGATIVE_INFINITY;
            case null, default -> throw wrong(key, "a number");
        };
    }

    /** Returns the number of a key, which must be an integer below 2^53. */
    long whole(String key) {
        double number = number(key);
        if (number == Math.rint(number) && Math.abs(number) < 0x1p53) {
            return (long) number;
        }
        throw wrong(key, "a whole number");
    }

    /** Returns the boolean value of a key. */
    boolean truth(String key) {
        if (value(key) instanceof Boolean truth) {
            return truth;
        }
        throw wrong(key, "true or false");
    }

    /** Returns whether both lines have equal values, except for the given keys. */
    boolean saysTheSame(JsonLine other, String... but) {
        Map<String, Object> mine = new LinkedHashMap<>(values);
        Map<String, Object> others = new LinkedHashMap<>(other.values);
        for (String key : but) {
            mine.remove(key);
            others.remove(key);
        }
        return mine.equals(others);
    }

    private @Nullable Object value(String key) {
        return values.get(key);
    }

    private IllegalArgumentException wrong(String key, String kind) {
        return new IllegalArgumentException("'" + key + "' must be " + kind + ", but is " + values.get(key));
    }

    /** Writes an object, key by key. */
    static final class Writer {
        private final StringBuilder out = new StringBuilder(160);

        Writer(String event) {
            out.append("{\"event\":");
            quote(event);
        }

        Writer text(String key, String value) {
            key(key);
            quote(value);
            return this;
        }

        Writer number(String key, double value) {
            key(key);
            if (Double.isNaN(value)) {
                out.append("null");
            } else if (Double.isInfinite(value)) {
                out.append(value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
            } else {
                out.append(value);
            }
            return this;
        }

        Writer whole(String key, long value) {
            key(key);
            out.append(value);
            return this;
        }

        Writer truth(String key, boolean value) {
            key(key);
            out.append(value);
            return this;
        }

        /** Seconds since 1970 with three decimals, without an exponent. */
        Writer wall(long millis) {
            key("wall");
            out.append(Math.floorDiv(millis, 1000)).append('.');
            out.append(Long.toString(1000 + Math.floorMod(millis, 1000)), 1, 4);
            return this;
        }

        /** Returns the line, with a line feed at the end. */
        String line() {
            return out.append("}\n").toString();
        }

        private void key(String key) {
            out.append(',');
            quote(key);
            out.append(':');
        }

        private void quote(String text) {
            out.append('"');
            for (int i = 0; i < text.length(); i++) {
                character(text, i);
            }
            out.append('"');
        }

        private void character(String text, int i) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (!Printable.isPrintable(whole(text, i))) {
                Printable.escape(out, c);
            } else {
                out.append(c);
            }
        }

        /** Returns the code point that a char belongs to. UTF-8 cannot encode a single surrogate. */
        private static int whole(String text, int i) {
            char c = text.charAt(i);
            boolean second = Character.isLowSurrogate(c) && i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
            return second ? text.codePointAt(i - 1) : text.codePointAt(i);
        }
    }

    private static final class Parser {
        /** Double.parseDouble alone would accept numbers that are not JSON, such as 1f and 0x1p3. */
        private static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

        private static final Pattern HEXADECIMAL = Pattern.compile("[0-9a-fA-F]{4}");

        private final String text;
        private int at;

        Parser(String text) {
            this.text = text;
        }

        Map<String, Object> object() {
            Map<String, Object> values = new LinkedHashMap<>();
            expect('{');
            do {
                String key = string();
                expect(':');
                if (values.put(key, value()) != null) {
                    throw wrong("the key '" + key + "' is there twice");
                }
            } while (taken(','));
            expect('}');
            if (at < text.length()) {
                throw wrong("something follows its end");
            }
            return values;
        }

        private Object value() {
            if (peek() == '"') {
                return string();
            }
            int start = at;
            while (peek() != ',' && peek() != '}') {
                at++;
            }
            String word = text.substring(start, at);
            return switch (word) {
                case "null" -> Double.NaN;
                case "true" -> true;
                case "false" -> false;
                default -> number(word);
            };
        }

        private Double number(String word) {
            if (!NUMBER.matcher(word).matches()) {
                throw wrong("'" + word + "' is no value");
            }
            return Double.valueOf(word);
        }

        private String string() {
            expect('"');
            StringBuilder out = new StringBuilder();
            while (peek() != '"') {
                char c = text.charAt(at++);
                out.append(c == '\\' ? escaped() : c);
            }
            at++;
            return out.toString();
        }

        private char escaped() {
            char c = peek();
            at++;
            if (c != 'u') {
                return c;
            }
            String digits = text.substring(at, Math.min(at + 4, text.length()));
            if (!HEXADECIMAL.matcher(digits).matches()) {
                throw wrong("'\\u" + digits + "' is no character");
            }
            at += 4;
            return (char) Integer.parseInt(digits, 16);
        }

        private char peek() {
            if (at == text.length()) {
                throw wrong("it ends too early");
            }
            return text.charAt(at);
        }

        private boolean taken(char c) {
            boolean there = peek() == c;
            at += there ? 1 : 0;
            return there;
        }

        private void expect(char c) {
            if (!taken(c)) {
                throw wrong("'" + c + "' must be there, but '" + peek() + "' is");
            }
        }

        private IllegalArgumentException wrong(String what) {
            return new IllegalArgumentException("at character " + at + ": " + what);
        }
    }
}
