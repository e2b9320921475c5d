package io.seriatim.device;

/**
 * Sizes in steps of a quarter of a power of two, from 64 bytes: at most a fifth of a block is not asked for, and freed
 * blocks fit again.
 */
final class SizeClass {
    static final int COUNT = 64 * 4;
    private static final long LEAST = 64;

    private SizeClass() {
    }

    /** Rounds up. */
    static long round(long bytes) {
        if (bytes <= LEAST) {
            return LEAST;
        }
        int power = 63 - Long.numberOfLeadingZeros(bytes);
        long step = Math.max(LEAST, 1L << (power - 2));
        return Math.addExact(bytes, step - 1) & -step;
    }

    /** The place of a rounded size among all sizes. */
    static int index(long rounded) {
        int power = 63 - Long.numberOfLeadingZeros(rounded);
        return power * 4 + (int) (rounded >>> (power - 2) & 3);
    }
}
