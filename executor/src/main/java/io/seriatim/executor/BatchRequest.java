package io.seriatim.executor;

import io.seriatim.executor.run.Cancellation;
import io.seriatim.tensor.Tensor;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A request of one thread to a {@link RequestBatcher}, and its outcome. Setting the outcome allocates no memory, so
 * that an OutOfMemoryError leaves no thread waiting.
 */
final class BatchRequest {
    final Tensor[] values;
    final long rows;
    /** Whether the request was in a batch that failed. It is then run alone, to determine whether it is the cause. */
    final boolean isAlone;
    /** Whether the rows of a feed are divided into sequences, whose offsets a batch would not have. */
    final boolean isDivided;
    final Thread thread = Thread.currentThread();
    final Cancellation cancellation;
    /** As of {@link System#nanoTime}. */
    final long arrival = System.nanoTime();
    /** The nanoseconds from {@link #arrival} on after which the request is to have ended. */
    private final long limit;
    /**
     * Whether its thread has the turn. The thread then runs the next batch and passes the turn on, also if it fails.
     */
    volatile boolean leads;
    /** The batcher's lock guards this field and the next six until the request has ended. */
    @Nullable
    BatchRequest before;
    @Nullable
    BatchRequest after;
    boolean isWaiting;
    int batch = 1;
    long nanos;
    @Nullable
    Results results;
    @Nullable
    Throwable failure;
    /** Whether {@link #results} or {@link #failure} is set. */
    volatile boolean hasEnded;
    /** Whether another thread runs the request and has copied its values. */
    volatile boolean isJoined;

    BatchRequest(boolean isAlone, Cancellation cancellation, @Nullable Duration limit, Tensor... values) {
        this.cancellation = cancellation;
        this.limit = limit == null ? Long.MAX_VALUE : StoppableRun.nanos(limit);
        this.isDivided = Arrays.stream(values).anyMatch(value -> !value.lod().isEmpty());
        this.isAlone = isAlone || isDivided;
        this.values = values;
        this.rows = Rows.count(values[0]);
    }

    /** Returns whether two requests may be in one batch: they may differ only in the number of rows. */
    boolean fits(BatchRequest other) {
        for (int i = 0; i < values.length; i++) {
            if (values[i].dtype() != other.values[i].dtype()
                    || !Rows.shape(values[i]).equals(Rows.shape(other.values[i]))) {
                return false;
            }
        }
        return !isAlone && !other.isAlone;
    }

    /** Returns for how many nanoseconds from a time on the request may wait for others, because of its time limit. */
    long patience(long from) {
        // The other half is for the run.
        return limit == Long.MAX_VALUE ? limit : limit / 2 - (from - arrival);
    }

    /** Returns how many nanoseconds are left of its time limit; the longest time if it has none. */
    long remaining(long now) {
        return limit == Long.MAX_VALUE ? limit : limit - (now - arrival);
    }

    /** Notes that the values are copied, and wakes the thread, which may be stopped. */
    void setJoined() {
        isJoined = true;
        if (cancellation.isStopped()) {
            LockSupport.unpark(thread);
        }
    }

    /** Returns options by which the run of a batch ends when no request can wait for it any more. */
    static RunOptions limits(List<BatchRequest> batch) {
        long now = System.nanoTime();
        long longest = batch.stream().mapToLong(request -> request.remaining(now)).max().orElseThrow();
        return longest == Long.MAX_VALUE
                ? RunOptions.defaults()
                : RunOptions.timeout(Duration.ofNanos(Math.max(0, longest)));
    }

    /** Sets the results or the failure, and wakes the thread. */
    void end(@Nullable Results answer, @Nullable Throwable cause) {
        results = answer;
        failure = cause;
        hasEnded = true;
        LockSupport.unpark(thread);
    }
}
