package io.seriatim.graph.format.pir;

import io.seriatim.graph.json.JsonArray;
import io.seriatim.graph.json.JsonObject;
import io.seriatim.graph.json.JsonValue;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Attribute.ScalarNumber;
import io.seriatim.tensor.FileFormatException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Attributes of PIR. Any type of number is taken where a number is expected, since versions of PIR differ in these
 * types only.
 */
final class PirAttributes {
    private PirAttributes() {
    }

    /**
     * The value of a tagged attribute: Boolean, Long, Double, String, a List of such, or null if it says nothing that
     * has a meaning here.
     */
    static @Nullable Object read(JsonValue json) throws FileFormatException {
        JsonObject attribute = json.object();
        String tag = attribute.get("#").text();
        int dot = tag.indexOf('.');
        return switch (tag.substring(dot + 1)) {
            case "a_bool" -> attribute.get("D").bool();
            case "a_i32", "a_i64", "a_index" -> attribute.get("D").int64();
            case "a_f32", "a_f64" -> real(attribute);
            case "a_str", "a_layout", "a_tensorname" -> attribute.get("D").text();
            case "a_intarray" -> {
                List<Object> numbers = new ArrayList<>();
                for (JsonValue each : attribute.get("D").array().values()) {
                    numbers.add(each.int64());
                }
                yield numbers;
            }
            case "a_array" -> {
                List<Object> values = new ArrayList<>();
                for (JsonValue each : attribute.get("D").array().values()) {
                    Object value = read(each);
                    if (value == null || value instanceof List) {
                        throw each.error("an array of attributes has numbers, texts and truth values, but this is "
                                + "another kind");
                    }
                    values.add(value);
                }
                yield values;
            }
            case "a_scalar" -> scalar(attribute.get("D").array());
            case "a_dtype" -> {
                JsonValue name = attribute.get("D");
                Integer number = PirTypes.number(name.text());
                if (number == null) {
                    throw name.error("this type of elements is not supported: '" + PirReader.shown(name.text()) + "'");
                }
                yield Long.valueOf(number);
            }
            case "a_place", "a_type", PirTypes.NONE -> null;
            default -> throw json.error("attributes of kind '" + PirReader.shown(tag) + "' are not supported");
        };
    }

    private static Double real(JsonObject attribute) throws FileFormatException {
        JsonValue special = attribute.find("VD");
        if (special == null) {
            return attribute.get("D").float64();
        }
        return switch (special.text()) {
            case "NaN" -> Double.NaN;
            case "INF" -> Double.POSITIVE_INFINITY;
            case "-INF" -> Double.NEGATIVE_INFINITY;
            default -> throw special.error("VD is NaN, INF or -INF, but this is '"
                    + PirReader.shown(special.text()) + "'");
        };
    }

    private static Object scalar(JsonArray parts) throws FileFormatException {
        String type = parts.get(0).text();
        JsonValue value = parts.get(1);
        return switch (type) {
            case "bool" -> value.bool();
            case "float32", "float64" -> value.float64();
            case "float16" -> (double) Float.float16ToFloat((short) value.int32());
            case "bfloat16" -> (double) Float.intBitsToFloat(value.int32() << 16);
            case "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64" -> value.int64();
            case "complex64", "complex128" ->
                new ScalarNumber.OfComplex(value.float64(), parts.get(2).float64());
            default -> throw parts.error("a scalar of type '" + PirReader.shown(type) + "' is not supported");
        };
    }

    /**
     * A value as an attribute of a type.
     *
     * @param value
     *            what {@link #read} returned
     * @param type
     *            the record of the attribute
     * @param at
     *            the place of errors
     */
    static Attribute convert(Object value, Class<? extends Attribute> type, JsonValue at) throws FileFormatException {
        Attribute converted = convert(value, type);
        if (converted == null) {
            throw at.error("a value of type " + type.getSimpleName() + " is expected, but this is " + shown(value));
        }
        return converted;
    }

    static String shown(Object value) {
        return PirReader.shown(String.valueOf(value));
    }

    private static @Nullable Attribute convert(Object value, Class<? extends Attribute> type) {
        if (value instanceof List<?> values) {
            return list(values, type);
        }
        return switch (type.getSimpleName()) {
            case "Int" -> made(whole(value), number -> number.intValue() == number
                    ? new Attribute.Int(number.intValue())
                    : null);
            case "Int64" -> made(whole(value), Attribute.Int64::new);
            case "Real" -> made(real(value), number -> new Attribute.Real(number.floatValue()));
            case "Float64" -> made(real(value), Attribute.Float64::new);
            case "Bool" -> made(whole(value), number -> number == 0 || number == 1
                    ? new Attribute.Bool(number == 1)
                    : null);
            case "Text" -> text(value);
            case "Scalar" -> made(number(value), Attribute.Scalar::new);
            // One number stands for a list of one.
            default -> value instanceof String ? null : list(List.of(value), type);
        };
    }

    /** Some tolerances are texts. */
    private static @Nullable Attribute text(Object value) {
        return value instanceof String || value instanceof Double || value instanceof Long
                ? new Attribute.Text(value.toString())
                : null;
    }

    private static <T> @Nullable Attribute made(@Nullable T value, Function<T, @Nullable Attribute> make) {
        return value == null ? null : make.apply(value);
    }

    private static @Nullable Attribute list(List<?> values, Class<? extends Attribute> type) {
        return switch (type.getSimpleName()) {
            case "Ints" -> made(all(values, PirAttributes::whole), PirAttributes::ints);
            case "Int64s" -> made(all(values, PirAttributes::whole), Attribute.Int64s::new);
            case "Reals" -> made(all(values, PirAttributes::real),
                    numbers -> new Attribute.Reals(numbers.stream().map(Double::floatValue).toList()));
            case "Float64s" -> made(all(values, PirAttributes::real), Attribute.Float64s::new);
            case "Bools" -> made(all(values, PirAttributes::whole), PirAttributes::bools);
            case "Texts" -> made(all(values, each -> each instanceof String text ? text : null), Attribute.Texts::new);
            case "Scalars" -> made(all(values, PirAttributes::number), Attribute.Scalars::new);
            default -> null;
        };
    }

    private static @Nullable Attribute ints(List<Long> numbers) {
        return numbers.stream().anyMatch(each -> each.intValue() != each)
                ? null
                : new Attribute.Ints(numbers.stream().map(Long::intValue).toList());
    }

    private static @Nullable Attribute bools(List<Long> numbers) {
        return numbers.stream().allMatch(each -> each == 0 || each == 1)
                ? new Attribute.Bools(numbers.stream().map(each -> each == 1).toList())
                : null;
    }

    private static <T> @Nullable List<T> all(List<?> values, Function<Object, @Nullable T> convert) {
        List<T> converted = new ArrayList<>(values.size());
        for (Object value : values) {
            T each = convert.apply(value);
            if (each == null) {
                return null;
            }
            converted.add(each);
        }
        return converted;
    }

    private static @Nullable Long whole(Object value) {
        return switch (value) {
            case Long number -> number;
            case Boolean flag -> flag ? 1L : 0L;
            case Double number when number == Math.rint(number) && Math.abs(number) <= 0x1p63 -> number.longValue();
            default -> null;
        };
    }

    private static @Nullable Double real(Object value) {
        return switch (value) {
            case Long number -> Double.valueOf(number);
            case Boolean flag -> flag ? 1.0 : 0.0;
            case Double number -> number;
            default -> null;
        };
    }

    private static @Nullable ScalarNumber number(Object value) {
        return switch (value) {
            case Long number -> new ScalarNumber.OfLong(number);
            case Boolean flag -> new ScalarNumber.OfBool(flag);
            case Double number -> new ScalarNumber.OfDouble(number);
            case ScalarNumber number -> number;
            default -> null;
        };
    }
}
