package io.seriatim.train;

import io.seriatim.executor.Scope;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.TrainingListener.End;
import io.seriatim.train.TrainingListener.Evaluation;
import io.seriatim.train.TrainingListener.Step;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs the steps, evaluations and checkpoints of a training. */
final class TrainingLoop {
    /** The step that is recorded, relative to the first step of this loop: by then all code is JIT-compiled. */
    private static final long RECORDED = 20;

    private final Training training;
    private final TrainingOptions options;
    private final RankAgreement agreement;
    private final Scope scope;
    private final TrainingState begin;
    private final Opening opening;
    private final long perEpoch;
    private final long steps;
    private TrainingState state;
    private End end = End.DONE;
    private double loss = Double.NaN;
    /** Whether the optimizer's state is brought to rank 0 for checkpoints. */
    private boolean isGathered;

    /** Runs before listeners are notified, since they may write files. */
    interface Opening {
        /** Prepares the start; throws if the training cannot start. */
        void open() throws IOException;
    }

    TrainingLoop(Training training, Scope scope, TrainingState begin, Opening opening) {
        this.opening = opening;
        this.training = training;
        this.options = training.options();
        this.agreement = options.agreement();
        this.scope = scope;
        this.begin = begin;
        this.perEpoch = training.perEpoch();
        this.steps = training.steps();
        this.state = begin;
    }

    Trainer.Result run() throws IOException {
        RunRecorder recorder = training.recorder();
        if (recorder != null) {
            recorder.pause();
        }
        if (state.step() >= steps) {
            notifyStarted();
        } else {
            try (TrainingReader reader = new TrainingReader(training, begin);
                    Steps plan = new Steps(training.model(), options, scope, begin.step(), false, recorder);
                    Evaluator evaluator = options.isEvaluated()
                            ? new Evaluator(training.model(), training.data().validation(), options)
                            : null) {
                // Listeners write files, so they are notified after all checks that need no step.
                notifyStarted();
                if (plan.isSharded()) {
                    isGathered = agreement.any(training.checkpoints() != null);
                }
                while (state.step() < steps && end == End.DONE) {
                    step(reader, plan);
                    after(evaluator, plan);
                }
                if (plan.isSharded()) {
                    // What was trained is whole on rank 0, as without shards.
                    plan.gather(options);
                }
            }
        }
        Checkpoints checkpoints = training.checkpoints();
        if (checkpoints != null && state.bestStep() >= 0 && !state.isBest() && end != End.STOPPED) {
            checkpoints.load(checkpoints.of(state.bestStep()), training.model().main(), scope);
        }
        return new Trainer.Result(end, state.step(), loss, state.bestStep(), state.bestLoss());
    }

    private void notifyStarted() throws IOException {
        opening.open();
        TrainingListener.Started started = training.started(begin, scope);
        training.tell(listener -> listener.started(started));
    }

    private void step(TrainingReader reader, Steps plan) throws IOException {
        long started = System.nanoTime();
        double rate = plan.rate();
        List<Tensor> batch = reader.next();
        Steps.Outcome outcome;
        try {
            outcome = state.step() == Math.min(begin.step() + RECORDED, steps - 1)
                    ? recorded(plan, batch)
                    : plan.run(batch);
        } finally {
            batch.forEach(Tensor::close);
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        int epoch = state.epoch() + 1;
        if (!Double.isFinite(outcome.loss()) && agreement.size() > 1) {
            throw new NotFiniteException("The loss of step " + (state.step() + 1) + " is " + outcome.loss()
                    + ". Take a smaller learning rate, clip gradients, or look at the data; a training with one rank "
                    + "finds the operation", null);
        }
        if (!Double.isFinite(outcome.loss())) {
            throw new NonFiniteLocator(training, state).search(outcome.loss());
        }
        state = state.stepped(perEpoch);
        training.tell(listener -> listener
                .step(new Step(state.step(), epoch, outcome.loss(), outcome.metrics(), rate, seconds,
                        (long) options.batch() * training.model().unitsPerExample())));
    }

    private Steps.Outcome recorded(Steps plan, List<Tensor> batch) {
        RunRecorder recorder = training.recorder();
        if (recorder == null) {
            return plan.run(batch);
        }
        recorder.resume();
        try {
            return plan.run(batch);
        } finally {
            recorder.pause();
        }
    }

    /** Evaluates and writes a checkpoint after a step, if either is due. */
    private void after(@Nullable Evaluator evaluator, Steps plan) throws IOException {
        boolean stopped = agreement.any(training.stop().isRequested()) && state.step() < steps;
        if (state.batchOfEpoch() == 0 || isEvery(options.evaluateEvery()) || state.step() == steps) {
            if (evaluator != null) {
                evaluate(evaluator);
            }
            checkpoint(plan);
            if (options.patience() > 0 && state.since() >= options.patience() && state.step() < steps) {
                end = End.EARLY;
            }
        } else if (stopped || isEvery(options.checkpointEvery())) {
            checkpoint(plan);
        }
        if (stopped && end == End.DONE) {
            end = End.STOPPED;
        }
    }

    private boolean isEvery(long interval) {
        return interval > 0 && state.step() % interval == 0;
    }

    private void evaluate(Evaluator evaluator) throws IOException {
        if (!agreement.isFirst()) {
            loss = agreement.first(Double.NaN);
            state = state.evaluated(loss);
            return;
        }
        long started = System.nanoTime();
        Steps.Outcome outcome = evaluator.evaluate(scope);
        loss = agreement.first(outcome.loss());
        int epoch = state.batchOfEpoch() == 0 ? state.epoch() : state.epoch() + 1;
        state = state.evaluated(outcome.loss());
        double seconds = (System.nanoTime() - started) / 1e9;
        training.tell(listener -> listener
                .evaluated(new Evaluation(state.step(), epoch, outcome.loss(), outcome.metrics(), state.isBest(),
                        seconds)));
    }

    private void checkpoint(Steps plan) throws IOException {
        if (isGathered) {
            plan.gather(options);
        }
        write();
        if (isGathered) {
            plan.drop();
        }
    }

    private void write() throws IOException {
        Checkpoints kept = training.checkpoints();
        if (kept == null) {
            return;
        }
        training.stop().whileWriting(() -> {
            Path written = kept.write(state, training.model().main(), scope);
            training.tell(listener -> listener.saved(state.step(), written));
        });
    }
}
