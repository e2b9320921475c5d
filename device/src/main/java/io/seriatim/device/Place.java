package io.seriatim.device;

import java.util.Objects;

/**
 * The name of a device, such as {@code cpu}, {@code sim:0} or {@code cuda:1}. A place may name a device that does not
 * exist.
 *
 * @param kind
 *            the kind of device, a lower-case word
 * @param index
 *            the index within the kind, from 0
 */
public record Place(String kind, int index) {
    /** The host. */
    public static final Place CPU = new Place("cpu", 0);

    /**
     * Validates the kind and the index.
     *
     * @throws IllegalArgumentException
     *             if the kind is not a lower-case word or the index is negative
     */
    public Place {
        Objects.requireNonNull(kind, "kind");
        if (kind.isEmpty() || !kind.chars().allMatch(c -> c >= 'a' && c <= 'z') || index < 0) {
            throw new IllegalArgumentException(
                    "A place must be a lower-case word and an index from 0, such as 'cpu' or 'sim:0', but is '" + kind
                            + ":" + index + "'");
        }
    }

    /**
     * Returns the place of a simulated accelerator.
     *
     * @param index
     *            the index, from 0
     * @return {@code sim:index}
     */
    public static Place sim(int index) {
        return new Place("sim", index);
    }

    /**
     * Parses the form that {@link #toString} returns. A missing index is 0.
     *
     * @param text
     *            for instance {@code cpu} or {@code sim:1}
     * @return the place
     * @throws IllegalArgumentException
     *             if the text does not have this form
     */
    public static Place parse(String text) {
        int colon = text.indexOf(':');
        if (colon < 0) {
            return new Place(text, 0);
        }
        String number = text.substring(colon + 1);
        if (number.isEmpty() || number.length() > 6 || !number.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw new IllegalArgumentException(
                    "A place must be a word and an index, such as 'cpu', 'sim:0' or 'cuda:1', but is '" + text + "'");
        }
        return new Place(text.substring(0, colon), Integer.parseInt(number));
    }

    /**
     * Returns whether the memory of this place is the host's memory, which host code may access.
     *
     * @return true for {@code cpu} and {@code cpu:N}
     */
    public boolean isHost() {
        return kind.equals(CPU.kind);
    }

    /**
     * Returns the name as lanes and programs use it.
     *
     * @return {@code cpu} for {@link #CPU}, otherwise {@code kind:index}
     */
    @Override
    public String toString() {
        return equals(CPU) ? kind : kind + ":" + index;
    }
}
