package io.seriatim.executor;

import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Supplies the batches of a {@link Reader}. One thread at a time calls its methods, before the runs that need the
 * batches. {@link #next} may block; closing the reader interrupts it.
 */
public interface BatchSource extends AutoCloseable {
    /**
     * Returns the next batch. If this method throws, the run that would have received the batch fails with that
     * exception; the next run receives the batch of the next call.
     *
     * @return one tensor in host memory for each variable that the program reads, which must not change afterwards;
     * null at the end of the data
     * @throws Exception
     *             if the batch cannot be supplied
     */
    @Nullable
    List<Tensor> next() throws Exception;

    /**
     * Restarts the data from the beginning. It may be called before the end of the data.
     *
     * @throws Exception
     *             if the data cannot be restarted; the next run fails with that exception, and the run after it tries
     *             again
     */
    void reset() throws Exception;

    /**
     * Releases the resources of the source. It is called once, when the reader is closed.
     *
     * @throws IOException
     *             if releasing fails; {@code Reader.close} reports it
     */
    @Override
    default void close() throws IOException {
        // By default, a source has no resources to release.
    }

    /**
     * Creates a source from an iterable.
     *
     * @param batches
     *            the batches; each pass through the data uses a new iterator
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
