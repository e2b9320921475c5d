package io.seriatim.executor;

import io.seriatim.executor.run.Cancellation;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Connects the {@link RunOptions} of a run with its cancellation, until the run has ended. */
final class StoppableRun {
    private StoppableRun() {
    }

    /** Executes a run; converts the exception of a run that was stopped to the public one. */
    static Results run(RunOptions options, Function<Cancellation, Results> body) {
        Duration limit = options.timeout();
        if (limit == null && options.stages().isEmpty()) {
            return body.apply(new Cancellation());
        }
        Cancellation cancellation = new Cancellation(true);
        CompletableFuture<Void> ended = new CompletableFuture<>();
        if (limit != null) {
            timer(limit, ended, cancellation);
        }
        options.stages().forEach(stage -> listen(stage, ended, cancellation));
        try {
            return body.apply(cancellation);
        } catch (Cancellation.Stopped e) {
            throw converted(e);
        } finally {
            // Removes the timer, and what depends on the stages.
            ended.complete(null);
        }
    }

    private static RuntimeException converted(Cancellation.Stopped stopped) {
        String message = String.valueOf(stopped.getMessage());
        if (stopped.isTimeout()) {
            return new RunTimeoutException(message);
        }
        CancellationException cancelled = new CancellationException(message);
        if (stopped.getCause() != null) {
            cancelled.initCause(stopped.getCause());
        }
        return cancelled;
    }

    private static void timer(Duration limit, CompletableFuture<Void> ended, Cancellation cancellation) {
        Cancellation.Stop stop = new Cancellation.Stop(true, "The run was not complete after " + limit + ": it ended",
                null);
        if (limit.isZero()) {
            cancellation.stop(stop);
            return;
        }
        CompletableFuture<Void> time = new CompletableFuture<Void>().orTimeout(nanos(limit), TimeUnit.NANOSECONDS);
        ended.whenComplete((_, _) -> time.complete(null)).isDone();
        time.whenComplete((_, over) -> {
            if (over != null) {
                cancellation.stop(stop);
            }
        }).isDone();
    }

    /** Returns a length of time, or the longest one that a {@code long} has. */
    static long nanos(Duration limit) {
        try {
            return limit.toNanos();
        } catch (ArithmeticException e) {
            return Long.MAX_VALUE;
        }
    }

    /** When either of both futures completes, {@code anyOf} removes itself from the other. */
    private static void listen(CompletionStage<?> stage, CompletableFuture<Void> ended, Cancellation cancellation) {
        CompletableFuture<?> of = stage.toCompletableFuture();
        CompletableFuture.anyOf(of, ended).whenComplete((_, cause) -> {
            if (!ended.isDone()) {
                // anyOf wraps the failure of a stage.
                Throwable own = cause instanceof CompletionException ? cause.getCause() : cause;
                cancellation.stop(new Cancellation.Stop(false, "The run was cancelled: it ended", own));
            }
        }).isDone();
    }
}
