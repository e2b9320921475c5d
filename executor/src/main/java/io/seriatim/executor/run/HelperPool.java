package io.seriatim.executor.run;

import io.seriatim.engine.Engine;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Threads that help with runs of an executor's plans. They are workers of an engine, to which they go back when no run
 * has wanted help for a short time; so one that is still about is there at once when a loop of training or serving
 * begins its next run.
 *
 * <p>
 * They also go when a run that has called has had nothing for them for some milliseconds, so that one long task keeps
 * one thread busy and not all of them.
 *
 * <p>
 * No ready task is lost: it is put into the run's queue before the number of those awake is read, and a helper that
 * goes lowers that number before it looks for the last time. So either the run finds too few and wakes one, or the
 * helper finds the task.
 */
public final class HelperPool {
    /** How long a helper looks for a run without pause. */
    private static final long LINGER_NANOS = 50_000;
    /** Runs at the same time that may have help; others do without. */
    private static final int MOST_RUNS = 16;

    private final Engine engine;
    private final OpenRuns runs;
    private final int most;
    private final AtomicReferenceArray<ParallelRunLoop.Run> calls = new AtomicReferenceArray<>(MOST_RUNS);
    private final AtomicInteger awake = new AtomicInteger();

    public HelperPool(Engine engine, OpenRuns runs, int most) {
        this.engine = engine;
        this.runs = runs;
        this.most = most;
    }

    /**
     * Closes an engine whose operations end by themselves soon. An interrupt does not end the wait: what the operations
     * use is freed next.
     */
    public static void close(Engine engine) {
        boolean interrupted = Thread.interrupted();
        boolean closed = false;
        while (!closed) {
            try {
                engine.close();
                closed = true;
            } catch (IllegalStateException e) {
                if (!Thread.interrupted()) {
                    throw e;
                }
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Calls for help with a run. Returns what ends the call, −1 if there is no help. If it throws, there is no call.
     */
    int call(ParallelRunLoop.Run run, int wanted) {
        int slot = 0;
        while (slot < MOST_RUNS && !calls.compareAndSet(slot, null, run)) {
            slot++;
        }
        if (slot == MOST_RUNS) {
            return -1;
        }
        boolean called = false;
        try {
            while (isRoused(wanted)) {
                push();
            }
            called = true;
        } finally {
            if (!called) {
                // A run that nobody ends would be helped with for ever.
                end(slot);
            }
        }
        return slot;
    }

    void end(int slot) {
        if (slot >= 0) {
            calls.set(slot, null);
        }
    }

    /** Tasks are ready in a run that has called: wakes a helper if not so many are awake. */
    void rouse(int wanted) {
        if (isRoused(wanted)) {
            push();
        }
    }

    private void push() {
        boolean pushed = false;
        try {
            engine.op("help with plans").recorded(false).push(this::help);
            pushed = true;
        } finally {
            if (!pushed) {
                awake.decrementAndGet();
            }
        }
    }

    private boolean isRoused(int wanted) {
        int enough = Math.min(most, wanted);
        int now = awake.get();
        while (now < enough) {
            if (awake.compareAndSet(now, now + 1)) {
                return true;
            }
            now = awake.get();
        }
        return false;
    }

    private void help() {
        OpenRuns.Inside inside = runs.help();
        try {
            do {
                try {
                    look();
                } finally {
                    awake.decrementAndGet();
                }
            } while (isWorkLeft() && isRoused(most));
        } finally {
            runs.end(inside);
        }
    }

    private void look() {
        SpinBackoff patience = new SpinBackoff();
        boolean called = true;
        while (!patience.isLost(called ? SpinBackoff.IN_RUN_NANOS : LINGER_NANOS)) {
            if (isHelped()) {
                patience.restore();
            } else if (called != isCalled()) {
                called = !called;
                patience.restore();
            }
        }
    }

    private boolean isHelped() {
        for (int i = 0; i < MOST_RUNS; i++) {
            ParallelRunLoop.Run run = calls.get(i);
            if (run != null && run.help()) {
                return true;
            }
        }
        return false;
    }

    private boolean isWorkLeft() {
        for (int i = 0; i < MOST_RUNS; i++) {
            ParallelRunLoop.Run run = calls.get(i);
            if (run != null && run.isWorkLeft()) {
                return true;
            }
        }
        return false;
    }

    /** Whether some run has called and not ended its call. */
    public boolean isCalled() {
        for (int i = 0; i < MOST_RUNS; i++) {
            if (calls.get(i) != null) {
                return true;
            }
        }
        return false;
    }
}
