package io.seriatim.executor;

import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the batches of a {@link Reader} come from. Its methods are called by one thread at a time, ahead of the runs
 * that need the batches; {@link #next} may block, and is interrupted when the reader is closed.
 */
public interface BatchSource extends AutoCloseable {
    /**
     * The next batch. What it throws comes out at the run that would have got the batch; later runs get those that are
     * asked for after it.
     *
     * @return one tensor of the host for each variable that the program reads, not to be changed any more; null at the
     * end of the data
     * @throws Exception
     *             if there is no such batch
     */
    @Nullable
    List<Tensor> next() throws Exception;

    /**
     * Begins the data again, at its end or before.
     *
     * @throws Exception
     *             if that is impossible; it comes out at the next run, and the one after it tries again
     */
    void reset() throws Exception;

    /**
     * Frees what the source holds. Called once, when the reader is closed.
     *
     * @throws IOException
     *             if that fails; it comes out of the reader's close
     */
    @Override
    default void close() throws IOException {
        // Most sources hold nothing but memory.
    }

    /**
     * Batches that something iterable gives.
     *
     * @param batches
     *            is iterated over once for each passage through the data
     * @return a source
     */
    static BatchSource of(Iterable<? extends List<Tensor>> batches) {
        return new BatchSource() {
            private Iterator<? extends List<Tensor>> rest = batches.iterator();

            @Override
            public @Nullable List<Tensor> next() {
                return rest.hasNext() ? rest.next() : null;
            }

            @Override
            public void reset() {
                rest = batches.iterator();
            }
        };
    }
}
