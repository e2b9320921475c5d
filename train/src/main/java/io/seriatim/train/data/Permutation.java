package io.seriatim.train.data;

/**
 * The order of the examples in an epoch: a pure function of seed, epoch and number of examples, the same on every
 * machine.
 *
 * <p>
 * A Fisher–Yates shuffle: for i from the last index down to 1, the entries at i and at a random index from 0 to i are
 * swapped. The random numbers are those of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number
 * generators, OOPSLA 2014) with the initial state mix(mix(seed) + epoch · γ), where γ is the odd 64-bit fraction of the
 * golden ratio. A number below a bound is computed from the upper 32 bits by multiplication, with rejection of the
 * values that would cause a bias (Lemire, Fast random integer generation in an interval, 2019).
 */
final class Permutation {
    private static final long GAMMA = 0x9E3779B97F4A7C15L;

    private long state;

    private Permutation(long state) {
        this.state = state;
    }

    /** Returns the numbers from 0 to {@code size} − 1, in the order of the epoch. */
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
