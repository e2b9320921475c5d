package io.seriatim.executor.run;

import io.seriatim.engine.Engine;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Threads that help with parallel runs of an executor's plans. Helpers are workers of an engine. A helper returns to
 * the engine when no run has requested help for a short time. A helper that is still spinning joins the next run of a
 * training or serving loop without being woken.
 *
 * <p>
 * A helper also returns when the runs that requested help have had no ready task for some milliseconds, so that a
 * single long task does not keep all threads busy.
 *
 * <p>
 * No wake-up is lost. A run puts a ready task into its queue before it reads the number of awake helpers. A helper
 * decrements that number before it examines the queues for the last time. So either the run observes too few helpers
 * and wakes one, or the helper finds the task.
 */
public final class HelperPool {
    /** The time for which a helper spins while no run requests help. */
    private static final long LINGER_NANOS = 50_000;
    /** The maximum number of concurrent runs that get helpers; further runs use only the calling thread. */
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
     * Closes an engine whose operations end soon by themselves. The wait is not interruptible, because the caller frees
     * the resources of the operations next.
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
     * Requests helpers for a run. Returns a slot for {@link #end}, or −1 if no helpers are available. If this method
     * throws, no request remains.
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
                // Otherwise the request would never end, and helpers would keep examining this run.
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

    /** Wakes a helper for a run with ready tasks if fewer than {@code wanted} are awake. */
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

    /** Returns whether any run currently requests help. */
    public boolean isCalled() {
        for (int i = 0; i < MOST_RUNS; i++) {
            if (calls.get(i) != null) {
                return true;
            }
        }
        return false;
    }
}
