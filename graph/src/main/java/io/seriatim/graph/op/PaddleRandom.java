package io.seriatim.graph.op;

/**
 * The random numbers of Paddle on a processor: a Mersenne twister of 64 bits (Matsumoto, Nishimura, 1998; mt19937_64).
 * An operation with a seed has a generator of its own; all others draw from one, in the order in which they run.
 */
public final class PaddleRandom {
    private static final int N = 312;
    private static final int M = 156;

    private final long[] state = new long[N];
    private int at = N;

    /**
     * A generator.
     *
     * @param seed
     *            its start
     */
    public PaddleRandom(long seed) {
        state[0] = seed;
        for (int i = 1; i < N; i++) {
            state[i] = 6364136223846793005L * (state[i - 1] ^ (state[i - 1] >>> 62)) + i;
        }
    }

    /**
     * The one generator of a process in Paddle, which operations without a seed share.
     *
     * @param seed
     *            of the process
     * @return a generator at its start
     */
    public static PaddleRandom ofProcess(long seed) {
        PaddleRandom random = new PaddleRandom(0);
        SeedSequence.of((int) seed).fill(random.state);
        random.at = N;
        return random;
    }

    /**
     * The next 64 random bits.
     *
     * @return to be read as unsigned
     */
    public synchronized long nextLong() {
        if (at == N) {
            twist();
        }
        long x = state[at++];
        x ^= (x >>> 29) & 0x5555555555555555L;
        x ^= (x << 17) & 0x71D67FFFEDA60000L;
        x ^= (x << 37) & 0xFFF7EEE000000000L;
        return x ^ (x >>> 43);
    }

    private void twist() {
        for (int i = 0; i < N; i++) {
            long x = (state[i] & 0xFFFFFFFF80000000L) | (state[(i + 1) % N] & 0x7FFFFFFFL);
            long next = state[(i + M) % N] ^ (x >>> 1);
            state[i] = (x & 1) == 0 ? next : next ^ 0xB5026F5AA96619E9L;
        }
        at = 0;
    }
}
