package io.seriatim.executor;

import io.seriatim.tensor.Tensor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A request of one thread to a {@link RequestBatcher}, and its outcome. The outcome is told without allocating memory,
 * so that a lack of memory leaves no thread waiting.
 */
final class BatchRequest {
    final Tensor[] values;
    final long rows;
    /** Whether it has been in a batch that failed: run alone, it shows whether it was the cause. */
    final boolean isAlone;
    final Thread thread = Thread.currentThread();
    /** Whether its thread has a turn: that runs the next batch, and passes the turn on, however the batch ends. */
    volatile boolean leads;
    /** This field and the next six are guarded by the batcher's lock until the request has ended. */
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
    /** Whether results or failure are set. */
    volatile boolean hasEnded;

    BatchRequest(boolean isAlone, Tensor... values) {
        this.isAlone = isAlone;
        this.values = values;
        this.rows = Rows.count(values[0]);
    }

    /** Whether both may be in one batch: only the numbers of rows differ. */
    boolean fits(BatchRequest other) {
        for (int i = 0; i < values.length; i++) {
            if (values[i].dtype() != other.values[i].dtype()
                    || !Rows.shape(values[i]).equals(Rows.shape(other.values[i]))) {
                return false;
            }
        }
        return !isAlone && !other.isAlone;
    }

    /** Tells the thread its results, or why there are none. */
    void end(@Nullable Results answer, @Nullable Throwable cause) {
        results = answer;
        failure = cause;
        hasEnded = true;
        LockSupport.unpark(thread);
    }
}
