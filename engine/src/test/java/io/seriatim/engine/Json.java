package io.seriatim.engine;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;

/** A strict parser of JSON: objects become maps, arrays lists, and numbers doubles. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.blanks();
        if (json.at != text.length()) {
            throw json.wrong("the end");
        }
        return value;
    }

    static Object member(Map<?, ?> object, String name) {
        Object value = object.get(name);
        if (value == null) {
            throw new NoSuchElementException(name + " in " + object);
        }
        return value;
    }

    private IllegalArgumentException wrong(String expected) {
        return new IllegalArgumentException(
                "expected " + expected + " at " + at + ": " + text.substring(at, Math.min(at + 40, text.length())));
    }

    private void blanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean skip(char c) {
        blanks();
        if (at < text.length() && text.charAt(at) == c) {
            at++;
            return true;
        }
        return false;
    }

    private void expect(char c) {
        if (!skip(c)) {
            throw wrong("'" + c + "'");
        }
    }

    private Object value() {
        if (skip('{')) {
            return object();
        }
        if (skip('[')) {
            return array();
        }
        if (skip('"')) {
            return string();
        }
        return number();
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        if (skip('}')) {
            return members;
        }
        do {
            expect('"');
            String name = string();
            expect(':');
            members.put(name, value());
        } while (skip(','));
        expect('}');
        return members;
    }

    private List<Object> array() {
        List<Object> elements = new ArrayList<>();
        if (skip(']')) {
            return elements;
        }
        do {
            elements.add(value());
        } while (skip(','));
        expect(']');
        return elements;
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        while (text.charAt(at) != '"') {
            char c = text.charAt(at++);
            if (c < ' ') {
                throw wrong("no control character");
            }
            string.append(c == '\\' ? escaped(text.charAt(at++)) : c);
        }
        at++;
        return string.toString();
    }

    private char escaped(char c) {
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                at += 4;
                yield (char) Integer.parseInt(text.substring(at - 4, at), 16);
            }
            default -> throw wrong("an escape");
        };
    }

    private Double number() {
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        if (from == at) {
            throw wrong("a value");
        }
        return Double.valueOf(text.substring(from, at));
    }
}
