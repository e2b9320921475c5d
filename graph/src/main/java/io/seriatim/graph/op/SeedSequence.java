package io.seriatim.graph.op;

import java.util.Arrays;

/**
 * Spreads a seed over the state of a generator, as C++'s std::seed_seq does (ISO C++ [rand.util.seedseq]) and
 * std::mersenne_twister_engine uses it.
 */
final class SeedSequence {
    private final int[] seeds;

    private SeedSequence(int[] seeds) {
        this.seeds = seeds;
    }

    static SeedSequence of(int... seeds) {
        return new SeedSequence(seeds.clone());
    }

    /** Fills a state of 64-bit words, the lower half of each first. */
    void fill(long[] state) {
        int[] words = new int[state.length * 2];
        generate(words);
        for (int i = 0; i < state.length; i++) {
            state[i] = (words[2 * i] & 0xFFFFFFFFL) | ((long) words[2 * i + 1] << 32);
        }
        boolean zero = (state[0] & 0xFFFFFFFF80000000L) == 0;
        for (int i = 1; zero && i < state.length; i++) {
            zero = state[i] == 0;
        }
        if (zero) {
            state[0] = 1L << 63;
        }
    }

    private void generate(int[] out) {
        int n = out.length;
        Arrays.fill(out, 0x8b8b8b8b);
        int s = seeds.length;
        int t = n >= 623 ? 11 : n >= 68 ? 7 : n >= 39 ? 5 : n >= 7 ? 3 : (n - 1) / 2;
        int p = (n - t) / 2;
        int q = p + t;
        int m = Math.max(s + 1, n);
        for (int k = 0; k < m; k++) {
            int r1 = 1664525 * mix(out[k % n] ^ out[(k + p) % n] ^ out[Math.floorMod(k - 1, n)]);
            int r2 = r1 + (k == 0 ? s : k <= s ? k % n + seeds[k - 1] : k % n);
            out[(k + p) % n] += r1;
            out[(k + q) % n] += r2;
            out[k % n] = r2;
        }
        for (int k = m; k < m + n; k++) {
            int r3 = 1566083941 * mix(out[k % n] + out[(k + p) % n] + out[Math.floorMod(k - 1, n)]);
            int r4 = r3 - k % n;
            out[(k + p) % n] ^= r3;
            out[(k + q) % n] ^= r4;
            out[k % n] = r4;
        }
    }

    private static int mix(int x) {
        return x ^ (x >>> 27);
    }
}
