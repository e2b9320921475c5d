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
 * The runs of an executor that have begun and have not ended, so that it lets go of its threads and memory only after
 * the last.
 *
 * <p>
 * <b>Open.</b> Every run is counted from its first step to its last, however it ends. <b>Closing.</b> New runs are
 * refused. Those that are counted go on, with all that they begin themselves: a thread inside of a run may begin
 * another one as part of it. Runs that were pushed on an engine before are counted when they begin; {@link #close}
 * waits for the variables of their scopes, which tell also of those that are skipped. <b>Closed.</b> Nothing begins any
 * more.
 *
 * <p>
 * A run counts itself and then looks at the state; {@code close} changes the state and then looks at the counts. So
 * either the run is refused, and counts itself off, or {@code close} waits for it. Whoever waits registers first and
 * looks at the counts afterwards; whoever lowers a count looks for those who are registered afterwards. So no wake-up
 * is lost. What a run begins ends before it does, so counts that are read one after the other and are all 0 mean that
 * there is none.
 *
 * <p>
 * Not final, so that tests can plant bugs in it.
 */
public class OpenRuns {
    private static final int OPEN = 0;
    private static final int CLOSING = 1;
    private static final int CLOSED = 2;
    /**
     * Threads count in different places, each in a cache line of its own, so that they do not wait for one another's.
     */
    private static final int PLACES = 16;
    private static final int LINE = 16;
    /** The innermost run that the thread is inside of. */
    private static final ThreadLocal<@Nullable Inside> INNERMOST = new ThreadLocal<>();

    private final AtomicLongArray counts = new AtomicLongArray((PLACES + 1) * LINE);
    private final AtomicInteger state = new AtomicInteger(OPEN);
    private final Queue<CompletableFuture<Void>> waiting = new ConcurrentLinkedQueue<>();
    /**
     * The variables of the scopes on which runs were pushed, with their engines. Weak: an operation that is pending
     * holds its variables itself.
     */
    @GuardedBy("this")
    private final Map<Var, WeakReference<Engine>> pushed = new WeakHashMap<>();

    /** That a thread is inside of a run of an executor. */
    public static final class Inside {
        private final OpenRuns of;
        private final @Nullable Inside outer;
        /** Where it is counted; −1 if it is not. */
        private final int place;

        private Inside(OpenRuns of, @Nullable Inside outer, int place) {
            this.of = of;
            this.outer = outer;
            this.place = place;
        }
    }

    /** A run begins on this thread. To be followed by {@link #end}, whatever happens. */
    public Inside begin() {
        return begin(CLOSING);
    }

    /** A run begins that was pushed on an engine when that was allowed. */
    public Inside beginPushed() {
        return begin(CLOSED);
    }

    private Inside begin(int refused) {
        Inside outer = INNERMOST.get();
        Inside inside = new Inside(this, outer, LINE * (1 + (int) (Thread.currentThread().threadId() % PLACES)));
        INNERMOST.set(inside);
        // Nothing is allocated from here on: a run that is counted is counted off.
        counts.getAndIncrement(inside.place);
        if (state.get() >= refused && !isInside(outer)) {
            end(inside);
            throw new IllegalStateException("The executor is closed, or is being closed: no run may begin any more. "
                    + "Close it after the last run, or make another executor");
        }
        return inside;
    }

    /** A thread works for a run that is counted already: what it begins is part of that. */
    public Inside help() {
        Inside inside = new Inside(this, INNERMOST.get(), -1);
        INNERMOST.set(inside);
        return inside;
    }

    /** The run has ended, or the thread works for it no more. */
    public void end(Inside inside) {
        INNERMOST.set(inside.outer);
        if (inside.place >= 0) {
            counts.getAndDecrement(inside.place);
            if (state.get() != OPEN) {
                wakeIfNone();
            }
        }
    }

    /** A run is about to be pushed, inside of {@link #begin}. */
    public synchronized void pushed(Engine engine, Var scope) {
        pushed.put(scope, new WeakReference<>(engine));
    }

    @SuppressWarnings("ReferenceEquality") // These runs themselves.
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
     * Refuses new runs and waits until all others have ended.
     *
     * @param shared
     *            the engine that runs the tasks; null if that is nobody else's
     * @throws IllegalStateException
     *             if the thread is interrupted and there is something to wait for; it stays interrupted
     */
    public void close(@Nullable Engine shared) {
        if (isInside(INNERMOST.get())) {
            throw new IllegalStateException(
                    "An executor cannot be closed inside of one of its own runs, for which it would wait: close it "
                            + "after the run");
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
            throw new IllegalStateException(
                    "The closing of an executor was interrupted while runs were under way, or pushed and to come. "
                            + "They go on, and others are refused: "
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
