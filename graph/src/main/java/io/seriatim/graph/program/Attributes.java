package io.seriatim.graph.program;

import io.seriatim.graph.util.Printable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Attributes from Java values, and as text. */
public final class Attributes {
    private Attributes() {
    }

    static Attribute of(Object value) {
        return switch (value) {
            case Attribute attribute -> attribute;
            case Integer i -> new Attribute.Int(i);
            case Long l -> new Attribute.Int64(l);
            case Float f -> new Attribute.Real(f);
            case Double d -> new Attribute.Float64(d);
            case Boolean b -> new Attribute.Bool(b);
            case String s -> new Attribute.Text(s);
            case int[] ints -> new Attribute.Ints(Arrays.stream(ints).boxed().toList());
            case long[] longs -> new Attribute.Int64s(Arrays.stream(longs).boxed().toList());
            case double[] doubles -> new Attribute.Float64s(Arrays.stream(doubles).boxed().toList());
            case float[] floats -> new Attribute.Reals(list(floats));
            case boolean[] bools -> new Attribute.Bools(list(bools));
            case String[] texts -> new Attribute.Texts(List.of(texts));
            case Block block -> new Attribute.BlockRef(block.index());
            default -> throw new IllegalArgumentException("There is no attribute of " + value.getClass().getName()
                    + "; give an Integer, Long, Float, Double, Boolean, String, an array of them, a Block or an "
                    + "Attribute");
        };
    }

    private static List<Float> list(float[] values) {
        List<Float> list = new ArrayList<>(values.length);
        for (float value : values) {
            list.add(value);
        }
        return list;
    }

    private static List<Boolean> list(boolean[] values) {
        List<Boolean> list = new ArrayList<>(values.length);
        for (boolean value : values) {
            list.add(value);
        }
        return list;
    }

    /**
     * An attribute as the text of a program shows it.
     *
     * @param attribute
     *            of an operation
     * @return one line
     */
    public static String text(Attribute attribute) {
        return switch (attribute) {
            case Attribute.Int(int value) -> Integer.toString(value);
            case Attribute.Real(float value) -> Float.toString(value);
            case Attribute.Text(String value) -> quoted(value);
            case Attribute.Ints(List<Integer> value) -> value.toString();
            case Attribute.Reals(List<Float> value) -> value.toString();
            case Attribute.Texts(List<String> value) ->
                value.stream().map(Attributes::quoted).collect(Collectors.joining(", ", "[", "]"));
            case Attribute.Bool(boolean value) -> Boolean.toString(value);
            case Attribute.Bools(List<Boolean> value) -> value.toString();
            case Attribute.BlockRef(int index) -> "block " + index;
            case Attribute.BlockRefs(List<Integer> index) -> "blocks " + index;
            case Attribute.Int64(long value) -> Long.toString(value);
            case Attribute.Int64s(List<Long> value) -> value.toString();
            case Attribute.Float64(double value) -> Double.toString(value);
            case Attribute.Float64s(List<Double> value) -> value.toString();
            case Attribute.VarRef(String name) -> Printable.of(name);
            case Attribute.VarRefs(List<String> names) -> Printable.of(names.toString());
            case Attribute.Scalar(Attribute.ScalarNumber value) -> text(value);
            case Attribute.Scalars(List<Attribute.ScalarNumber> value) ->
                value.stream().map(Attributes::text).collect(Collectors.joining(", ", "[", "]"));
        };
    }

    private static String text(Attribute.ScalarNumber number) {
        return switch (number) {
            case Attribute.ScalarNumber.OfBool(boolean value) -> Boolean.toString(value);
            case Attribute.ScalarNumber.OfLong(long value) -> Long.toString(value);
            case Attribute.ScalarNumber.OfDouble(double value) -> Double.toString(value);
            case Attribute.ScalarNumber.OfComplex(double real, double imaginary) ->
                real + (imaginary < 0 ? "" : "+") + imaginary + "i";
        };
    }

    private static String quoted(String text) {
        return '"' + Printable.of(text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n")) + '"';
    }
}
