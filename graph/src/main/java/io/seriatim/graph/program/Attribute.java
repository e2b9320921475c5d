package io.seriatim.graph.program;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The value of an operation's attribute, with the types that Paddle's files tell apart. */
public sealed interface Attribute {
    /**
     * A whole number of 32 bits.
     *
     * @param value
     *            the number
     */
    record Int(int value) implements Attribute {
    }

    /**
     * A float32.
     *
     * @param value
     *            the number
     */
    record Real(float value) implements Attribute {
    }

    /**
     * A text.
     *
     * @param value
     *            the text
     */
    record Text(String value) implements Attribute {
    }

    /**
     * Whole numbers of 32 bits.
     *
     * @param value
     *            the numbers
     */
    record Ints(List<Integer> value) implements Attribute {
        /** Copies the list. */
        public Ints {
            value = List.copyOf(value);
        }
    }

    /**
     * float32 numbers.
     *
     * @param value
     *            the numbers
     */
    record Reals(List<Float> value) implements Attribute {
        /** Copies the list. */
        public Reals {
            value = List.copyOf(value);
        }
    }

    /**
     * Texts.
     *
     * @param value
     *            the texts
     */
    record Texts(List<String> value) implements Attribute {
        /** Copies the list. */
        public Texts {
            value = List.copyOf(value);
        }
    }

    /**
     * A truth value.
     *
     * @param value
     *            the truth value
     */
    record Bool(boolean value) implements Attribute {
    }

    /**
     * Truth values.
     *
     * @param value
     *            the truth values
     */
    record Bools(List<Boolean> value) implements Attribute {
        /** Copies the list. */
        public Bools {
            value = List.copyOf(value);
        }
    }

    /**
     * A block of the program.
     *
     * @param index
     *            the block's index
     */
    record BlockRef(int index) implements Attribute {
    }

    /**
     * Blocks of the program.
     *
     * @param index
     *            the blocks' indexes
     */
    record BlockRefs(List<Integer> index) implements Attribute {
        /** Copies the list. */
        public BlockRefs {
            index = List.copyOf(index);
        }
    }

    /**
     * A whole number of 64 bits.
     *
     * @param value
     *            the number
     */
    record Int64(long value) implements Attribute {
    }

    /**
     * Whole numbers of 64 bits.
     *
     * @param value
     *            the numbers
     */
    record Int64s(List<Long> value) implements Attribute {
        /** Copies the list. */
        public Int64s {
            value = List.copyOf(value);
        }
    }

    /**
     * A float64.
     *
     * @param value
     *            the number
     */
    record Float64(double value) implements Attribute {
    }

    /**
     * float64 numbers.
     *
     * @param value
     *            the numbers
     */
    record Float64s(List<Double> value) implements Attribute {
        /** Copies the list. */
        public Float64s {
            value = List.copyOf(value);
        }
    }

    /**
     * A variable.
     *
     * @param name
     *            the variable's name
     */
    record VarRef(String name) implements Attribute {
    }

    /**
     * Variables.
     *
     * @param names
     *            the variables' names
     */
    record VarRefs(List<String> names) implements Attribute {
        /** Copies the list. */
        public VarRefs {
            names = List.copyOf(names);
        }
    }

    /**
     * A number of any type.
     *
     * @param value
     *            the number
     */
    record Scalar(ScalarNumber value) implements Attribute {
    }

    /**
     * Numbers of any type.
     *
     * @param value
     *            the numbers
     */
    record Scalars(List<ScalarNumber> value) implements Attribute {
        /** Copies the list. */
        public Scalars {
            value = List.copyOf(value);
        }
    }

    /** A number with its type: what Paddle calls a scalar. */
    sealed interface ScalarNumber {
        /**
         * A truth value.
         *
         * @param value
         *            the truth value
         */
        record OfBool(boolean value) implements ScalarNumber {
        }

        /**
         * A whole number.
         *
         * @param value
         *            the number
         */
        record OfLong(long value) implements ScalarNumber {
        }

        /**
         * A real number.
         *
         * @param value
         *            the number
         */
        record OfDouble(double value) implements ScalarNumber {
        }

        /**
         * A complex number.
         *
         * @param real
         *            its real part
         * @param imaginary
         *            its imaginary part
         */
        record OfComplex(double real, double imaginary) implements ScalarNumber {
        }

        /**
         * As a float64.
         *
         * @return 0 or 1 for truth values, the real part of complex numbers
         */
        default double asDouble() {
            return switch (this) {
                case OfBool(boolean value) -> value ? 1 : 0;
                case OfLong(long value) -> value;
                case OfDouble(double value) -> value;
                case OfComplex(double real, double _) -> real;
            };
        }
    }

    /**
     * The attribute of a Java value.
     *
     * @param value
     *            an attribute; an Integer, Long, Float, Double, Boolean or String; an int[], long[], float[], double[],
     *            boolean[] or String[]; a Block
     * @return its attribute
     * @throws IllegalArgumentException
     *             if there is none
     */
    static Attribute of(Object value) {
        return Attributes.of(value);
    }

    /**
     * The blocks that it names.
     *
     * @return their indexes
     */
    default List<Integer> blocks() {
        return switch (this) {
            case BlockRef(int index) -> List.of(index);
            case BlockRefs(List<Integer> index) -> index;
            default -> List.of();
        };
    }

    /**
     * Finds an attribute among several.
     *
     * @param attributes
     *            in order
     * @param name
     *            whose
     * @return the last of that name, or null
     */
    static @Nullable Attribute find(List<Named> attributes, String name) {
        for (int i = attributes.size() - 1; i >= 0; i--) {
            if (attributes.get(i).name().equals(name)) {
                return attributes.get(i).value();
            }
        }
        return null;
    }

    /**
     * An attribute with its name.
     *
     * @param name
     *            its name
     * @param value
     *            its value
     */
    record Named(String name, Attribute value) {
    }
}
