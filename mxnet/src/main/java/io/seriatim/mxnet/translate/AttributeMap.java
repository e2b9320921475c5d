package io.seriatim.mxnet.translate;

import io.seriatim.mxnet.read.ElementTypes;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The attributes of a node, which files hold as Python's text: {@code "(3, 3)"}, {@code "True"}, {@code "None"}. */
final class AttributeMap {
    private static final int MOST_ENTRIES = 1 << 16;

    private final Map<String, String> texts;

    AttributeMap(Map<String, String> texts) {
        this.texts = texts;
    }

    /** Whether an attribute is given, and not None. */
    boolean has(String name) {
        String text = texts.get(name);
        return text != null && !text.trim().equals("None");
    }

    private @Nullable String find(String name) {
        return has(name) ? texts.get(name) : null;
    }

    String text(String name, String byDefault) {
        String text = find(name);
        return text == null ? byDefault : text.trim();
    }

    boolean flag(String name, boolean byDefault) {
        String text = find(name);
        return text == null ? byDefault : switch (text.trim().toLowerCase(Locale.ROOT)) {
            case "true", "1" -> true;
            case "false", "0" -> false;
            default -> throw wrong(name, "True or False");
        };
    }

    int integer(String name, int byDefault) {
        String text = find(name);
        return text == null ? byDefault : narrow(name, text);
    }

    int integer(String name) {
        require(name);
        return integer(name, 0);
    }

    double real(String name, double byDefault) {
        String text = find(name);
        return text == null ? byDefault : real(name, text);
    }

    double real(String name) {
        require(name);
        return real(name, 0);
    }

    /** Whole numbers, as a tuple, a list or a single number. */
    int[] integers(String name, int... byDefault) {
        String text = find(name);
        return text == null
                ? byDefault
                : entries(name, text).stream().mapToInt(each -> narrow(name, each)).toArray();
    }

    /** Whole numbers of a tuple of tuples, one after the other. */
    int[] nestedIntegers(String name) {
        String text = text(name, "()");
        return entries(name, "(" + text.replaceAll("[()\\[\\]]", "").replaceAll(",\\s*,", ",") + ")").stream()
                .mapToInt(each -> narrow(name, each)).toArray();
    }

    /** Whole numbers, null for None. */
    List<@Nullable Long> optionalIntegers(String name) {
        String text = find(name);
        List<@Nullable Long> all = new ArrayList<>();
        if (text != null) {
            for (String each : entries(name, text)) {
                all.add(each.equals("None") ? null : Long.valueOf(whole(name, each)));
            }
        }
        return all;
    }

    double[] reals(String name, double... byDefault) {
        String text = find(name);
        return text == null
                ? byDefault
                : entries(name, text).stream().mapToDouble(each -> real(name, each)).toArray();
    }

    DType dtype(String name, DType byDefault) {
        String text = find(name);
        if (text == null) {
            return byDefault;
        }
        String type = text.trim();
        DType dtype = type.chars().allMatch(Character::isDigit) && !type.isEmpty()
                ? ElementTypes.find(narrow(name, type))
                : ElementTypes.find(type);
        if (dtype == null) {
            throw wrong(name, "a type of elements of which there are tensors here");
        }
        return dtype;
    }

    private void require(String name) {
        if (!has(name)) {
            throw new IllegalArgumentException("the attribute '" + name + "' is missing");
        }
    }

    private List<String> entries(String name, String text) {
        String inner = text.trim();
        if (!inner.isEmpty() && (inner.charAt(0) == '(' || inner.charAt(0) == '[')) {
            char end = inner.charAt(0) == '(' ? ')' : ']';
            if (inner.length() < 2 || inner.charAt(inner.length() - 1) != end) {
                throw wrong(name, "a tuple of numbers");
            }
            inner = inner.substring(1, inner.length() - 1);
        }
        List<String> entries = Arrays.stream(inner.split(",", -1)).map(String::trim).toList();
        if (entries.size() > MOST_ENTRIES) {
            throw wrong(name, "a tuple of at most " + MOST_ENTRIES + " numbers");
        }
        // Python writes a tuple of one number with a comma behind it, and one without numbers as ().
        return entries.getLast().isEmpty() ? entries.subList(0, entries.size() - 1) : entries;
    }

    private int narrow(String name, String text) {
        long value = whole(name, text);
        if (value != (int) value) {
            throw wrong(name, "a whole number of 32 bits");
        }
        return (int) value;
    }

    private long whole(String name, String text) {
        String digits = text.trim();
        // Python 2 marks long numbers.
        digits = digits.endsWith("L") ? digits.substring(0, digits.length() - 1) : digits;
        try {
            return switch (digits) {
                case "True" -> 1;
                case "False" -> 0;
                default -> Long.parseLong(digits);
            };
        } catch (NumberFormatException e) {
            double value = real(name, digits);
            if (value != Math.rint(value) || Math.abs(value) > 1L << 53) {
                throw wrong(name, "whole");
            }
            return (long) value;
        }
    }

    private double real(String name, String text) {
        String digits = text.trim().toLowerCase(Locale.ROOT);
        try {
            return switch (digits) {
                case "inf", "+inf", "infinity" -> Double.POSITIVE_INFINITY;
                case "-inf", "-infinity" -> Double.NEGATIVE_INFINITY;
                case "nan" -> Double.NaN;
                case "true" -> 1;
                case "false" -> 0;
                default -> Double.parseDouble(digits);
            };
        } catch (NumberFormatException e) {
            throw (IllegalArgumentException) wrong(name, "a number").initCause(e);
        }
    }

    /** An error about an attribute's value. */
    IllegalArgumentException wrong(String name, String rule) {
        return new IllegalArgumentException(
                "the attribute '" + name + "' must be " + rule + ", but is \"" + texts.get(name) + "\"");
    }
}
