package io.seriatim.train;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Scope;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.VarDesc;
import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Batches;
import io.seriatim.train.data.Split;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Trains a model: a plan of its program is run for each batch, batches are read ahead, the model is judged at the end of each epoch, and what is needed to go on is kept in checkpoints.
 *
 * <pre>{@code
 * Trainer trainer = Trainer.of(model, split).batch(64).epochs(5).listener(progress).folder(Path.of("runs/digits")).build();
 * Trainer.Result result = trainer.run();
 * trainer.save(Path.of("runs/digits/model"));
 * }</pre>
 *
 * <p>
 * A training is a function of model, data, seed, batch and steps: neither threads nor prefetching nor interruptions change a bit of its result.
 */
public final class Trainer {
    /** The step that is recorded for the report: by then all kernels are warm. */
    private static final long RECORDED = 20;

    private final Model model;
    private final Split data;
    private final TrainingOptions options;
    private final List<TrainingListener> listeners;
    private final StopSignal stop;
    private final @Nullable RunRecorder recorder;
    private final @Nullable Checkpoints checkpoints;
    private final Scope scope = new Scope();

    /**
     * What came of a training.
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
        private StopSignal stop = new StopSignal();
        private @Nullable RunRecorder recorder;

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
         * What the order of the examples and random operations follow from.
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
         * Where checkpoints are kept: in its folder {@code checkpoints}, one named by the number of steps for each of the newest and the best.
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
         * Goes on from the newest checkpoint of the folder, as if there had been no interruption.
         *
         * @return this
         */
        public Builder resume() {
            resume = true;
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
         *             if the data have other fields than the model is fed, or fewer examples than a batch, or a batch cannot be split evenly among the places
         * @throws io.seriatim.device.DeviceNotFoundException
         *             if there is no such place
         */
        public Trainer build() {
            return new Trainer(this);
        }

        private static long atLeast(String name, long least, long value) {
            if (value < least) {
                throw new IllegalArgumentException("'" + name + "' of a training must be at least " + least + ", but is " + value);
            }
            return value;
        }
    }

    private Trainer(Builder builder) {
        model = builder.model;
        data = builder.data;
        options = new TrainingOptions(builder.batch, builder.epochs, builder.steps, builder.seed, builder.places, builder.threads,
                builder.evaluateEvery, builder.checkpointEvery, builder.patience, builder.folder, builder.resume);
        listeners = List.copyOf(builder.listeners);
        stop = builder.stop;
        recorder = builder.recorder;
        checkpoints = options.folder() == null ? null : Checkpoints.in(options.folder());
        if (data.training().size() < options.batch()) {
            throw new IllegalArgumentException("A batch of " + options.batch() + " is larger than all " + data.training().size()
                    + " training examples: take smaller batches");
        }
        // A device that is missing is told of before anything is written.
        options.places().forEach(Devices.system()::get);
        if (options.batch() % options.places().size() != 0) {
            throw new IllegalArgumentException("A batch of " + options.batch() + " cannot be split evenly among " + options.places().size()
                    + " places: take a multiple");
        }
        FeedShapes shapes = new FeedShapes(model);
        shapes.require(data.training(), options.batch());
        if (shapes.isFixed() && data.validation().size() < options.batch()) {
            throw new IllegalArgumentException("Model '" + model.name() + "' takes batches of " + options.batch()
                    + " examples and no others, but there are only " + data.validation().size() + " for validation: give more");
        }
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
        return Math.min(options.steps(), options.epochs() * perEpoch());
    }

    private long perEpoch() {
        return Batches.of(data.training(), options.batch(), options.seed()).perEpoch();
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
     * Trains. Afterwards the variables are those of the evaluation with the smallest loss, if there are checkpoints, else those of the last step. Checkpoints are read and plans made before listeners are told that it has begun: what
     * fails without that has changed nothing.
     *
     * @return what came of it
     * @throws NotFiniteException
     *             if the loss becomes NaN or infinite
     * @throws IOException
     *             if data cannot be read, or checkpoints cannot be read or written; the checkpoints that were there are still there
     */
    public Result run() throws IOException {
        TrainingState from = prepare();
        Progression progression = new Progression(from);
        progression.train();
        TrainingState last = progression.state;
        if (checkpoints != null && last.bestStep() >= 0 && !last.isBest() && progression.end != TrainingListener.End.STOPPED) {
            checkpoints.load(checkpoints.of(last.bestStep()), model.main(), scope);
        }
        tell(listener -> listener.ended(progression.end, last.step()));
        return new Result(progression.end, last.step(), progression.loss, last.bestStep(), last.bestLoss());
    }

    /** Sets the variables to where the training begins. */
    private TrainingState prepare() throws IOException {
        TrainingState begin = begin();
        if (options.resume()) {
            Checkpoints from = Objects.requireNonNull(checkpoints, "to resume, a training needs the folder of its run");
            Path latest = from.latest();
            TrainingState state = Checkpoints.state(latest);
            requireSame(begin, state, latest);
            from.load(latest, model.main(), scope);
            return state;
        }
        initialise(scope);
        return begin;
    }

    private void requireSame(TrainingState wanted, TrainingState there, Path checkpoint) {
        if (wanted.program() != there.program()) {
            throw new IllegalArgumentException(checkpoint + " is a checkpoint of another model than '" + model.name()
                    + "': resume with the model and settings that it was begun with");
        }
        if (wanted.seed() != there.seed() || wanted.batch() != there.batch()) {
            throw new IllegalArgumentException(checkpoint + " is of a training with seed " + there.seed() + " and batches of "
                    + there.batch() + ", not with seed " + wanted.seed() + " and batches of " + wanted.batch()
                    + ": resume with the same");
        }
        if (wanted.examples() != there.examples()) {
            throw new IllegalArgumentException(checkpoint + " is of a training on " + there.examples() + " examples, but there are "
                    + wanted.examples() + " now: resume with the same data");
        }
    }

    private void initialise(Scope into) {
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.run(model.startup().copy().randomSeed(options.seed()));
            Scope set = executor.scope();
            for (String name : set.names()) {
                Tensor value = set.find(name);
                if (value != null) {
                    into.set(name, value);
                }
            }
        }
    }

    private TrainingListener.Begun begun(TrainingState from) {
        long parameters = 0;
        for (VarDesc parameter : model.main().parameters()) {
            parameters += scope.get(parameter.name()).shape().size();
        }
        return new TrainingListener.Begun(model.name(), options.placeNames(), options.threads(), options.batch(), from.step(), steps(),
                options.epochs(), parameters, data.training().size(), model.unit());
    }

    /** Tells all listeners. */
    private interface Telling {
        void tell(TrainingListener listener) throws IOException;
    }

    private void tell(Telling telling) throws IOException {
        for (TrainingListener listener : listeners) {
            telling.tell(listener);
        }
    }

    /** The loop, and where it is. */
    private final class Progression {
        private final TrainingState begin;
        private final long perEpoch = perEpoch();
        private final long steps = steps();
        private TrainingState state;
        private TrainingListener.End end = TrainingListener.End.DONE;
        private double loss = Double.NaN;

        Progression(TrainingState begin) {
            this.begin = begin;
            this.state = begin;
        }

        void train() throws IOException {
            if (state.step() >= steps) {
                tell(listener -> listener.begun(Trainer.this.begun(begin)));
                return;
            }
            if (recorder != null) {
                recorder.pause();
            }
            try (TrainingReader reader = new TrainingReader(data.training(), begin);
                    Steps plan = new Steps(model, options, scope, begin.step(), false, recorder);
                    Evaluator evaluator = new Evaluator(model, data.validation(), options)) {
                // Listeners write files; by now, all is known to be right that can be checked without running a step.
                tell(listener -> listener.begun(Trainer.this.begun(begin)));
                while (state.step() < steps && end == TrainingListener.End.DONE) {
                    step(reader, plan);
                    after(evaluator);
                }
            }
        }

        private void step(TrainingReader reader, Steps plan) throws IOException {
            long started = System.nanoTime();
            double rate = plan.rate();
            List<Tensor> batch = reader.next();
            boolean recorded = recorder != null && state.step() == Math.min(begin.step() + RECORDED, steps - 1);
            if (recorded) {
                Objects.requireNonNull(recorder).resume();
            }
            Steps.Outcome outcome;
            try {
                outcome = plan.run(batch);
            } finally {
                if (recorded) {
                    Objects.requireNonNull(recorder).pause();
                }
                batch.forEach(Tensor::close);
            }
            double seconds = (System.nanoTime() - started) / 1e9;
            int epoch = state.epoch() + 1;
            if (!Double.isFinite(outcome.loss())) {
                throw new NanSearch(Trainer.this, state).search(outcome.loss());
            }
            state = state.stepped(perEpoch);
            tell(listener -> listener.step(new TrainingListener.Step(state.step(), epoch, outcome.loss(), outcome.metrics(), rate, seconds,
                    (long) options.batch() * model.unitsPerExample())));
        }

        /** What may be due after a step. */
        private void after(Evaluator evaluator) throws IOException {
            boolean stopped = stop.isRequested() && state.step() < steps;
            if (state.batchOfEpoch() == 0 || isEvery(options.evaluateEvery()) || state.step() == steps) {
                evaluate(evaluator);
                checkpoint();
                if (options.patience() > 0 && state.since() >= options.patience() && state.step() < steps) {
                    end = TrainingListener.End.EARLY;
                }
            } else if (stopped || isEvery(options.checkpointEvery())) {
                checkpoint();
            }
            if (stopped && end == TrainingListener.End.DONE) {
                end = TrainingListener.End.STOPPED;
            }
        }

        private boolean isEvery(long steps) {
            return steps > 0 && state.step() % steps == 0;
        }

        private void evaluate(Evaluator evaluator) throws IOException {
            long started = System.nanoTime();
            Steps.Outcome outcome = evaluator.judge(scope);
            loss = outcome.loss();
            int epoch = state.batchOfEpoch() == 0 ? state.epoch() : state.epoch() + 1;
            state = state.evaluated(outcome.loss());
            double seconds = (System.nanoTime() - started) / 1e9;
            tell(listener -> listener.evaluated(new TrainingListener.Evaluation(state.step(), epoch, outcome.loss(), outcome.metrics(),
                    state.isBest(), seconds)));
        }

        private void checkpoint() throws IOException {
            Checkpoints kept = checkpoints;
            if (kept == null) {
                return;
            }
            stop.whileWriting(() -> {
                Path written = kept.write(state, model.main(), scope);
                tell(listener -> listener.saved(state.step(), written));
            });
        }
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
        stop.whileWriting(() -> InferenceModels.save(prefix, model.evaluation(), model.inputs(), model.outputs(), scope::find));
    }

    Model model() {
        return model;
    }

    Split data() {
        return data;
    }

    TrainingOptions options() {
        return options;
    }

    private TrainingState begin() {
        return TrainingState.begin(ProgramFiles.hash(model.main()), options.seed(), options.batch(), data.training().size());
    }

    /** Sets the variables of a scope to a state from which {@code state} can be reached again: that of the newest checkpoint, or the begin. */
    TrainingState rewind(Scope into) throws IOException {
        if (checkpoints != null && !checkpoints.steps().isEmpty()) {
            Path latest = checkpoints.latest();
            checkpoints.load(latest, model.main(), into);
            return Checkpoints.state(latest);
        }
        initialise(into);
        return begin();
    }
}
