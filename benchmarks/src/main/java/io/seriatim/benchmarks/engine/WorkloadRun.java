package io.seriatim.benchmarks.engine;

/**
 * One execution of a workload: the cells of its variables, and the arithmetic of its operations. Cells are plain
 * fields: the order that a contender establishes makes the store of one operation visible to the next.
 */
final class WorkloadRun {
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;
    private static final long FACTOR = 0xff51afd7ed558ccdL;

    /**
     * Never changes, but the compiler cannot know that: a comparison with it prevents the removal of operations that
     * store nothing.
     */
    private static long unlikely = 0x5e71a71357a3b1e5L;

    private final Workload workload;
    private final int spin;
    private final long[] cells;
    private boolean coincidence;

    WorkloadRun(Workload workload, int spin) {
        this.workload = workload;
        this.spin = spin;
        cells = new long[workload.vars()];
    }

    /** Returns the checksum of the serial program. */
    static long serialChecksum(Workload workload, int spin) {
        WorkloadRun run = new WorkloadRun(workload, spin);
        run.serially();
        return run.checksum();
    }

    Workload workload() {
        return workload;
    }

    void serially() {
        int n = workload.size();
        for (int i = 0; i < n; i++) {
            operation(i);
        }
    }

    void operation(int id) {
        long h = id;
        int first = workload.firstRead(id);
        if (first >= 0) {
            h = mix(h, cells[first]);
            int second = workload.secondRead(id);
            if (second >= 0) {
                h = mix(h, cells[second]);
            }
        }
        for (int i = 0; i < spin; i++) {
            h = mix(h, i);
        }
        int mutated = workload.mutates(id);
        if (mutated >= 0) {
            cells[mutated] = mix(cells[mutated], h);
        } else if (h == unlikely) {
            coincidence = !coincidence;
        }
    }

    long checksum() {
        long h = 1;
        for (long cell : cells) {
            h = mix(h, cell);
        }
        return h;
    }

    private static long mix(long a, long b) {
        return (a ^ b + GOLDEN + (a << 6) + (a >>> 2)) * FACTOR;
    }
}
