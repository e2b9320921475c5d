package io.seriatim.train;

import io.seriatim.device.Place;
import io.seriatim.executor.Scope;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.interpret.AllowedFiles;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.parallel.Exchange;
import io.seriatim.train.data.Split;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Trains a model. It runs a plan of the program for each batch, prefetches batches, evaluates the model at the end of
 * each epoch, and writes checkpoints from which a training can be resumed.
 *
 * <pre>{@code
 * Trainer trainer = Trainer.of(model, split).batch(64).epochs(5).folder(Path.of("runs/digits")).build();
 * Trainer.Result result = trainer.run();
 * trainer.save(Path.of("runs/digits/model"));
 * }</pre>
 *
 * <p>
 * The result of a training depends only on model, data, seed, batch size and number of steps: neither threads nor
 * prefetching nor interruptions change a bit of it.
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
     *            the reason for the end
     * @param step
     *            the number of completed steps, including those before the training was resumed
     * @param loss
     *            the last validation loss; NaN if there was no evaluation
     * @param bestStep
     *            the step after which the validation loss was smallest; −1 if there was no evaluation
     * @param bestLoss
     *            the smallest validation loss
     */
    public record Result(TrainingListener.End end, long step, double loss, long bestStep, double bestLoss) {
    }

    /** The options of a training. */
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
        private @Nullable Communicator communicator;
        private Exchange exchange = Exchange.PLAIN;
        private boolean isOwn;
        private boolean isEvaluated = true;

        private Builder(Model model, Split data) {
            this.model = model;
            this.data = data;
        }

        /**
         * Sets the batch size. The examples that do not fill a batch are left out; they differ from epoch to epoch.
         *
         * @param examples
         *            the number of examples, at least 1; the default is 64
         * @return this
         */
        public Builder batch(int examples) {
            batch = (int) atLeast("batch", 1, examples);
            return this;
        }

        /**
         * Sets the number of epochs.
         *
         * @param times at least 1; the default is 1
         * @return this
         */
        public Builder epochs(int times) {
            epochs = (int) atLeast("epochs", 1, times);
            return this;
        }

        /**
         * Limits the number of steps.
         *
         * @param count
         *            at least 1; the default is no limit
         * @return this
         */
        public Builder steps(long count) {
            steps = atLeast("steps", 1, count);
            return this;
        }

        /**
         * Sets the seed of the order of the examples and of random operations.
         *
         * @param value
         *            the seed; the default is 0
         * @return this
         */
        public Builder seed(long value) {
            seed = value;
            return this;
        }

        /**
         * Sets the places that the training runs on. Several places train on a part of each batch each, and average the
         * gradients.
         *
         * @param value
         *            one or more different places; the default is the host
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
         * Trains together with other processes. Each has the same model, data and options, and trains on its rows of
         * each batch; the gradients are averaged. All have the same parameters after each step. Rank 0 evaluates the
         * model and writes the folder of the run; it alone needs the checkpoints to resume, also if they are those of
         * another number of ranks.
         *
         * @param ranks
         *            the processes; the caller closes it after the training
         * @return this
         */
        public Builder communicator(Communicator ranks) {
            communicator = ranks;
            return this;
        }

        /**
         * Sets how ranks exchange gradients, such as rounded to bfloat16. One process alone exchanges nothing but
         * statistics of its places, if {@link Exchange#syncBatchNorm} is set.
         *
         * @param value
         *            the same on all ranks; {@link Exchange#PLAIN} by default
         * @return this
         */
        public Builder exchange(Exchange value) {
            exchange = value;
            return this;
        }

        /**
         * Lets each rank have training examples of its own, instead of the same ones as all others: each step takes
         * the batch size, divided by the number of ranks, of them. An epoch ends when the rank with the fewest examples
         * has no full batch left; which ones are left out differs from epoch to epoch. Each rank has one place, and
         * {@link #build} returns when all ranks have called it.
         *
         * @return this
         */
        public Builder ownExamples() {
            isOwn = true;
            return this;
        }

        /**
         * Does not evaluate the model: the validation data are not used, and the result is that of the last step.
         * Checkpoints are written at the same steps.
         *
         * @return this
         */
        public Builder withoutEvaluation() {
            isEvaluated = false;
            return this;
        }

        /**
         * Sets the number of threads of a step.
         *
         * @param count at least 1; the default is 1
         * @return this
         */
        public Builder threads(int count) {
            threads = (int) atLeast("threads", 1, count);
            return this;
        }

        /**
         * Evaluates the model more often than at the end of each epoch.
         *
         * @param everySteps
         *            the interval in steps; 0 for the end of each epoch only
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
         *            the interval in steps; 0 for after evaluations only
         * @return this
         */
        public Builder checkpointEvery(long everySteps) {
            checkpointEvery = atLeast("checkpointEvery", 0, everySteps);
            return this;
        }

        /**
         * Ends the training early when the validation loss has not fallen for some evaluations.
         *
         * @param evaluations
         *            the number of evaluations; 0, the default, disables early stopping
         * @return this
         */
        public Builder patience(int evaluations) {
            patience = (int) atLeast("patience", 0, evaluations);
            return this;
        }

        /**
         * Sets the folder of the run. Its folder {@code checkpoints} holds the newest checkpoints and the best one,
         * each named by its number of steps. A folder that holds checkpoints is for a training that is resumed; another
         * one does not begin there.
         *
         * @param run
         *            the folder, which is created; without one no checkpoints are written
         * @return this
         */
        public Builder folder(Path run) {
            folder = run;
            return this;
        }

        /**
         * Uses the caller's lock on the folder, which the caller closes. By default the training acquires a lock while
         * it runs.
         *
         * @param value
         *            the lock, which is acquired before the training reads or writes the folder, if it is not held yet
         * @return this
         */
        public Builder lock(RunLock value) {
            lock = value;
            return this;
        }

        /**
         * Resumes from the newest checkpoint in the folder, as if there had been no interruption: with the same model,
         * optimizer, learning rates, seed, batch size and data. The numbers of epochs and steps may be other ones.
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
         *            the allowed folder; the default is none
         * @return this
         */
        public Builder files(AllowedFiles allowed) {
            files = allowed;
            return this;
        }

        /**
         * Adds a listener.
         *
         * @param listener
         *            called after the listeners that were added before
         * @return this
         */
        public Builder listener(TrainingListener listener) {
            listeners.add(listener);
            return this;
        }

        /**
         * Sets the signal that can end the training.
         *
         * @param signal
         *            the signal, which several trainings may share
         * @return this
         */
        public Builder stop(StopSignal signal) {
            stop = signal;
            return this;
        }

        /**
         * Records one step, for a timeline.
         *
         * @param value
         *            the recorder, which is paused except in that step
         * @return this
         */
        public Builder recorder(RunRecorder value) {
            recorder = value;
            return this;
        }

        /**
         * Creates the trainer.
         *
         * @return a trainer for one training
         * @throws IllegalArgumentException
         *             if the fields of the data do not match the feeds of the model, there are fewer examples than a
         *             batch has, or a batch cannot be split evenly among the places
         * @throws io.seriatim.graph.interpret.FilesNotAllowedException
         *             if a program of the model reads or writes files that are not allowed
         * @throws io.seriatim.device.DeviceNotFoundException
         *             if a place does not exist
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
        boolean isFirst = new RankAgreement(builder.communicator).isFirst();
        TrainingOptions options = new TrainingOptions(builder.batch, builder.epochs, builder.steps, builder.seed,
                builder.places,
                builder.threads, builder.evaluateEvery, builder.checkpointEvery, builder.patience,
                isFirst ? builder.folder : null, isFirst && builder.resume,
                builder.files, builder.communicator, builder.exchange, builder.isOwn, builder.isEvaluated);
        training = new Training(builder.model, builder.data, options, builder.listeners, builder.stop, builder.recorder,
                options.folder() == null ? null : Checkpoints.in(options.folder()), Training.perEpoch(builder.data,
                        options));
        training.check();
        ownsLock = builder.lock == null && options.folder() != null;
        lock = ownsLock ? RunLock.of(Objects.requireNonNull(options.folder())) : isFirst ? builder.lock : null;
    }

    /**
     * Returns a builder.
     *
     * @param model
     *            the model to train
     * @param data
     *            the data for training and validation
     * @return a builder with default options
     */
    public static Builder of(Model model, Split data) {
        return new Builder(model, data);
    }

    /**
     * Returns the step from which a training would be resumed.
     *
     * @param run
     *            the folder of the run
     * @return the number of steps of its newest checkpoint
     * @throws IOException
     *             if there is no checkpoint, or it cannot be read
     */
    public static long latestCheckpoint(Path run) throws IOException {
        return Checkpoints.state(Checkpoints.in(run).latest()).step();
    }

    /**
     * Returns the number of steps of the whole training.
     *
     * @return at least 1
     */
    public long steps() {
        return training.steps();
    }

    /**
     * Returns the scope with the trained variables.
     *
     * @return the scope: its values are those of the latest step until {@link #run} returns, and then those that
     * {@link #save} writes
     */
    public Scope scope() {
        return scope;
    }

    /**
     * Runs the training. If there are checkpoints, the variables are those of the evaluation with the smallest loss
     * afterwards, otherwise those of the last step. Checkpoints are read and plans compiled before the listeners are
     * notified of the start; a failure before that changes nothing.
     *
     * @return the result
     * @throws NotFiniteException
     *             if the loss becomes NaN or infinite
     * @throws IllegalArgumentException
     *             if the training is resumed with another model, optimizer, learning rate, seed, batch size or other
     *             data
     * @throws IllegalStateException
     *             if the folder holds checkpoints and the training is not resumed
     * @throws RunInUseException
     *             if another training uses the folder
     * @throws IOException
     *             if data cannot be read, or checkpoints cannot be read or written; existing checkpoints are kept
     */
    public Result run() throws IOException {
        try {
            fingerprint = training.fingerprint();
            RankAgreement agreement = training.options().agreement();
            agreement.requireSame(training.description(fingerprint));
            if (training.options().resume()) {
                acquireLock();
            }
            TrainingState from = training.options().resume()
                    ? training.resume(scope, fingerprint)
                    : training.begin(scope, fingerprint);
            Result result = new TrainingLoop(training, scope, agreement.first(from), this::open).run();
            training.tell(listener -> listener.ended(result.end(), result.step()));
            return result;
        } finally {
            if (lock != null && ownsLock) {
                lock.close();
            }
        }
    }

    private void open() throws IOException {
        acquireLock();
        if (!training.options().resume()) {
            training.requireNoCheckpoints();
        }
    }

    private void acquireLock() throws IOException {
        if (lock != null) {
            lock.acquire();
        }
    }

    /**
     * Returns the fingerprint of the data; see {@link io.seriatim.train.data.Fingerprint}. Checkpoints contain it, and
     * cannot be resumed with other data.
     *
     * @return the fingerprint; empty until the training starts, and without a folder
     */
    public String fingerprint() {
        return fingerprint;
    }

    /**
     * Saves the trained model as an inference model that PaddlePaddle and {@code seriatim run} can load. Its results
     * have the names of the model's outputs.
     *
     * @param prefix
     *            the common prefix of the files {@code prefix.pdmodel} and {@code prefix.pdiparams}; their folder must
     *            exist
     * @throws IOException
     *             if a file cannot be written; existing files are kept
     */
    public void save(Path prefix) throws IOException {
        Model model = training.model();
        training.stop().whileWriting(() -> InferenceModels.save(prefix, model.evaluation(), model.inputs(),
                model.outputs(), scope::find));
    }

    /**
     * Saves the trained model in the format that the end of a name says, see
     * {@link InferenceModels#save(Path, InferenceModels.InferenceModel)}. Its results have the names of the model's
     * outputs.
     *
     * @param file
     *            such as {@code model.onnx}; its folder must exist
     * @throws IllegalArgumentException
     *             if no format has such names, or the format has no counterpart of operations; the message names them
     * @throws IOException
     *             if a file cannot be written; existing files are kept
     */
    public void saveAs(Path file) throws IOException {
        Model model = training.model();
        training.stop().whileWriting(() -> InferenceModels.save(file,
                InferenceModels.of(model.evaluation(), model.inputs(), model.outputs(), scope::find)));
    }
}
