package io.seriatim.train;

import io.seriatim.executor.Reader;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Batches;
import io.seriatim.train.data.Dataset;
import java.io.IOException;
import java.util.List;
import java.util.Objects;

/** The batches of a training, beginning at some state, prefetched on the copy lane of a separate engine. */
final class TrainingReader implements AutoCloseable {
    private final Reader reader;

    TrainingReader(Dataset data, TrainingState from) {
        reader = Reader.of(Batches.of(data, from.batch(), from.seed()).endless().from(from.epoch(),
                Math.toIntExact(from.batchOfEpoch())));
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
