package io.seriatim.device;

import java.util.Objects;

/**
 * Names a device: {@code cpu}, {@code sim:0}, {@code cuda:1}. It exists whether the device does or not.
 *
 * @param kind
 *            the kind of device, a lower-case word
 * @param index
 *            which of its kind, from 0
 */
public record Place(String kind, int index) {
    /** The host: its memory and its processors. */
    public static final Place CPU = new Place("cpu", 0);

    /**
     * Checks the parts.
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
     * A simulated accelerator.
     *
     * @param index
     *            which one, from 0
     * @return {@code sim:index}
     */
    public static Place sim(int index) {
        return new Place("sim", index);
    }

    /**
     * Reads the form that {@link #toString} writes. An index that is left out is 0.
     *
     * @param text
     *            for instance {@code cpu}, {@code sim:1}
     * @return the place
     * @throws IllegalArgumentException
     *             if it has another form
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
     * Whether its memory is the host's, so that host code may touch it.
     *
     * @return true for {@code cpu}
     */
    public boolean isHost() {
        return kind.equals(CPU.kind);
    }

    /**
     * The name, as lanes and programs write it.
     *
     * @return {@code cpu} for the first processor pool, else {@code kind:index}
     */
    @Override
    public String toString() {
        return equals(CPU) ? kind : kind + ":" + index;
    }
}
