package io.seriatim.executor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * When a run of a plan ends early. A run that is stopped begins no further operation, in loops no further iteration; an
 * operation in progress is completed. The variables of the scope then have complete values, as after a failure, and
 * later runs work.
 *
 * <pre>{@code
 * plan.run(RunOptions.timeout(Duration.ofSeconds(2)).cancelOn(clientHasGone), x);
 * }</pre>
 */
public final class RunOptions {
    private static final RunOptions DEFAULTS = new RunOptions(null, List.of());

    private final @Nullable Duration timeout;
    private final List<CompletionStage<?>> stages;

    private RunOptions(@Nullable Duration timeout, List<CompletionStage<?>> stages) {
        this.timeout = timeout;
        this.stages = stages;
    }

    /**
     * Returns options of a run that ends only when it is complete, when it fails or when its thread is interrupted.
     *
     * @return the options
     */
    public static RunOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns options of a run with a time limit. When the time is over, the run throws a {@link RunTimeoutException}.
     *
     * @param limit
     *            the time from the call on, including the time in which it waits for other runs on the scope and for
     *            batches; at least 0
     * @return the options
     * @throws IllegalArgumentException
     *             if the limit is negative
     */
    public static RunOptions timeout(Duration limit) {
        if (limit.isNegative()) {
            throw new IllegalArgumentException("The time limit of a run must be 0 or more, but is " + limit);
        }
        return new RunOptions(limit, List.of());
    }

    /**
     * Returns these options for a run that is cancelled when a stage completes, normally or exceptionally; it then
     * throws a {@link CancellationException}. A run keeps no reference to the stage when it has ended, nor the stage to
     * the run.
     *
     * @param stage
     *            such as a future that completes when the client closes its connection
     * @return new options
     * @throws UnsupportedOperationException
     *             when a run begins, if the stage cannot be converted to a {@code CompletableFuture}
     */
    public RunOptions cancelOn(CompletionStage<?> stage) {
        List<CompletionStage<?>> all = new ArrayList<>(stages);
        all.add(Objects.requireNonNull(stage, "stage"));
        return new RunOptions(timeout, List.copyOf(all));
    }

    @Nullable
    Duration timeout() {
        return timeout;
    }

    List<CompletionStage<?>> stages() {
        return stages;
    }

    @Override
    public String toString() {
        return "run options: "
                + (timeout == null ? "no time limit" : "time limit " + timeout)
                + (stages.isEmpty() ? "" : ", cancelled by " + stages);
    }
}
