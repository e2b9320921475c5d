package io.seriatim.executor;

import io.seriatim.engine.Engine;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a program's {@code read} operations take their batches from: a source that is read ahead on the copy lane of an
 * engine. A scope makes it known to programs: {@code scope.set("data", reader)}; outside of programs {@link #next}
 * takes a batch.
 *
 * <ul>
 * <li>Runs get the batches in the order of the source, each batch once, whichever threads and plans they are of.
 * <li>After the last batch one run throws {@link EndOfDataException}; the one after it begins the data again.
 * <li>A program with several readers goes through them in step: a run takes a batch of each, and when one is at its end
 * all begin again.
 * <li>Reading ahead begins with the first run, and anew with the first after each end or reset, so that the source may
 * be changed in between.
 * </ul>
 */
public final class Reader implements AutoCloseable {
    private static final int AHEAD = 2;

    private final SourceGate gate;
    private final BatchQueue queue;

    /** What the source said. */
    sealed interface Outcome {
        /**
         * A batch.
         *
         * @param tensors
         *            as the source gave them
         */
        record Batch(List<Tensor> tensors) implements Outcome {
        }

        /**
         * The source has thrown.
         *
         * @param cause
         *            what
         */
        record Failed(Throwable cause) implements Outcome {
        }

        /** What carries nothing. */
        enum Sign implements Outcome {
            /** The data are at their end. */
            END,
            /** The source was not asked, since the slot's epoch is over. */
            VOID,
            /** The source was not asked, or was interrupted, since the reader is closed. */
            CLOSED
        }
    }

    /** Collects options. */
    public static final class Builder {
        private final BatchSource source;
        private int ahead = AHEAD;
        private @Nullable Engine engine;

        private Builder(BatchSource source) {
            this.source = Objects.requireNonNull(source, "source");
        }

        /**
         * How many batches are read ahead of the runs.
         *
         * @param batches
         *            from 1; 2 unless set
         * @return this
         */
        public Builder ahead(int batches) {
            if (batches < 1) {
                throw new IllegalArgumentException("A reader reads at least 1 batch ahead, but was to read " + batches);
            }
            ahead = batches;
            return this;
        }

        /**
         * Reads on the copy lane of an engine, instead of one of the reader's own.
         *
         * @param shared
         *            must be open as long as the reader is used; the reader has up to one more operation pending than
         *            it reads ahead, and pushes them without waiting for room
         * @return this
         */
        public Builder engine(Engine shared) {
            engine = Objects.requireNonNull(shared, "engine");
            return this;
        }

        /**
         * The reader.
         *
         * @return has asked the source for nothing yet
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
     * A reader with a thread of its own, which reads two batches ahead.
     *
     * @param source
     *            where batches come from; closed with the reader
     * @return the reader
     */
    public static Reader of(BatchSource source) {
        return builder(source).build();
    }

    /**
     * With options.
     *
     * @param source
     *            where batches come from; closed with the reader
     * @return collects them
     */
    public static Builder builder(BatchSource source) {
        return new Builder(source);
    }

    /**
     * Begins the data again with the next run, and discards what was read ahead. Runs that are waiting for a batch
     * still get it.
     */
    public void reset() {
        queue.reset();
    }

    /**
     * Takes a batch outside of a program, as a run of one would, waiting for it if it has not been read yet. After the
     * end of the data the next call begins them again.
     *
     * @return the tensors as the source gave them; null at the end
     * @throws InterruptedException
     *             if the thread is interrupted while it waits; the batch is the next one's
     * @throws IllegalStateException
     *             if the reader is closed, before or meanwhile, or its engine is
     * @throws Exception
     *             what the source threw in place of this batch; the next call gives the one after it
     */
    public @Nullable List<Tensor> next() throws Exception {
        return switch (take(List.of(this)).getFirst()) {
            case Outcome.Batch(List<Tensor> tensors) -> tensors;
            case Outcome.Failed(Exception e) -> throw e;
            case Outcome.Failed(Error e) -> throw e;
            case Outcome.Failed(Throwable e) -> throw new IllegalStateException("The source threw " + e, e);
            case Outcome.Sign.END -> null;
            case Outcome.Sign.CLOSED, Outcome.Sign.VOID -> throw new IllegalStateException(
                    "The reader was closed while a batch was waited for: close it after the last one was taken");
        };
    }

    /**
     * The next outcomes of some readers, taken together: batches and failures, or the end of one, after which all of
     * them begin again.
     *
     * @param readers
     *            one for each outcome; the same may occur several times
     */
    static List<Outcome> take(List<Reader> readers) throws InterruptedException {
        return claim(readers, null).outcomes();
    }

    /** The same, with a turn in an order; null if the order does not matter. */
    static BatchClaim claim(List<Reader> readers, @Nullable RunOrder order) throws InterruptedException {
        return BatchClaim.take(readers.stream().map(reader -> reader.queue).toList(), order);
    }

    /**
     * Interrupts the source if it is asked just now, waits until it has answered, and closes it. Runs that wait for a
     * batch fail, and later ones too. Does nothing the second time.
     *
     * @throws IllegalStateException
     *             if the source calls it, or cannot be closed
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
