package io.seriatim.executor.schedule;

import java.util.Arrays;

/**
 * The known ancestors of each task: the tasks that end before it begins, however threads schedule them. For each task,
 * a bit set marks the ancestors among the {@value #WINDOW} tasks before it, and a number states up to which index all
 * tasks are ancestors. The work for each dependency is therefore bounded. The relation is conservative: an ancestor
 * outside of both is reported as none.
 */
public final class Ancestors {
    /** The number of tasks before a task that its bit set covers. */
    public static final int WINDOW = 1024;
    private static final int WORDS = WINDOW / Long.SIZE;

    private final long[] bits;
    private final int[] complete;
    private long examined;

    Ancestors(int tasks) {
        this.bits = new long[tasks * WORDS];
        this.complete = new int[tasks];
    }

    /** Returns the ancestors of tasks with the given direct dependencies. */
    static Ancestors of(int[][] before) {
        Ancestors ancestors = new Ancestors(before.length);
        for (int i = 0; i < before.length; i++) {
            ancestors.set(i, before[i]);
        }
        return ancestors;
    }

    /** Sets the direct dependencies of a task. Those of all earlier tasks must have been set before. */
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

    /** Adds the bit set of another task, shifted by the distance of the two tasks. */
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

    /** Returns whether the first task is known to end before the second begins. */
    boolean precedes(int first, int second) {
        return first < second && (first < complete[second] || isNear(second * WORDS, second - first - 1));
    }

    /** Returns the amount of work done, for tests that it is linear in the number of dependencies. */
    long examined() {
        return examined;
    }
}
