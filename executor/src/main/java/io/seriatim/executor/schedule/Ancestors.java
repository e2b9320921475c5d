package io.seriatim.executor.schedule;

import java.util.Arrays;

/**
 * Which tasks surely come before which. For each task a set of bits says so for those shortly before it, and a number
 * up to where all earlier ones do; so the work for each dependency is bounded, and what is not known counts as no.
 */
public final class Ancestors {
    /** How far back single tasks are known. */
    public static final int WINDOW = 1024;
    private static final int WORDS = WINDOW / Long.SIZE;

    private final long[] bits;
    private final int[] complete;
    private long examined;

    Ancestors(int tasks) {
        this.bits = new long[tasks * WORDS];
        this.complete = new int[tasks];
    }

    /** Of tasks with all that they wait for. */
    static Ancestors of(int[][] before) {
        Ancestors ancestors = new Ancestors(before.length);
        for (int i = 0; i < before.length; i++) {
            ancestors.set(i, before[i]);
        }
        return ancestors;
    }

    /** Sets what comes directly before a task; all tasks before it must have been set. */
    void set(int task, int[] before) {
        int base = task * WORDS;
        Arrays.fill(bits, base, base + WORDS, 0);
        int all = 0;
        for (int other : before) {
            int distance = task - other - 1;
            examined++;
            all = Math.max(all, complete[other]);
            if (distance < WINDOW) {
                join(base, other * WORDS, distance + 1);
                bits[base + distance / Long.SIZE] |= 1L << distance;
            }
        }
        while (all < task && isNear(base, task - all - 1)) {
            all++;
        }
        complete[task] = all;
    }

    /** Adds the bits of another task, moved by their distance. */
    private void join(int to, int from, int distance) {
        int words = distance / Long.SIZE;
        int shift = distance % Long.SIZE;
        for (int i = WORDS - 1; i >= words; i--) {
            long moved = bits[from + i - words] << shift;
            if (shift > 0 && i > words) {
                moved |= bits[from + i - words - 1] >>> (Long.SIZE - shift);
            }
            bits[to + i] |= moved;
        }
        examined += WORDS;
    }

    private boolean isNear(int base, int distance) {
        return distance < WINDOW && (bits[base + distance / Long.SIZE] >>> distance & 1) != 0;
    }

    /** Whether a task ends before another begins, whatever the threads do. */
    boolean precedes(int first, int second) {
        return first < second && (first < complete[second] || isNear(second * WORDS, second - first - 1));
    }

    /** How much has been looked at, to show that it grows with the number of dependencies and no faster. */
    long examined() {
        return examined;
    }
}
