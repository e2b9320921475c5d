package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.engine.Engine;
import io.seriatim.engine.OpBuilder;
import io.seriatim.engine.Var;
import io.seriatim.executor.run.OpenRuns;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A run whose tasks are pushed on an engine, called by a thread outside of that engine's operations: it is an operation
 * itself, which the thread waits for.
 *
 * <p>
 * So the engine orders it among the runs that were pushed. If the thread took the scope's lock first and pushed tasks
 * then, each could wait for the other: the pushed runs for the lock, this one for room in the engine, for its only
 * worker, or, on an engine without threads, for an operation that the same thread has begun meanwhile.
 */
final class CalledRun {
    private enum State {
        WAITING, RUNNING, ENDED, GIVEN_UP
    }

    private final Supplier<Results> run;
    private final OpenRuns runs;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    @GuardedBy("this")
    private State state = State.WAITING;
    @GuardedBy("this")
    private @Nullable Thread thread;
    @GuardedBy("this")
    private boolean isInterrupted;
    private @Nullable Results results;
    private @Nullable Throwable thrown;

    CalledRun(OpenRuns runs, Supplier<Results> run) {
        this.runs = runs;
        this.run = run;
    }

    /** Runs, and gives or throws what the run does. */
    Results on(Engine engine, Var scope, boolean writes) {
        OpBuilder op = engine.op("run of a plan that was called").recorded(false).evenIfFailed();
        CompletableFuture<Void> pushed = (writes ? op.mutates(scope) : op.reads(scope)).submit(this::execute);
        // Its end is told by the body, which may go on for a while after the engine was shut down; only a shutdown ends
        // it before it has begun.
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
     * Until the run has ended. Returns whether this thread was interrupted meanwhile, which is passed on to the run's.
     */
    private boolean await(Engine engine) {
        boolean interrupted = false;
        while (true) {
            try {
                engine.await(ended);
                return interrupted;
            } catch (InterruptedException e) {
                interrupted = true;
                if (isGivenUp()) {
                    thrown = Plan.interruptedBefore(e);
                    return true;
                }
            }
        }
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
            // That was for the run, not for what the worker does next.
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
            thrown = new IllegalStateException("The engine could not run the plan: " + cause, cause);
            ended.complete(null);
        }
    }
}
