package io.seriatim.tensor.kernel.portable.function;

/**
 * The counter-based random generator Philox 4×32 with 10 rounds (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers:
 * As Easy as 1, 2, 3, SC 2011). Block i of a key is a function of the key and i alone, so any part of a sequence can be
 * computed independently.
 */
public final class Philox {
    private static final long MULTIPLIER_0 = 0xD2511F53L;
    private static final long MULTIPLIER_1 = 0xCD9E8D57L;
    private static final int WEYL_0 = 0x9E3779B9;
    private static final int WEYL_1 = 0xBB67AE85;
    private static final int ROUNDS = 10;
    private static final long LOW = 0xFFFFFFFFL;

    private Philox() {
    }

    /**
     * Makes blocks of four numbers.
     *
     * @param key
     *            the key
     * @param stream
     *            the upper half of the counter
     * @param first
     *            the lower half of the counter of the first block
     * @param into
     *            the array that receives 4 numbers for each block
     * @param blocks
     *            the number of blocks
     */
    public static void fill(long key, long stream, long first, int[] into, int blocks) {
        for (int i = 0; i < blocks; i++) {
            block(key, first + i, stream, into, 4 * i);
        }
    }

    /** Makes one block of four numbers, with the counter {@code high · 2⁶⁴ + low}. */
    public static void block(long key, long low, long high, int[] into, int at) {
        int c0 = (int) low;
        int c1 = (int) (low >>> 32);
        int c2 = (int) high;
        int c3 = (int) (high >>> 32);
        int k0 = (int) key;
        int k1 = (int) (key >>> 32);
        for (int round = 0; round < ROUNDS; round++) {
            long p0 = MULTIPLIER_0 * (c0 & LOW);
            long p1 = MULTIPLIER_1 * (c2 & LOW);
            c0 = (int) (p1 >>> 32) ^ c1 ^ k0;
            c2 = (int) (p0 >>> 32) ^ c3 ^ k1;
            c1 = (int) p1;
            c3 = (int) p0;
            k0 += WEYL_0;
            k1 += WEYL_1;
        }
        into[at] = c0;
        into[at + 1] = c1;
        into[at + 2] = c2;
        into[at + 3] = c3;
    }
}
