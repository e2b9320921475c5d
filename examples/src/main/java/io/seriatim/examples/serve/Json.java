package io.seriatim.examples.serve;

import io.seriatim.examples.serve.Predictor.Output;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The subset of JSON that requests and answers use. A request is one example, {@code 1,2,3} or {@code [1,2,3]}, or
 * several, such as {@code [[1,2,3],[4,5,6]]}; the numbers of an example may be nested further, for instance for images.
 */
final class Json {
    private static final int MOST_DEPTH = 8;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static List<float[]> examples(String text) throws RefusedException {
        String body = text.strip();
        Json json = new Json(body.startsWith("[") ? body : "[" + body + "]");
        List<float[]> examples = new ArrayList<>();
        json.expect('[');
        if (json.peek() == '[') {
            do {
                Floats one = new Floats();
                json.array(one, 1);
                examples.add(one.toArray());
            } while (json.skip(','));
            json.expect(']');
        } else {
            json.at = 0;
            Floats one = new Floats();
            json.array(one, 0);
            examples.add(one.toArray());
        }
        if (json.peek() != 0) {
            throw json.wrong("the end");
        }
        return examples;
    }

    private void array(Floats to, int depth) throws RefusedException {
        if (depth > MOST_DEPTH) {
            throw new RefusedException(400, "arrays are nested in at most " + MOST_DEPTH + " others");
        }
        expect('[');
        do {
            if (peek() == '[') {
                array(to, depth + 1);
            } else {
                to.add(number());
            }
        } while (skip(','));
        expect(']');
    }

    private float number() throws RefusedException {
        peek();
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        float value;
        try {
            value = Float.parseFloat(text.substring(from, at));
        } catch (NumberFormatException e) {
            at = from;
            throw wrong("a number");
        }
        if (!Float.isFinite(value)) {
            throw new RefusedException(400, text.substring(from, at) + " is too large for a float32");
        }
        return value;
    }

    /** Returns the next character that is not white space, or 0 at the end. */
    private char peek() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    private boolean skip(char c) {
        boolean there = peek() == c;
        if (there) {
            at++;
        }
        return there;
    }

    private void expect(char c) throws RefusedException {
        if (!skip(c)) {
            throw wrong("'" + c + "'");
        }
    }

    private RefusedException wrong(String expected) {
        String found = peek() == 0 ? "the end" : "'" + peek() + "'";
        return new RefusedException(400,
                "send numbers as 1,2,3 or [[1,2,3],[4,5,6]]: at character " + at + " there should be " + expected
                        + ", but there is " + found);
    }

    /** A list of floats. */
    private static final class Floats {
        private float[] values = new float[16];
        private int size;

        void add(float value) {
            if (size == values.length) {
                values = Arrays.copyOf(values, 2 * size);
            }
            values[size++] = value;
        }

        float[] toArray() {
            return Arrays.copyOf(values, size);
        }
    }

    /** Formats an answer, {@code {"name":{"shape":[2,3],"values":[…]},…}}; numbers that JSON lacks are null. */
    static String of(Map<String, Output> outputs) {
        StringBuilder json = new StringBuilder();
        outputs.forEach((name, output) -> {
            json.append(json.isEmpty() ? "{" : ",").append(quoted(name)).append(":{\"shape\":")
                    .append(Arrays.toString(output.shape()).replace(" ", "")).append(",\"values\":[");
            for (int i = 0; i < output.values().length; i++) {
                float value = output.values()[i];
                json.append(i == 0 ? "" : ",").append(Float.isFinite(value) ? Float.toString(value) : "null");
            }
            json.append("]}");
        });
        return json.append('}').toString();
    }

    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append("\\u%04x".formatted((int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
