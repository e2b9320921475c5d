package io.seriatim.train;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.graph.interpret.AllowedFiles;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.parallel.Exchange;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The options of a training; {@link Trainer.Builder} documents them.
 *
 * @param steps
 *            the maximum total number of steps
 * @param evaluateEvery
 *            the interval in steps; 0 for the end of each epoch only
 * @param checkpointEvery
 *            the interval in steps; 0 for after evaluations only
 * @param patience
 *            the number of evaluations without improvement; 0 disables early stopping
 * @param folder
 *            the folder of the run; null for no checkpoints
 * @param files
 *            the files that operations of the programs may read and write
 * @param communicator
 *            the ranks that train together; null for this process alone
 * @param exchange
 *            how they exchange gradients
 * @param isOwn
 *            whether the training data of each rank are examples of its own
 * @param isEvaluated
 *            whether the model is evaluated
 */
record TrainingOptions(int batch, int epochs, long steps, long seed, List<Place> places, int threads,
        long evaluateEvery,
        long checkpointEvery, int patience, @Nullable Path folder, boolean resume, AllowedFiles files,
        @Nullable Communicator communicator, Exchange exchange, boolean isOwn, boolean isEvaluated) {
    /** Other ranks with examples of their own draw other orders: equal ones could join similar examples. */
    private static final long RANK = 0x9E3779B97F4A7C15L;

    /** Returns how many examples of a batch the data set of this process has. */
    int ownBatch() {
        return isOwn ? batch / agreement().size() : batch;
    }

    /** Returns the seed of the order of the examples. */
    long orderSeed() {
        return isOwn ? seed + agreement().rank() * RANK : seed;
    }

    Executor.Builder executor() {
        Executor.Builder builder = Executor.builder().place(places.getFirst()).threads(threads).files(files);
        return communicator == null ? builder : builder.communicator(communicator);
    }

    RankAgreement agreement() {
        return new RankAgreement(communicator);
    }

    String placeNames() {
        String names = places.stream().map(Place::toString).collect(Collectors.joining(","));
        return communicator == null ? names : names + " on each of " + communicator.size() + " ranks";
    }
}
