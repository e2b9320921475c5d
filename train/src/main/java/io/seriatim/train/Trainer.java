package io.seriatim.train;

import io.seriatim.device.Place;
import io.seriatim.executor.Scope;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.interpret.AllowedFiles;
import io.seriatim.train.data.Split;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Trains a model: a plan of its program is run for each batch, batches are read ahead, the model is judged at the end
 * of each epoch, and what is needed to go on is kept in checkpoints.
 *
 * <pre>{@code
 * Trainer trainer = Trainer.of(model, split).batch(64).epochs(5).listener(progress).folder(Path.of("runs/digits")).build();
 * Trainer.Result result = trainer.run();
 * trainer.save(Path.of("runs/digits/model"));
 * }</pre>
 *
 * <p>
 * A training is a function of model, data, seed, batch and steps: neither threads nor prefetching nor interruptions
 * change a bit of its result.
 */
public final class Trainer {
    private final Training training;
    private final @Nullable RunLock lock;
    private final boolean ownsLock;
    private String fingerprint = "";
    private final Scope scope = new Scope();

    /**
     * The result of a training.
     *
     * @param end
     *            why it ended
     * @param step
     *            how many steps were done, with those before it was resumed
     * @param loss
     *            the last validation loss; NaN if there was no evaluation
     * @param bestStep
     *            after which the validation loss was smallest; −1 if there was no evaluation
     * @param bestLoss
     *            that loss
     */
    public record Result(TrainingListener.End end, long step, double loss, long bestStep, double bestLoss) {
    }

    /** Collects options. */
    public static final class Builder {
        private final Model model;
        private final Split data;
        private final List<TrainingListener> listeners = new ArrayList<>();
        private int batch = 64;
        private int epochs = 1;
        private long steps = Long.MAX_VALUE;
        private long seed;
        private List<Place> places = List.of(Place.CPU);
        private int threads = 1;
        private long evaluateEvery;
        private long checkpointEvery;
        private int patience;
        private @Nullable Path folder;
        private boolean resume;
        private AllowedFiles files = AllowedFiles.NONE;
        private StopSignal stop = new StopSignal();
        private @Nullable RunRecorder recorder;
        private @Nullable RunLock lock;

        private Builder(Model model, Split data) {
            this.model = model;
            this.data = data;
        }

        /**
         * How many examples a step has. The examples that fill no batch are left out, in each epoch others.
         *
         * @param examples
         *            from 1; 64 unless set
         * @return this
         */
        public Builder batch(int examples) {
            batch = (int) atLeast("batch", 1, examples);
            return this;
        }

        /**
         * How often it goes through the data.
         *
         * @param times
         *            from 1; 1 unless set
         * @return this
         */
        public Builder epochs(int times) {
            epochs = (int) atLeast("epochs", 1, times);
            return this;
        }

        /**
         * Ends after so many steps, if the epochs have not ended before.
         *
         * @param count
         *            from 1; no limit unless set
         * @return this
         */
        public Builder steps(long count) {
            steps = atLeast("steps", 1, count);
            return this;
        }

        /**
         * The seed of the order of the examples and of random operations.
         *
         * @param value
         *            0 unless set
         * @return this
         */
        public Builder seed(long value) {
            seed = value;
            return this;
        }

        /**
         * Where it is trained. On several places each trains a part of each batch, and the gradients are averaged.
         *
         * @param value
         *            one or more different ones; the host unless set
         * @return this
         */
        public Builder places(List<Place> value) {
            if (value.isEmpty()) {
                throw new IllegalArgumentException("A training needs at least one place, such as cpu");
            }
            places = List.copyOf(value);
            return this;
        }

        /**
         * How many threads work on a step.
         *
         * @param count
         *            from 1; 1 unless set
         * @return this
         */
        public Builder threads(int count) {
            threads = (int) atLeast("threads", 1, count);
            return this;
        }

        /**
         * Judges the model more often than at the end of each epoch.
         *
         * @param everySteps
         *            from 1; 0 for the end of each epoch only
         * @return this
         */
        public Builder evaluateEvery(long everySteps) {
            evaluateEvery = atLeast("evaluateEvery", 0, everySteps);
            return this;
        }

        /**
         * Writes checkpoints more often than after each evaluation.
         *
         * @param everySteps
         *            from 1; 0 for after evaluations only
         * @return this
         */
        public Builder checkpointEvery(long everySteps) {
            checkpointEvery = atLeast("checkpointEvery", 0, everySteps);
            return this;
        }

        /**
         * Ends when the validation loss has not fallen for some evaluations.
         *
         * @param evaluations
         *            from 1; 0, the default, for no end
         * @return this
         */
        public Builder patience(int evaluations) {
            patience = (int) atLeast("patience", 0, evaluations);
            return this;
        }

        /**
         * Where checkpoints are kept: in its folder {@code checkpoints}, one named by the number of steps for each of
         * the newest and the best.
         *
         * @param run
         *            is made; without, there are no checkpoints
         * @return this
         */
        public Builder folder(Path run) {
            folder = run;
            return this;
        }

        /**
         * Uses the caller's lock of the folder, which the caller closes. Without, the training takes one for its own
         * time.
         *
         * @param value
         *            is acquired before anything is read from the folder or written into it, if it has not been yet
         * @return this
         */
        public Builder lock(RunLock value) {
            lock = value;
            return this;
        }

        /**
         * Goes on from the newest checkpoint of the folder, as if there had been no interruption.
         *
         * @return this
         */
        public Builder resume() {
            resume = true;
            return this;
        }

        /**
         * Lets operations of the model's programs, such as save and load, read and write files.
         *
         * @param allowed
         *            none unless set
         * @return this
         */
        public Builder files(AllowedFiles allowed) {
            files = allowed;
            return this;
        }

        /**
         * Is told what happens.
         *
         * @param listener
         *            after those that were given before
         * @return this
         */
        public Builder listener(TrainingListener listener) {
            listeners.add(listener);
            return this;
        }

        /**
         * By what it can be ended.
         *
         * @param signal
         *            may be used by several trainings
         * @return this
         */
        public Builder stop(StopSignal signal) {
            stop = signal;
            return this;
        }

        /**
         * Records one step in the middle, for a picture of what ran when.
         *
         * @param value
         *            is paused but for that step
         * @return this
         */
        public Builder recorder(RunRecorder value) {
            recorder = value;
            return this;
        }

        /**
         * The trainer.
         *
         * @return for one training
         * @throws IllegalArgumentException
         *             if the data have other fields than the model is fed, or fewer examples than a batch, or a batch
         *             cannot be split evenly among the places
         * @throws io.seriatim.graph.interpret.FilesNotAllowedException
         *             if a program of the model reads or writes files that are not allowed
         * @throws io.seriatim.device.DeviceNotFoundException
         *             if there is no such place
         */
        public Trainer build() {
            return new Trainer(this);
        }

        private static long atLeast(String name, long least, long value) {
            if (value < least) {
                throw new IllegalArgumentException(
                        "'" + name + "' of a training must be at least " + least + ", but is " + value);
            }
            return value;
        }
    }

    private Trainer(Builder builder) {
        TrainingOptions options = new TrainingOptions(builder.batch, builder.epochs, builder.steps, builder.seed,
                builder.places,
                builder.threads, builder.evaluateEvery, builder.checkpointEvery, builder.patience, builder.folder,
                builder.resume,
                builder.files);
        training = new Training(builder.model, builder.data, options, builder.listeners, builder.stop, builder.recorder,
                options.folder() == null ? null : Checkpoints.in(options.folder()));
        training.check();
        ownsLock = builder.lock == null && options.folder() != null;
        lock = ownsLock ? RunLock.of(Objects.requireNonNull(options.folder())) : builder.lock;
    }

    /**
     * With options.
     *
     * @param model
     *            what is trained
     * @param data
     *            what it learns from, and is judged by
     * @return collects them
     */
    public static Builder of(Model model, Split data) {
        return new Builder(model, data);
    }

    /**
     * Where a training would be resumed.
     *
     * @param run
     *            its folder
     * @return how many steps had been done at its newest checkpoint
     * @throws IOException
     *             if there is none, or it cannot be read
     */
    public static long latestCheckpoint(Path run) throws IOException {
        return Checkpoints.state(Checkpoints.in(run).latest()).step();
    }

    /**
     * How many steps the whole training has.
     *
     * @return from 1
     */
    public long steps() {
        return training.steps();
    }

    /**
     * The variables that are trained.
     *
     * @return the last step's until {@link #run} has ended, then those of {@link #save}
     */
    public Scope scope() {
        return scope;
    }

    /**
     * Trains. Afterwards the variables are those of the evaluation with the smallest loss, if there are checkpoints,
     * else those of the last step. Checkpoints are read and plans made before listeners are told that it has begun:
     * what fails before that has changed nothing.
     *
     * @return what came of it
     * @throws NotFiniteException
     *             if the loss becomes NaN or infinite
     * @throws IllegalArgumentException
     *             if it is resumed with another model, seed, batch or other data
     * @throws RunInUseException
     *             if another training writes into the folder
     * @throws IOException
     *             if data cannot be read, or checkpoints cannot be read or written; the checkpoints that were there are
     *             still there
     */
    public Result run() throws IOException {
        try {
            fingerprint = training.fingerprint();
            if (training.options().resume()) {
                acquireLock();
            }
            TrainingState from = training.options().resume()
                    ? training.resume(scope, fingerprint)
                    : training.begin(scope, fingerprint);
            Result result = new TrainingLoop(training, scope, from, this::acquireLock).run();
            training.tell(listener -> listener.ended(result.end(), result.step()));
            return result;
        } finally {
            if (lock != null && ownsLock) {
                lock.close();
            }
        }
    }

    private void acquireLock() throws IOException {
        if (lock != null) {
            lock.acquire();
        }
    }

    /**
     * Tells the data apart from others of the same size and kind: see {@link io.seriatim.train.data.Fingerprint}.
     * Checkpoints have it, and are resumed with no other data.
     *
     * @return empty until listeners are told that the training has begun, and without a folder
     */
    public String fingerprint() {
        return fingerprint;
    }

    /**
     * Saves what was trained as an inference model that PaddlePaddle and {@code seriatim run} load.
     *
     * @param prefix
     *            of the files {@code prefix.pdmodel} and {@code prefix.pdiparams}; their folder must be there
     * @throws IOException
     *             if a file cannot be written; what was there is still there
     */
    public void save(Path prefix) throws IOException {
        Model model = training.model();
        training.stop().whileWriting(
                () -> InferenceModels.save(prefix, model.evaluation(), model.inputs(), model.outputs(), scope::find));
    }
}
