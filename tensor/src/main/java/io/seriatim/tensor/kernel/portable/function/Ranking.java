package io.seriatim.tensor.kernel.portable.function;

import io.seriatim.tensor.DType;
import java.util.Arrays;

/**
 * The first numbers of a row in sorted order. The order is stable, 0 and −0 are equal, and NaN is the largest. Each
 * number becomes a key, a whole number, such that smaller keys come first. A few are kept in order while the row is
 * passed once. More are sorted in a buffer that holds at least twice as many: whenever it is full, only the first ones
 * remain, and later numbers enter it only if they come before the last of them. Keys of 32 bits are sorted with their
 * indices, in one long; longer ones alone, and then searched for in the result. Not thread-safe: its arrays are reused
 * for each row.
 */
public final class Ranking {
    /** Up to so many are kept in order. */
    private static final int FEW = 12;
    private static final int LEAST_SPACE = 64;
    private static final long INDEX = 0xffffffffL;
    private final int length;
    private final int k;
    private final boolean narrow;
    /** Inverts keys if the largest come first. */
    private final long inverted;
    /** Numbers without a sign are shifted, such that they are in the order of signed keys. */
    private final long shift;
    private final long[] keys;
    private final int[] order;
    private final long[] first;
    private long[] wholes = {};
    private double[] reals = {};

    /** Of numbers of a type. */
    public Ranking(DType dtype, int length, int k, boolean largest) {
        this.length = length;
        this.k = k;
        this.narrow = dtype.bytes() <= Integer.BYTES;
        this.shift = dtype == DType.UINT64 ? Long.MIN_VALUE : dtype == DType.UINT32 ? Integer.MIN_VALUE : 0;
        this.inverted = largest ? -1 : 0;
        this.keys = new long[length];
        this.order = new int[k];
        this.first =
                new long[k <= FEW ? k : narrow ? (int) Math.min(length, k + (long) Math.max(k, LEAST_SPACE)) : length];
    }

    /** To be filled before {@link #ofWholes}. */
    public long[] wholes() {
        if (wholes.length < length) {
            wholes = new long[length];
        }
        return wholes;
    }

    /** To be filled before {@link #ofReals}. */
    public double[] reals() {
        if (reals.length < length) {
            reals = new double[length];
        }
        return reals;
    }

    /** The indices of the first; overwritten by the next call. */
    public int[] ofWholes() {
        for (int i = 0; i < length; i++) {
            keys[i] = (wholes[i] + shift) ^ inverted;
        }
        return first();
    }

    /** The indices of the first; overwritten by the next call. */
    public int[] ofReals() {
        // Bits in the order of the numbers: negative numbers have theirs inverted.
        if (narrow) {
            for (int i = 0; i < length; i++) {
                int bits = Float.floatToIntBits((float) reals[i] + 0f);
                keys[i] = bits ^ ((bits >> 31) & Integer.MAX_VALUE) ^ inverted;
            }
        } else {
            for (int i = 0; i < length; i++) {
                long bits = Double.doubleToLongBits(reals[i] + 0.0);
                keys[i] = bits ^ ((bits >> 63) & Long.MAX_VALUE) ^ inverted;
            }
        }
        return first();
    }

    private int[] first() {
        if (k == 0) {
            return order;
        }
        if (k <= FEW) {
            few();
        } else if (narrow) {
            sortWithIndices();
        } else {
            sortKeys();
        }
        return order;
    }

    private void few() {
        for (int i = 0; i < k; i++) {
            insert(i, i);
        }
        long last = first[k - 1];
        for (int i = k; i < length; i++) {
            if (keys[i] < last) {
                insert(i, k - 1);
                last = first[k - 1];
            }
        }
    }

    /** Puts a key after those that are not larger, of which {@code count} are kept. */
    private void insert(int index, int count) {
        long key = keys[index];
        int at = count;
        while (at > 0 && first[at - 1] > key) {
            first[at] = first[at - 1];
            order[at] = order[at - 1];
            at--;
        }
        first[at] = key;
        order[at] = index;
    }

    private void sortWithIndices() {
        int held = 0;
        long last = Long.MAX_VALUE;
        for (int i = 0; i < length; i++) {
            long both = keys[i] << Integer.SIZE | i;
            if (both < last) {
                if (held == first.length) {
                    Arrays.sort(first);
                    last = first[k - 1];
                    held = k;
                    if (both > last) {
                        continue;
                    }
                }
                first[held++] = both;
            }
        }
        Arrays.sort(first, 0, held);
        for (int j = 0; j < k; j++) {
            order[j] = (int) (first[j] & INDEX);
        }
    }

    private void sortKeys() {
        System.arraycopy(keys, 0, first, 0, length);
        Arrays.sort(first);
        long last = first[k - 1];
        // At the place of a key, how many equal ones have been found; the place is that of the first of them.
        Arrays.fill(order, 0);
        int[] found = order.clone();
        for (int i = 0; i < length; i++) {
            if (keys[i] <= last) {
                int place = place(keys[i]);
                int at = place + found[place]++;
                if (at < k) {
                    order[at] = i;
                }
            }
        }
    }

    /** The first place of a key among the first {@code k} sorted ones. */
    private int place(long key) {
        int low = 0;
        int high = k - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (first[middle] < key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
