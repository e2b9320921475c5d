package io.seriatim.graph.format.pir;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Attribute.ScalarNumber;
import java.util.ArrayList;
import java.util.List;

/** Values of attributes as the table says them. */
final class PirLiterals {
    private PirLiterals() {
    }

    /** A literal as PirAttributes reads values: Boolean, Long, Double, String or a list of them. */
    static Object value(String literal) {
        if (literal.startsWith("[")) {
            List<Object> values = new ArrayList<>();
            String inside = literal.substring(1, literal.length() - 1);
            for (String each : inside.isEmpty() ? new String[0] : inside.split(",")) {
                values.add(value(each));
            }
            return values;
        }
        if (literal.startsWith("\"")) {
            return literal.substring(1, literal.length() - 1);
        }
        if (literal.equals("true") || literal.equals("false")) {
            return literal.equals("true");
        }
        if (literal.matches("-?[0-9]+")) {
            return Long.parseLong(literal);
        }
        if (literal.matches("-?[0-9.]+(e-?[0-9]+)?")) {
            return Double.parseDouble(literal);
        }
        Integer type = PirTypes.number(literal.equals("undefined") ? "Undefined" : literal);
        return type == null ? literal : Long.valueOf(type);
    }

    /** Whether a value is that of a literal; floats are compared as float32. */
    static boolean matches(String literal, Object value) {
        Object expected = value(literal);
        return expected.equals(value) || (expected instanceof Number a && value instanceof Number b
                && (float) a.doubleValue() == (float) b.doubleValue());
    }

    /** A literal as an attribute of a type. */
    static Attribute attribute(String literal, Class<? extends Attribute> type) {
        Object value = value(literal);
        return switch (value) {
            case Boolean flag -> new Attribute.Bool(flag);
            case Long number when type == Attribute.Int.class -> new Attribute.Int(Math.toIntExact(number));
            case String text -> new Attribute.Text(text);
            default -> throw new IllegalStateException("No " + type.getSimpleName() + " can be " + literal);
        };
    }

    /** An attribute that is not used, since a tensor takes its place. */
    static Attribute zero(Class<? extends Attribute> type) {
        return switch (type.getSimpleName()) {
            case "Int" -> new Attribute.Int(0);
            case "Int64" -> new Attribute.Int64(0);
            case "Real" -> new Attribute.Real(0);
            case "Float64" -> new Attribute.Float64(0);
            case "Bool" -> new Attribute.Bool(false);
            case "Text" -> new Attribute.Text("");
            case "Ints" -> new Attribute.Ints(List.of());
            case "Int64s" -> new Attribute.Int64s(List.of());
            case "Reals" -> new Attribute.Reals(List.of());
            case "Float64s" -> new Attribute.Float64s(List.of());
            case "Bools" -> new Attribute.Bools(List.of());
            case "Texts" -> new Attribute.Texts(List.of());
            case "Scalar" -> new Attribute.Scalar(new ScalarNumber.OfLong(0));
            case "Scalars" -> new Attribute.Scalars(List.of());
            default -> throw new IllegalStateException("No attribute of " + type.getSimpleName() + " is made up");
        };
    }
}
