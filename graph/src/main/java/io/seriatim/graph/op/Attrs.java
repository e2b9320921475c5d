package io.seriatim.graph.op;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of an operation, with the defaults of its schema. Whole numbers of 32 and 64 bits are taken for one
 * another, since Paddle's versions differ in which they write.
 */
public final class Attrs {
    private final OpDesc op;
    private final @Nullable Operation schema;

    /**
     * Of an operation.
     *
     * @param op
     *            its description
     * @param schema
     *            its schema, or null without defaults
     */
    public Attrs(OpDesc op, @Nullable Operation schema) {
        this.op = op;
        this.schema = schema;
    }

    /**
     * Whether it is given, or has a default.
     *
     * @param name
     *            the attribute's name
     * @return false if there is no value
     */
    public boolean has(String name) {
        return find(name) != null;
    }

    private @Nullable Attribute find(String name) {
        Attribute given = op.attribute(name);
        if (given != null || schema == null) {
            return given;
        }
        AttributeSpec spec = schema.attribute(name);
        return spec == null ? null : spec.byDefault();
    }

    /**
     * The value.
     *
     * @param name
     *            the attribute's name
     * @return its value
     * @throws IllegalArgumentException
     *             if it is not given and has no default
     */
    public Attribute get(String name) {
        Attribute value = find(name);
        if (value == null) {
            throw new IllegalArgumentException(
                    "Operation '" + op.type() + "' needs the attribute '" + name + "'; its outputs are "
                            + op.outputNames());
        }
        return value;
    }

    /**
     * A whole number.
     *
     * @param name
     *            the attribute's name
     * @return its value
     */
    public int getInt(String name) {
        return Math.toIntExact(getLong(name));
    }

    /**
     * A whole number.
     *
     * @param name
     *            the attribute's name
     * @return its value
     */
    public long getLong(String name) {
        return switch (get(name)) {
            case Attribute.Int(int value) -> value;
            case Attribute.Int64(long value) -> value;
            case Attribute.Bool(boolean value) -> value ? 1 : 0;
            case Attribute other -> throw wrong(name, "a whole number", other);
        };
    }

    /**
     * A number.
     *
     * @param name
     *            the attribute's name
     * @return its value
     */
    public double getDouble(String name) {
        return switch (get(name)) {
            case Attribute.Real(float value) -> value;
            case Attribute.Float64(double value) -> value;
            case Attribute.Int(int value) -> value;
            case Attribute.Int64(long value) -> value;
            case Attribute.Scalar(Attribute.ScalarNumber value) -> value.asDouble();
            case Attribute other -> throw wrong(name, "a number", other);
        };
    }

    /**
     * A number.
     *
     * @param name
     *            the attribute's name
     * @return its value
     */
    public float getFloat(String name) {
        return (float) getDouble(name);
    }

    /**
     * A truth value.
     *
     * @param name
     *            the attribute's name
     * @return its value
     */
    public boolean getBool(String name) {
        return switch (get(name)) {
            case Attribute.Bool(boolean value) -> value;
            case Attribute.Int(int value) -> value != 0;
            case Attribute other -> throw wrong(name, "true or false", other);
        };
    }

    /**
     * A text.
     *
     * @param name
     *            the attribute's name
     * @return its value
     */
    public String getText(String name) {
        return switch (get(name)) {
            case Attribute.Text(String value) -> value;
            case Attribute other -> throw wrong(name, "a text", other);
        };
    }

    /**
     * Texts.
     *
     * @param name
     *            the attribute's name
     * @return its value
     */
    public List<String> getTexts(String name) {
        return switch (get(name)) {
            case Attribute.Texts(List<String> value) -> value;
            case Attribute other -> throw wrong(name, "texts", other);
        };
    }

    /**
     * Whole numbers; one counts as several.
     *
     * @param name
     *            the attribute's name
     * @return its values
     */
    public long[] getLongs(String name) {
        return switch (get(name)) {
            case Attribute.Ints(List<Integer> value) -> value.stream().mapToLong(Integer::longValue).toArray();
            case Attribute.Int64s(List<Long> value) -> value.stream().mapToLong(Long::longValue).toArray();
            case Attribute.Int(int value) -> new long[]{value};
            case Attribute.Int64(long value) -> new long[]{value};
            case Attribute.Bools(List<Boolean> value) when value.isEmpty() -> new long[0];
            case Attribute.Reals(List<Float> value) when value.isEmpty() -> new long[0];
            case Attribute other -> throw wrong(name, "whole numbers", other);
        };
    }

    /**
     * Whole numbers of 32 bits; one counts as several.
     *
     * @param name
     *            the attribute's name
     * @return its values
     */
    public int[] getInts(String name) {
        long[] longs = getLongs(name);
        int[] ints = new int[longs.length];
        for (int i = 0; i < ints.length; i++) {
            ints[i] = Math.toIntExact(longs[i]);
        }
        return ints;
    }

    /**
     * Numbers of any type.
     *
     * @param name
     *            the attribute's name
     * @return its values
     */
    public double[] getDoubles(String name) {
        return switch (get(name)) {
            case Attribute.Reals(List<Float> value) -> value.stream().mapToDouble(Float::doubleValue).toArray();
            case Attribute.Float64s(List<Double> value) -> value.stream().mapToDouble(Double::doubleValue).toArray();
            case Attribute.Ints(List<Integer> value) -> value.stream().mapToDouble(Integer::doubleValue).toArray();
            case Attribute.Int64s(List<Long> value) -> value.stream().mapToDouble(Long::doubleValue).toArray();
            case Attribute.Scalars(List<Attribute.ScalarNumber> value) ->
                value.stream().mapToDouble(Attribute.ScalarNumber::asDouble).toArray();
            case Attribute.Real(float value) -> new double[]{value};
            case Attribute other -> throw wrong(name, "numbers", other);
        };
    }

    /**
     * An element type, given by Paddle's number.
     *
     * @param name
     *            the attribute's name
     * @return the type
     */
    public DType getDType(String name) {
        int number = getInt(name);
        try {
            return DataTypes.dtype(number);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "Attribute '" + name + "' of operation '" + op.type() + "': " + e.getMessage(), e);
        }
    }

    private IllegalArgumentException wrong(String name, String wanted, Attribute found) {
        return new IllegalArgumentException(
                "Attribute '" + name + "' of operation '" + op.type() + "' must be " + wanted + ", but is " + found);
    }
}
