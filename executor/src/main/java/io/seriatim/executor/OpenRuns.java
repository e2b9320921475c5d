package io.seriatim.executor;

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
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The runs of an executor that have begun and have not ended, so that it lets go of its threads and memory only after the last.
 *
 * <p>
 * <b>Open.</b> Every run is counted from its first step to its last, however it ends. <b>Closing.</b> New runs are refused. Those that are counted go on, with all that they begin themselves: a thread inside of a run may begin another
 * one as part of it. Runs that were pushed on an engine before are counted when they begin; {@link #close} waits for the variables of their scopes, which tell also of those that are skipped. <b>Closed.</b> Nothing begins any more.
 *
 * <p>
 * One number holds both the state and the count, so a run that is counted has been admitted, and {@code close}, which changes the state and then looks at the count, misses none. Whoever waits registers first and looks at the count afterwards; whoever
 * lowers the count to 0 looks for those who are registered afterwards. So no wake-up is lost.
 *
 * <p>
 * Not final, so that tests can plant bugs in it.
 */
class OpenRuns {
    private static final long CLOSING = 1L << 62;
    private static final long CLOSED = 1L << 61;
    private static final long COUNT = CLOSED - 1;
    /** The innermost run that the thread is inside of. */
    private static final ThreadLocal<@Nullable Inside> INNERMOST = new ThreadLocal<>();

    private final AtomicLong state = new AtomicLong();
    private final Queue<CompletableFuture<Void>> waiting = new ConcurrentLinkedQueue<>();
    /** The variables of the scopes on which runs were pushed, with their engines. Weak: an operation that is pending holds its variables itself. */
    @GuardedBy("this")
    private final Map<Var, WeakReference<Engine>> pushed = new WeakHashMap<>();

    /** That a thread is inside of a run of an executor. */
    static final class Inside {
        private final OpenRuns of;
        private final @Nullable Inside outer;
        private final boolean isCounted;

        private Inside(OpenRuns of, @Nullable Inside outer, boolean isCounted) {
            this.of = of;
            this.outer = outer;
            this.isCounted = isCounted;
        }
    }

    /** A run begins on this thread. To be followed by {@link #end}, whatever happens. */
    Inside begin() {
        return begin(CLOSING);
    }

    /** A run begins that was pushed on an engine when that was allowed. */
    Inside beginPushed() {
        return begin(CLOSED);
    }

    private Inside begin(long refused) {
        Inside outer = INNERMOST.get();
        Inside inside = new Inside(this, outer, true);
        INNERMOST.set(inside);
        // Nothing is allocated from here on: a run that is counted is counted off.
        long seen;
        do {
            seen = state.get();
            if ((seen & refused) != 0 && !isInside(outer)) {
                INNERMOST.set(outer);
                throw new IllegalStateException("The executor is closed, or is being closed: no run may begin any more. "
                        + "Close it after the last run, or make another executor");
            }
        } while (!state.compareAndSet(seen, seen + 1));
        return inside;
    }

    /** A thread works for a run that is counted already: what it begins is part of that. */
    Inside help() {
        Inside inside = new Inside(this, INNERMOST.get(), false);
        INNERMOST.set(inside);
        return inside;
    }

    /** The run has ended, or the thread works for it no more. */
    void end(Inside inside) {
        INNERMOST.set(inside.outer);
        if (inside.isCounted && state.decrementAndGet() >= CLOSED) {
            wakeIfNone();
        }
    }

    /** A run is about to be pushed, inside of {@link #begin}. */
    synchronized void pushed(Engine engine, Var scope) {
        pushed.put(scope, new WeakReference<>(engine));
    }

    private boolean isInside(@Nullable Inside innermost) {
        for (Inside each = innermost; each != null; each = each.outer) {
            if (each.of == this) {
                return true;
            }
        }
        return false;
    }

    private void wakeIfNone() {
        if ((state.get() & COUNT) == 0) {
            waiting.forEach(closer -> closer.complete(null));
        }
    }

    /**
     * Refuses new runs and waits until all others have ended.
     *
     * @param shared
     *            the engine that runs the tasks; null if that is nobody else's
     * @throws IllegalStateException
     *             if the thread is interrupted and there is something to wait for; it stays interrupted
     */
    void close(@Nullable Engine shared) {
        if (isInside(INNERMOST.get())) {
            throw new IllegalStateException(
                    "An executor cannot be closed inside of one of its own runs, for which it would wait: close it after the run");
        }
        raise(CLOSING);
        // A thread that was interrupted before closes what need not be waited for.
        boolean looks = Thread.interrupted();
        try {
            // Those that are being pushed are in the list afterwards.
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
            throw new IllegalStateException("The closing of an executor was interrupted while runs were under way, or pushed and to come. They go on, and others are refused: "
                    + "close it again to wait for them, or interrupt their threads to end them early", e);
        }
        if (looks) {
            Thread.currentThread().interrupt();
        }
    }

    private void raise(long flag) {
        state.updateAndGet(seen -> seen | flag);
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

    private void awaitNone(@Nullable Engine shared, boolean looks) throws InterruptedException {
        CompletableFuture<Void> none = new CompletableFuture<>();
        waiting.add(none);
        try {
            wakeIfNone();
            if (none.isDone()) {
                return;
            }
            if (looks) {
                throw new InterruptedException("before the wait for the last run");
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
            throw new IllegalStateException("Nobody completes it so", e);
        }
    }
}
