package io.seriatim.executor.trace;

import java.util.Arrays;

/** An immutable, sorted set of disjoint time intervals. */
final class Intervals {
    private final long[] bounds;

    private Intervals(long[] bounds) {
        this.bounds = bounds;
    }

    /** Collects intervals in any order; they may overlap. */
    static final class Builder {
        private long[][] added = new long[16][];
        private int count;

        void add(long from, long to) {
            if (to > from) {
                if (count == added.length) {
                    added = Arrays.copyOf(added, 2 * count);
                }
                added[count++] = new long[]{from, to};
            }
        }

        Intervals build() {
            Arrays.sort(added, 0, count, (a, b) -> Long.compare(a[0], b[0]));
            long[] bounds = new long[2 * count];
            int filled = 0;
            for (int i = 0; i < count; i++) {
                if (filled > 0 && added[i][0] <= bounds[filled - 1]) {
                    bounds[filled - 1] = Math.max(bounds[filled - 1], added[i][1]);
                } else {
                    bounds[filled++] = added[i][0];
                    bounds[filled++] = added[i][1];
                }
            }
            return new Intervals(Arrays.copyOf(bounds, filled));
        }
    }

    int count() {
        return bounds.length / 2;
    }

    long from(int index) {
        return bounds[2 * index];
    }

    long to(int index) {
        return bounds[2 * index + 1];
    }

    long length() {
        long length = 0;
        for (int i = 0; i < count(); i++) {
            length += to(i) - from(i);
        }
        return length;
    }

    /** Returns the part of an interval that these intervals do not cover. */
    Intervals complement(long from, long to) {
        Builder rest = new Builder();
        long reached = from;
        for (int i = 0; i < count() && reached < to; i++) {
            rest.add(reached, Math.min(from(i), to));
            reached = Math.max(reached, to(i));
        }
        rest.add(reached, to);
        return rest.build();
    }

    /** Returns the intersection of both sets. */
    Intervals and(Intervals other) {
        Builder both = new Builder();
        int j = 0;
        for (int i = 0; i < count(); i++) {
            while (j < other.count() && other.to(j) <= from(i)) {
                j++;
            }
            for (int k = j; k < other.count() && other.from(k) < to(i); k++) {
                both.add(Math.max(from(i), other.from(k)), Math.min(to(i), other.to(k)));
            }
        }
        return both.build();
    }
}
