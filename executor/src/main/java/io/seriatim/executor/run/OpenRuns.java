package io.seriatim.executor.run;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Var;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Counts the runs of an executor in progress, so that closing it releases its threads and memory only after the last
 * run.
 *
 * <p>
 * <b>Open.</b> Every run is counted from its first step to its last, also if it fails. <b>Closing.</b> New runs are
 * rejected. Counted runs continue, and a thread within a run may start nested runs as part of it. Runs that were pushed
 * on an engine before are counted when they begin; {@link #close} waits for the variables of their scopes, which also
 * covers operations that are skipped. <b>Closed.</b> All runs are rejected.
 *
 * <p>
 * A run increments a count and then reads the state. {@code close} changes the state and then reads the counts. So
 * either the run observes the new state, is rejected and decrements the count, or {@code close} waits for it.
 *
 * <p>
 * No wake-up is lost: a waiting thread registers before it reads the counts, and a thread that decrements a count looks
 * for registered threads afterwards.
 *
 * <p>
 * A nested run ends before the run that started it. So if all counts are read one after the other as 0, no run is in
 * progress.
 *
 * <p>
 * The class is not final, so that tests can inject bugs by overriding its methods.
 */
public class OpenRuns {
    private static final int OPEN = 0;
    private static final int CLOSING = 1;
    private static final int CLOSED = 2;
    /** The number of counts. Each is in a separate cache line, so that threads do not contend for one. */
    private static final int PLACES = 16;
    private static final int LINE = 16;
    /** The innermost run that the current thread executes. */
    private static final ThreadLocal<@Nullable Inside> INNERMOST = new ThreadLocal<>();

    private final AtomicLongArray counts = new AtomicLongArray((PLACES + 1) * LINE);
    private final AtomicInteger state = new AtomicInteger(OPEN);
    private final Queue<CompletableFuture<Void>> waiting = new ConcurrentLinkedQueue<>();
    /**
     * The variables of the scopes on which runs were pushed, with their engines. The references are weak; a pending
     * operation keeps its variables reachable.
     */
    @GuardedBy("this")
    private final Map<Var, WeakReference<Engine>> pushed = new WeakHashMap<>();

    /** Records that a thread executes a run of an executor, or helps with one. */
    public static final class Inside {
        private final OpenRuns of;
        private final @Nullable Inside outer;
        /** The index of the count that was incremented; −1 if none was. */
        private final int place;

        private Inside(OpenRuns of, @Nullable Inside outer, int place) {
            this.of = of;
            this.outer = outer;
            this.place = place;
        }
    }

    /**
     * Begins a run on the current thread. {@link #end} must be called for the result, also if the run fails.
     *
     * @throws IllegalStateException
     *             if the executor is closed or being closed, and the run is not nested
     */
    public Inside begin() {
        return begin(CLOSING);
    }

    /** Begins a run that was pushed on an engine before the executor was closed. */
    public Inside beginPushed() {
        return begin(CLOSED);
    }

    private Inside begin(int refused) {
        Inside outer = INNERMOST.get();
        Inside inside = new Inside(this, outer, LINE * (1 + (int) (Thread.currentThread().threadId() % PLACES)));
        INNERMOST.set(inside);
        // No allocation follows, so no OutOfMemoryError can prevent a counted run from being uncounted.
        counts.getAndIncrement(inside.place);
        if (state.get() >= refused && !isInside(outer)) {
            end(inside);
            throw new IllegalStateException("The executor is closed or being closed, and accepts no new runs: "
                    + "close it after the last run, or build another executor");
        }
        return inside;
    }

    /**
     * Marks the current thread as working for a run that is already counted. Runs that it starts are nested in that
     * run.
     */
    public Inside help() {
        Inside inside = new Inside(this, INNERMOST.get(), -1);
        INNERMOST.set(inside);
        return inside;
    }

    /** Ends a run, or the current thread's work for it. */
    public void end(Inside inside) {
        INNERMOST.set(inside.outer);
        if (inside.place >= 0) {
            counts.getAndDecrement(inside.place);
            if (state.get() != OPEN) {
                wakeIfNone();
            }
        }
    }

    /** Notes the scope's variable before a run is pushed. Called between {@link #begin} and {@link #end}. */
    public synchronized void pushed(Engine engine, Var scope) {
        pushed.put(scope, new WeakReference<>(engine));
    }

    @SuppressWarnings("ReferenceEquality") // Identity is intended.
    private boolean isInside(@Nullable Inside innermost) {
        for (Inside each = innermost; each != null; each = each.outer) {
            if (each.of == this) {
                return true;
            }
        }
        return false;
    }

    private void wakeIfNone() {
        for (int i = 1; i <= PLACES; i++) {
            if (counts.get(LINE * i) != 0) {
                return;
            }
        }
        waiting.forEach(closer -> closer.complete(null));
    }

    /**
     * Rejects new runs and waits until all others have ended.
     *
     * @param shared
     *            the caller's engine that runs the tasks; null if the executor owns its engine
     * @throws IllegalStateException
     *             if the current thread is within a run of this executor, or if it is interrupted while runs are in
     *             progress; its interrupt status stays set
     */
    public void close(@Nullable Engine shared) {
        if (isInside(INNERMOST.get())) {
            throw new IllegalStateException(
                    "An executor cannot be closed within one of its own runs, because closing waits for the "
                            + "run: close it after the run");
        }
        raise(CLOSING);
        // A thread that was already interrupted does not wait; it closes the executor only if no run is in progress.
        boolean looks = Thread.interrupted();
        try {
            // After this wait, the map contains the scopes of all runs that were being pushed.
            awaitNone(shared, looks);
            for (Map.Entry<Var, Engine> each : scopes()) {
                if (looks) {
                    each.getValue().waitToWrite(each.getKey(), Duration.ZERO);
                } else {
                    each.getValue().waitToWrite(each.getKey());
                }
            }
            raise(CLOSED);
            awaitNone(shared, looks);
        } catch (InterruptedException | TimeoutException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(
                    "Closing the executor was interrupted while runs were in progress or pending on an engine. "
                            + "They continue, and new runs are rejected: "
                            + "close it again to wait for them, or interrupt their threads to end them early",
                    e);
        }
        if (looks) {
            Thread.currentThread().interrupt();
        }
    }

    private void raise(int to) {
        state.accumulateAndGet(to, Math::max);
    }

    private synchronized List<Map.Entry<Var, Engine>> scopes() {
        List<Map.Entry<Var, Engine>> all = new ArrayList<>();
        pushed.forEach((scope, reference) -> {
            Engine engine = reference.get();
            if (engine != null) {
                all.add(Map.entry(scope, engine));
            }
        });
        return all;
    }

    @SuppressWarnings("CollectionUndefinedEquality") // A future is equal to itself only, which is what is removed.
    private void awaitNone(@Nullable Engine shared, boolean looks) throws InterruptedException {
        CompletableFuture<Void> none = new CompletableFuture<>();
        waiting.add(none);
        try {
            wakeIfNone();
            if (none.isDone()) {
                return;
            }
            if (looks) {
                throw new InterruptedException("interrupted before waiting for the last run");
            }
            if (shared != null) {
                shared.await(none);
            } else {
                Engine.blocking(() -> get(none));
            }
        } finally {
            waiting.remove(none);
        }
    }

    private static void get(CompletableFuture<Void> none) throws InterruptedException {
        try {
            none.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("The future is never completed with an exception", e);
        }
    }
}
