package io.seriatim.graph.op;

/**
 * Slots and variables of level-of-detail offsets. A program that is run has, beside a variable whose offsets an
 * operation reads, a companion variable that holds them; the operation has it in the companion of the slot.
 */
public final class LodSlot {
    /** What follows the name of a slot or variable in that of its companion. */
    public static final String SUFFIX = "@LOD";

    private LodSlot() {
    }

    /**
     * The companion of a slot or variable.
     *
     * @param name
     *            its name
     * @return the name of the companion
     */
    public static String of(String name) {
        return name + SUFFIX;
    }
}
