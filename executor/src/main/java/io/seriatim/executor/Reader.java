package io.seriatim.executor;

import io.seriatim.engine.Engine;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Supplies batches to the {@code read} operations of programs, prefetched from a source on the copy lane of an engine.
 * {@code scope.set("data", reader)} makes it available to programs. Outside of programs, {@link #next} takes a batch.
 *
 * <ul>
 * <li>Runs receive the batches in the order of the source, each batch once, regardless of the threads and plans of the
 * runs.
 * <li>After the last batch, one run throws {@link EndOfDataException}; the next run restarts the data.
 * <li>The readers of a program advance together: a run takes a batch of each, and at the end of the data of one, all
 * restart.
 * <li>Prefetching begins with the first run, and again with the first run after each end or reset, so that the source
 * may be changed in between.
 * </ul>
 */
public final class Reader implements AutoCloseable {
    private static final int AHEAD = 2;

    private final SourceGate gate;
    private final BatchQueue queue;

    /** The outcome of a request to the source. */
    sealed interface Outcome {
        /**
         * A batch.
         *
         * @param tensors
         *            the tensors that the source returned
         */
        record Batch(List<Tensor> tensors) implements Outcome {
        }

        /**
         * The source has thrown an exception.
         *
         * @param cause
         *            the exception
         */
        record Failed(Throwable cause) implements Outcome {
        }

        /** Outcomes without data. */
        enum Sign implements Outcome {
            /** The end of the data. */
            END,
            /** The source was not called, because the epoch of the slot has ended. */
            VOID,
            /** The source was not called, or was interrupted, because the reader is closed. */
            CLOSED
        }
    }

    /** Builds a reader. */
    public static final class Builder {
        private final BatchSource source;
        private int ahead = AHEAD;
        private @Nullable Engine engine;

        private Builder(BatchSource source) {
            this.source = Objects.requireNonNull(source, "source");
        }

        /**
         * Sets how many batches are prefetched.
         *
         * @param batches
         *            at least 1; 2 by default
         * @return this
         */
        public Builder ahead(int batches) {
            if (batches < 1) {
                throw new IllegalArgumentException(
                        "The number of prefetched batches must be 1 or more, but is " + batches);
            }
            ahead = batches;
            return this;
        }

        /**
         * Prefetches on the copy lane of a shared engine, instead of an engine that the reader owns.
         *
         * @param shared
         *            an engine that stays open while the reader is used; the reader has at most one more pending
         *            operation than prefetched batches, and pushes operations without waiting for capacity
         * @return this
         */
        public Builder engine(Engine shared) {
            engine = Objects.requireNonNull(shared, "engine");
            return this;
        }

        /**
         * Builds the reader.
         *
         * @return a reader that has not called the source yet
         */
        public Reader build() {
            return new Reader(this);
        }
    }

    private Reader(Builder options) {
        gate = new SourceGate(options.source);
        queue = new BatchQueue(gate, options.ahead, options.engine);
    }

    /**
     * Creates a reader with its own thread, which prefetches two batches.
     *
     * @param source
     *            the source of batches, which is closed with the reader
     * @return the reader
     */
    public static Reader of(BatchSource source) {
        return builder(source).build();
    }

    /**
     * Creates a builder, which collects options.
     *
     * @param source
     *            the source of batches, which is closed with the reader
     * @return the builder
     */
    public static Builder builder(BatchSource source) {
        return new Builder(source);
    }

    /**
     * Discards prefetched batches and restarts the data with the next run. Runs that are already waiting for a batch
     * still receive it.
     */
    public void reset() {
        queue.reset();
    }

    /**
     * Takes a batch outside of a program, as a run of a program does; waits if it has not been read yet. After the end
     * of the data, the next call restarts the data.
     *
     * @return the tensors that the source returned; null at the end of the data
     * @throws InterruptedException
     *             if the thread is interrupted while it waits; the next call or run receives the batch
     * @throws IllegalStateException
     *             if the reader or its engine is closed before or during the call
     * @throws Exception
     *             the exception that the source threw for this batch; the next call returns the next batch
     */
    public @Nullable List<Tensor> next() throws Exception {
        return switch (take(List.of(this)).getFirst()) {
            case Outcome.Batch(List<Tensor> tensors) -> tensors;
            case Outcome.Failed(Exception e) -> throw e;
            case Outcome.Failed(Error e) -> throw e;
            case Outcome.Failed(Throwable e) -> throw new IllegalStateException("The source threw " + e, e);
            case Outcome.Sign.END -> null;
            case Outcome.Sign.CLOSED, Outcome.Sign.VOID -> throw new IllegalStateException(
                    "The reader was closed while a thread waited for a batch: close it after the last batch was taken");
        };
    }

    /**
     * Takes the next outcomes of some readers together: batches, failures, or the end of the data of one, after which
     * all of them restart.
     *
     * @param readers
     *            one for each outcome; the same reader may occur several times
     */
    static List<Outcome> take(List<Reader> readers) throws InterruptedException {
        return claim(readers, null).outcomes();
    }

    /** Takes outcomes with a turn in an order; {@code order} is null if the order does not matter. */
    static BatchClaim claim(List<Reader> readers, @Nullable RunOrder order) throws InterruptedException {
        return BatchClaim.take(readers.stream().map(reader -> reader.queue).toList(), order);
    }

    /**
     * Closes the reader: interrupts a call of the source in progress, waits until it has returned, and closes the
     * source. Runs that wait for a batch fail, and so do later runs. Closing a closed reader has no effect.
     *
     * @throws IllegalStateException
     *             if the source calls this method, or if the source cannot be closed
     */
    @Override
    public void close() {
        if (gate.close()) {
            try {
                gate.closeSource();
            } finally {
                queue.close();
            }
        }
    }
}
