package io.seriatim.train;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Scope;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Fingerprint;
import io.seriatim.train.data.Split;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a training that do not change while it runs: model, data, settings, listeners and checkpoints.
 *
 * @param recorder
 *            the recorder, or null
 * @param checkpoints
 *            the checkpoints, or null if none are written
 * @param perEpoch
 *            the number of steps of an epoch
 */
record Training(Model model, Split data, TrainingOptions options, List<TrainingListener> listeners, StopSignal stop,
        @Nullable RunRecorder recorder, @Nullable Checkpoints checkpoints, long perEpoch) {
    Training {
        listeners = List.copyOf(listeners);
    }

    void check() {
        if (model.loss().isEmpty()) {
            throw new IllegalArgumentException("Model '" + model.name() + "' has no loss: say which of the outputs "
                    + model.named().keySet() + " it is, by Model.loss");
        }
        for (Program program : List.of(model.startup(), model.main(), model.evaluation())) {
            options.files().check(program);
        }
        int ranks = options.agreement().size();
        if (options.isOwn() && (options.places().size() > 1 || perEpoch == 0)) {
            throw new IllegalArgumentException(options.places().size() > 1
                    ? "Ranks with examples of their own have one place each, not " + options.placeNames()
                            + ": start more ranks"
                    : "A batch of " + options.batch() + " takes " + options.ownBatch() + " examples of each of " + ranks
                            + " ranks, but one has fewer (this one has " + data.training().size()
                            + "): take smaller batches");
        }
        if (data.training().size() < options.ownBatch()) {
            throw new IllegalArgumentException(
                    "A batch of " + options.batch() + " is larger than all " + data.training().size()
                            + " training examples: take smaller batches");
        }
        // Opens the devices, so that a missing one is reported before any file is written.
        options.places().forEach(Devices.system()::get);
        if (options.batch() % (options.places().size() * ranks) != 0 && ranks > 1) {
            throw new IllegalArgumentException(
                    "A batch of " + options.batch() + " cannot be split evenly among " + ranks
                            + " ranks"
                            + (options.places().size() == 1 ? "" : " with " + options.places().size() + " places each")
                            + ": take a multiple");
        }
        if (options.batch() % options.places().size() != 0) {
            throw new IllegalArgumentException(
                    "A batch of " + options.batch() + " cannot be split evenly among " + options.places().size()
                            + " places: take a multiple");
        }
        FeedShapes shapes = new FeedShapes(model);
        shapes.require(data.training(), options.ownBatch());
        if (options.isEvaluated() && shapes.isFixed() && data.validation().size() < options.batch()) {
            throw new IllegalArgumentException("Model '" + model.name() + "' accepts only batches of " + options.batch()
                    + " examples, but there are only " + data.validation().size()
                    + " for validation: give more");
        }
    }

    long steps() {
        return Math.min(options.steps(), options.epochs() * perEpoch);
    }

    /** Returns the number of steps of an epoch, which all ranks call if they have examples of their own. */
    static long perEpoch(Split data, TrainingOptions options) {
        int own = options.ownBatch();
        long mine = own == 0 ? 0 : data.training().size() / own;
        return options.isOwn() ? options.agreement().least(mine) : mine;
    }

    /** A call of one method of a listener. */
    interface Telling {
        void tell(TrainingListener listener) throws IOException;
    }

    void tell(Telling telling) throws IOException {
        for (TrainingListener listener : listeners) {
            telling.tell(listener);
        }
    }

    /** Returns the fingerprint of the data if checkpoints or other ranks need it, otherwise an empty string. */
    String fingerprint() throws IOException {
        if (checkpoints == null && options.agreement().size() == 1) {
            return "";
        }
        String own = Fingerprint.of(options.isEvaluated() ? data : new Split(data.training(), data.training()));
        return options.isOwn() ? Fingerprint.of(options.agreement().joined(own)) : own;
    }

    /** Returns what all ranks must have in common. */
    String description(String fingerprint) {
        return "model " + model.name() + ", program " + Long.toHexString(ProgramFiles.hash(model.main()))
                + ", initial values " + Long.toHexString(ProgramFiles.hash(model.startup())) + ", data " + fingerprint
                + ", seed " + options.seed() + ", batches of " + options.batch() + ", " + steps()
                + " steps, evaluated every " + options.evaluateEvery() + ", checkpoints every "
                + options.checkpointEvery() + ", patience " + options.patience() + ", places " + options.placeNames()
                + (options.exchange().isBfloat16() ? ", gradients as bfloat16" : "")
                + (options.exchange().isSyncBatchNorm() ? ", batch normalisation over all ranks" : "")
                + (options.exchange().isSharded() ? ", sharded state of the optimizer" : "");
    }

    /** Initialises the variables of a scope for the first step. */
    TrainingState begin(Scope scope, String fingerprint) {
        // Refuse unsupported programs before any operation runs.
        List.of(model.startup(), model.main(), model.evaluation()).forEach(Operations.system()::requireRunnable);
        try (Executor executor = Executor.builder().place(Place.CPU).files(options.files()).build()) {
            model.values().forEach(executor.scope()::setCopy);
            executor.run(model.startup().copy().randomSeed(options.seed()));
            for (String name : executor.scope().names()) {
                Tensor value = executor.scope().find(name);
                if (value != null) {
                    scope.set(name, value);
                }
            }
        }
        return beginning(fingerprint);
    }

    private TrainingState beginning(String fingerprint) {
        return TrainingState.begin(ProgramFiles.hash(model.main()),
                Long.toHexString(ProgramFiles.hash(model.startup())),
                checkpoints == null ? "" : Rates.of(model.schedules(), steps()), options.seed(), options.batch(),
                data.training().size(), fingerprint);
    }

    /**
     * Refuses to begin where another training has left checkpoints: they would be taken for those of this one, deleted
     * as older ones and resumed from.
     */
    void requireNoCheckpoints() throws IOException {
        List<Long> there = checkpoints == null ? List.of() : checkpoints.steps();
        if (!there.isEmpty()) {
            throw new IllegalStateException("The folder " + options.folder()
                    + " holds the checkpoints of a training, the "
                    + "newest after step " + there.getLast() + ": resume that training with resume(), or train into "
                    + "another folder");
        }
    }

    /** Sets the variables of a scope to those of the newest checkpoint. */
    TrainingState resume(Scope scope, String fingerprint) throws IOException {
        Checkpoints from = Objects.requireNonNull(checkpoints, "to resume, a training needs the folder of its run");
        Path latest = from.latest();
        TrainingState state = Checkpoints.state(latest);
        TrainingState wanted = beginning(fingerprint);
        requireSame(wanted, state, latest);
        from.load(latest, model.main(), scope);
        return state.with(wanted.startup(), wanted.rates());
    }

    private void requireSame(TrainingState wanted, TrainingState there, Path checkpoint) {
        if (wanted.program() != there.program()) {
            throw new IllegalArgumentException(
                    checkpoint + " is a checkpoint of another model or optimizer than that of '"
                            + model.name() + "': resume with the model and settings of the original training");
        }
        if (!there.startup().isEmpty()) {
            Rates.requireSame(model.schedules(), there.rates(), checkpoint);
        }
        if (!there.startup().isEmpty() && !wanted.startup().equals(there.startup())) {
            throw new IllegalArgumentException(checkpoint
                    + " is of a training that began with other initial values than '"
                    + model.name() + "', such as another learning rate or another state of the optimizer: resume with "
                    + "the model and settings of the original training");
        }
        if (wanted.seed() != there.seed() || wanted.batch() != there.batch()) {
            throw new IllegalArgumentException(
                    checkpoint + " is of a training with seed " + there.seed() + " and batches of "
                            + there.batch() + ", not with seed " + wanted.seed() + " and batches of " + wanted.batch()
                            + ": resume with the same");
        }
        if (wanted.examples() != there.examples()) {
            throw new IllegalArgumentException(
                    checkpoint + " is of a training on " + there.examples() + " examples, but there are "
                            + wanted.examples() + " now: resume with the same data");
        }
        if (!there.data().isEmpty() && !wanted.data().equals(there.data())) {
            throw new IllegalArgumentException(
                    checkpoint + " is of a training on other data of the same size (fingerprint "
                            + there.data() + ", now " + wanted.data()
                            + "): resume with the same data, or train into a new folder");
        }
    }

    /** Sets the variables of a scope to the newest checkpoint, or to the initial values if there is none. */
    TrainingState rewind(Scope scope, String fingerprint) throws IOException {
        return checkpoints == null || checkpoints.steps().isEmpty()
                ? begin(scope, fingerprint)
                : resume(scope, fingerprint);
    }

    TrainingListener.Started started(TrainingState from, Scope scope) {
        long parameters = 0;
        for (VarDesc parameter : model.main().parameters()) {
            parameters += scope.get(parameter.name()).shape().size();
        }
        return new TrainingListener.Started(model.name(), options.placeNames(), options.threads(), options.batch(),
                from.step(), steps(),
                options.epochs(), parameters, data.training().size(), model.unit());
    }
}
