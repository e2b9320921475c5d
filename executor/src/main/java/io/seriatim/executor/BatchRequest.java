package io.seriatim.executor;

import io.seriatim.tensor.Tensor;
import java.util.Arrays;
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

    BatchRequest(boolean isAlone, Tensor... values) {
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

    /** Sets the results or the failure, and wakes the thread. */
    void end(@Nullable Results answer, @Nullable Throwable cause) {
        results = answer;
        failure = cause;
        hasEnded = true;
        LockSupport.unpark(thread);
    }
}
