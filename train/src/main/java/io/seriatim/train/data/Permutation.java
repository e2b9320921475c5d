package io.seriatim.train.data;

/**
 * The order in which an epoch goes through examples: a pure function of seed, epoch and number of examples, the same on
 * every machine.
 *
 * <p>
 * It is the shuffle of Fisher and Yates: for i from the last place to 1, the entries at i and at a random place from 0
 * to i are exchanged. The random numbers are those of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom
 * number generators, OOPSLA 2014) that starts from mix(mix(seed) + epoch · γ), γ being the golden ratio's odd 64-bit
 * fraction; a number below a bound comes of its upper 32 bits by multiplication, with those rejected that would make
 * some places likelier (Lemire, Fast random integer generation in an interval, 2019).
 */
final class Permutation {
    private static final long GAMMA = 0x9E3779B97F4A7C15L;

    private long state;

    private Permutation(long state) {
        this.state = state;
    }

    /** All numbers below a size, in the epoch's order. */
    static int[] of(long seed, long epoch, int size) {
        Permutation random = new Permutation(mix(mix(seed) + epoch * GAMMA));
        int[] order = new int[size];
        for (int i = 0; i < size; i++) {
            order[i] = i;
        }
        for (int i = size - 1; i > 0; i--) {
            int j = random.below(i + 1);
            int kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
        return order;
    }

    private int below(int bound) {
        long product = (next() >>> 32) * bound;
        if ((product & 0xFFFF_FFFFL) < bound) {
            long least = (1L << 32) % bound;
            while ((product & 0xFFFF_FFFFL) < least) {
                product = (next() >>> 32) * bound;
            }
        }
        return (int) (product >>> 32);
    }

    private long next() {
        state += GAMMA;
        return mix(state);
    }

    private static long mix(long value) {
        long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
