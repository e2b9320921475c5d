package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.engine.Engine;
import io.seriatim.engine.OpBuilder;
import io.seriatim.engine.Var;
import io.seriatim.executor.run.Cancellation;
import io.seriatim.executor.run.OpenRuns;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A synchronous run whose tasks are pushed on an engine, called by a thread that is not executing an operation of that
 * engine. The run itself is pushed as an operation, and the calling thread waits for it.
 *
 * <p>
 * The engine thus orders the run relative to the runs that were pushed. If the thread instead acquired the scope's lock
 * and then pushed tasks, a deadlock could result: the pushed runs would wait for the lock, and this run would wait for
 * capacity in the engine, for its only worker, or, on an engine without threads, for an operation that the same thread
 * has started.
 */
final class CalledRun {
    private enum State {
        WAITING, RUNNING, ENDED, GIVEN_UP
    }

    private final Supplier<Results> run;
    private final OpenRuns runs;
    private final Cancellation cancellation;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    @GuardedBy("this")
    private State state = State.WAITING;
    @GuardedBy("this")
    private @Nullable Thread thread;
    @GuardedBy("this")
    private boolean isInterrupted;
    private @Nullable Results results;
    private @Nullable Throwable thrown;

    CalledRun(OpenRuns runs, Cancellation cancellation, Supplier<Results> run) {
        this.runs = runs;
        this.cancellation = cancellation;
        this.run = run;
    }

    /** Executes the run, and returns its results or throws its exception. */
    Results on(Engine engine, Var scope, boolean writes) {
        OpBuilder op = engine.op("run of a plan that was called").recorded(false).evenIfFailed();
        CompletableFuture<Void> pushed = (writes ? op.mutates(scope) : op.reads(scope)).submit(this::execute);
        // The body completes the future "ended", because the body may outlast a shutdown of the engine. The future
        // "pushed" matters only if a shutdown discards the operation before it starts.
        pushed.whenComplete((_, cause) -> cancel(cause)).isDone();
        if (await(engine)) {
            Thread.currentThread().interrupt();
        }
        Throwable failure = thrown;
        return switch (failure) {
            case null -> Objects.requireNonNull(results);
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException("A run has failed: " + failure, failure);
        };
    }

    /**
     * Waits until the run has ended. An interrupt is forwarded to the thread that executes the run. Returns whether the
     * calling thread was interrupted.
     */
    private boolean await(Engine engine) {
        boolean interrupted = false;
        boolean stopped = false;
        while (true) {
            try {
                if (stopped) {
                    engine.await(ended);
                } else {
                    cancellation.waiting(() -> {
                        engine.await(ended);
                        return ended;
                    });
                }
                return interrupted;
            } catch (Cancellation.Stopped e) {
                // A run that has begun ends before its next operation.
                stopped = true;
                if (isWithdrawn()) {
                    thrown = e;
                    return interrupted;
                }
            } catch (InterruptedException e) {
                interrupted = true;
                if (isGivenUp()) {
                    thrown = Plan.interruptedBefore(e);
                    return true;
                }
            }
        }
    }

    /** Withdraws the run if it has not begun, and returns whether it had not. */
    private synchronized boolean isWithdrawn() {
        if (state == State.WAITING) {
            state = State.GIVEN_UP;
        }
        return state == State.GIVEN_UP;
    }

    private synchronized boolean isGivenUp() {
        if (state == State.WAITING) {
            state = State.GIVEN_UP;
        } else if (thread != null && !thread.equals(Thread.currentThread())) {
            isInterrupted = true;
            thread.interrupt();
        }
        return state == State.GIVEN_UP;
    }

    private synchronized boolean isBegun() {
        if (state == State.WAITING) {
            state = State.RUNNING;
            thread = Thread.currentThread();
        }
        return state == State.RUNNING;
    }

    private synchronized void end() {
        state = State.ENDED;
        thread = null;
        if (isInterrupted) {
            // Clears the interrupt forwarded to the run, so that it does not affect the worker's next operation.
            Thread.interrupted();
        }
    }

    private void execute() {
        if (!isBegun()) {
            return;
        }
        OpenRuns.Inside inside = runs.help();
        try {
            results = run.get();
        } catch (Throwable e) {
            thrown = e;
        } finally {
            runs.end(inside);
            end();
            ended.complete(null);
        }
    }

    private synchronized void cancel(@Nullable Throwable cause) {
        if (state == State.WAITING) {
            state = State.GIVEN_UP;
            thrown = new IllegalStateException("The engine discarded the run of the plan before it started: " + cause,
                    cause);
            ended.complete(null);
        }
    }
}
