package io.seriatim.train;

import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.graph.interpret.AllowedFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How a model is trained; {@link Trainer.Builder} says what each means.
 *
 * @param steps
 *            at most so many in all
 * @param evaluateEvery
 *            steps; 0 for the end of each epoch only
 * @param checkpointEvery
 *            steps; 0 for after evaluations only
 * @param patience
 *            evaluations; 0 for no end
 * @param folder
 *            of checkpoints; null for none
 * @param files
 *            that operations of the programs may read and write
 */
record TrainingOptions(int batch, int epochs, long steps, long seed, List<Place> places, int threads,
        long evaluateEvery,
        long checkpointEvery, int patience, @Nullable Path folder, boolean resume, AllowedFiles files) {
    Executor.Builder executor() {
        return Executor.builder().place(places.getFirst()).threads(threads).files(files);
    }

    String placeNames() {
        return places.stream().map(Place::toString).collect(Collectors.joining(","));
    }
}
