package io.seriatim.graph.op;

import java.lang.reflect.Array;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An array in the message of a check. Checks are called once for each dimension or element, and their messages are
 * hardly ever read, so the text is made only then, and only of the first elements.
 */
public final class Numbers {
    private static final int SHOWN = 64;

    private final @Nullable Object array;

    private Numbers(@Nullable Object array) {
        this.array = array;
    }

    /**
     * Dimensions or other whole numbers.
     *
     * @param numbers
     *            not copied
     * @return an object with the text of {@link java.util.Arrays#toString(long[])}, shortened if there are many
     */
    public static Object text(long @Nullable... numbers) {
        return new Numbers(numbers);
    }

    /**
     * Whole numbers.
     *
     * @param numbers
     *            not copied
     * @return an object with the text of {@link java.util.Arrays#toString(int[])}, shortened if there are many
     */
    public static Object text(int @Nullable... numbers) {
        return new Numbers(numbers);
    }

    /**
     * Numbers.
     *
     * @param numbers
     *            not copied
     * @return an object with the text of {@link java.util.Arrays#toString(float[])}, shortened if there are many
     */
    public static Object text(float @Nullable... numbers) {
        return new Numbers(numbers);
    }

    /**
     * Numbers.
     *
     * @param numbers
     *            not copied
     * @return an object with the text of {@link java.util.Arrays#toString(double[])}, shortened if there are many
     */
    public static Object text(double @Nullable... numbers) {
        return new Numbers(numbers);
    }

    /**
     * Truth values.
     *
     * @param values
     *            not copied
     * @return an object with the text of {@link java.util.Arrays#toString(boolean[])}, shortened if there are many
     */
    public static Object text(boolean @Nullable... values) {
        return new Numbers(values);
    }

    /**
     * Objects.
     *
     * @param values
     *            not copied
     * @return an object with the text of {@link java.util.Arrays#toString(Object[])}, shortened if there are many
     */
    public static Object text(Object @Nullable... values) {
        return new Numbers(values);
    }

    @Override
    public String toString() {
        if (array == null) {
            return "null";
        }
        int length = Array.getLength(array);
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < Math.min(length, SHOWN); i++) {
            text.append(i == 0 ? "" : ", ").append(Objects.toString(Array.get(array, i)));
        }
        return text.append(length > SHOWN ? ", … of " + length + "]" : "]").toString();
    }
}
