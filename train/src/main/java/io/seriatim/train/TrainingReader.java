package io.seriatim.train;

import io.seriatim.executor.Reader;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Batches;
import java.io.IOException;
import java.util.List;
import java.util.Objects;

/** The batches of a training, beginning at some state, prefetched on the copy lane of a separate engine. */
final class TrainingReader implements AutoCloseable {
    private final Reader reader;

    TrainingReader(Training training, TrainingState from) {
        TrainingOptions options = training.options();
        reader = Reader.of(Batches.of(training.data().training(), options.ownBatch(), options.orderSeed())
                .atMost(Math.toIntExact(training.perEpoch())).endless()
                .from(from.epoch(), Math.toIntExact(from.batchOfEpoch())));
    }

    /** Returns the next batch, which the caller must close. */
    List<Tensor> next() throws IOException {
        try {
            return Objects.requireNonNull(reader.next(), "endless");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while waiting for a batch", e);
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("A batch could not be read: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        reader.close();
    }
}
