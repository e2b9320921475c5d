package io.seriatim.device;

/**
 * The size classes of blocks: from 64 bytes, in steps of a quarter of a power of two. From 256 bytes on, at most a
 * fifth of a block is unused.
 */
final class SizeClass {
    static final int COUNT = 64 * 4;
    private static final long LEAST = 64;

    private SizeClass() {
    }

    /** Rounds a size up to its size class. */
    static long round(long bytes) {
        if (bytes <= LEAST) {
            return LEAST;
        }
        int power = 63 - Long.numberOfLeadingZeros(bytes);
        long step = Math.max(LEAST, 1L << (power - 2));
        return Math.addExact(bytes, step - 1) & -step;
    }

    /** Returns the index of the class of a rounded size. */
    static int index(long rounded) {
        int power = 63 - Long.numberOfLeadingZeros(rounded);
        return power * 4 + (int) (rounded >>> (power - 2) & 3);
    }
}
