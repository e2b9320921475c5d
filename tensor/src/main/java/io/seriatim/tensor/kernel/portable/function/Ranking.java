package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.DType;
import java.util.Arrays;
import java.util.Comparator;

/**
 * The first numbers of a row in sorted order. The order is stable, 0 and −0 are equal, and NaN is the largest. Not
 * thread-safe: its arrays are reused for each row.
 */
public final class Ranking {
    /** Up to so many are found one after the other, which is faster than sorting all. */
    private static final int FEW = 8;
    private final int k;
    private final boolean largest;
    private final long sign;
    private final long[] wholes;
    private final double[] reals;
    private final long[] keys;
    private final int[] order;
    private final Integer[] all;

    /** Of numbers of a type: those without a sign are ordered by their bits. */
    public Ranking(DType dtype, int length, int k, boolean largest) {
        this.k = k;
        this.sign = dtype == DType.UINT64 ? Long.MIN_VALUE : 0;
        this.largest = largest;
        this.wholes = new long[length];
        this.reals = new double[length];
        this.keys = new long[length];
        this.order = new int[k];
        this.all = new Integer[k <= FEW ? 0 : length];
    }

    /** To be filled before {@link #ofWholes}. */
    public long[] wholes() {
        return wholes;
    }

    /** To be filled before {@link #ofReals}. */
    public double[] reals() {
        return reals;
    }

    /** The indices of the first; overwritten by the next call. */
    public int[] ofWholes() {
        for (int i = 0; i < keys.length; i++) {
            long key = wholes[i] ^ sign;
            keys[i] = largest ? key : ~key;
        }
        return first();
    }

    /** The indices of the first; overwritten by the next call. */
    public int[] ofReals() {
        for (int i = 0; i < keys.length; i++) {
            long bits = Double.doubleToLongBits(reals[i] + 0.0);
            // Bits in the order of the numbers: negative numbers have theirs inverted.
            long key = bits ^ ((bits >> 63) & Long.MAX_VALUE);
            keys[i] = largest ? key : ~key;
        }
        return first();
    }

    private int[] first() {
        if (k > FEW) {
            Arrays.setAll(all, i -> i);
            Arrays.sort(all, Comparator.comparingLong((Integer i) -> keys[i]).reversed());
            Arrays.setAll(order, i -> all[i]);
            return order;
        }
        for (int j = 0; j < k; j++) {
            order[j] = j == 0 ? best() : bestAfter(order[j - 1]);
        }
        return order;
    }

    private int best() {
        int best = 0;
        for (int i = 1; i < keys.length; i++) {
            best = keys[i] > keys[best] ? i : best;
        }
        return best;
    }

    private int bestAfter(int last) {
        int best = -1;
        for (int i = 0; i < keys.length; i++) {
            boolean later = keys[i] < keys[last] || (keys[i] == keys[last] && i > last);
            if (later && (best < 0 || keys[i] > keys[best])) {
                best = i;
            }
        }
        return best;
    }
}
