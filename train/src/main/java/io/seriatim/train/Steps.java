package io.seriatim.train;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Results;
import io.seriatim.executor.Scope;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.optimizer.Schedule;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Trains the variables of a scope step by step. A step depends only on its number: learning rates and random numbers
 * are functions of it.
 */
final class Steps implements AutoCloseable {
    /** The results of a step. */
    record Outcome(double loss, Map<String, Double> metrics) {
    }

    private final Model model;
    private final Scope scope;
    private final Program program;
    private final @Nullable DataParallel parallel;
    private final boolean isSplit;
    private final String loss;
    private final Map<String, String> metrics = new LinkedHashMap<>();
    private final Executor executor;
    private final Plan plan;
    private final Map<String, Tensor> rates = new LinkedHashMap<>();
    private long step;

    Steps(Model model, TrainingOptions options, Scope scope, long step, boolean nanCheck,
            @Nullable RunRecorder recorder) {
        this.model = model;
        this.scope = scope;
        this.step = step;
        this.program = model.main().copy().randomSeed(options.seed());
        List<String> wanted = wanted(model);
        RankAgreement agreement = options.agreement();
        if (options.places().size() == 1 && agreement.size() == 1) {
            parallel = null;
            isSplit = false;
            loss = model.loss();
            metrics.putAll(model.metrics());
        } else {
            DataParallel made = DataParallel.of(program, model.startup(), model.feeds(), model.loss(), wanted,
                    options.places()).ofRank(agreement.rank(), agreement.size(), options.exchange());
            loss = made.loss();
            model.metrics()
                    .forEach((name, variable) -> metrics.put(name, made.fetches().get(wanted.indexOf(variable))));
            parallel = made;
            isSplit = !options.isOwn();
        }
        Executor.Builder builder = options.executor().firstRun(step);
        if (nanCheck) {
            builder.nanCheck();
        }
        if (recorder != null) {
            builder.recorder(recorder);
        }
        executor = builder.build();
        plan = parallel == null
                ? executor.compile(program, new Feeds(model.feeds()), new Fetches(wanted))
                : executor.compile(parallel.main(), new Feeds(parallel.feedNames()), new Fetches(fetches(parallel)));
        if (parallel != null) {
            broadcast(parallel, options);
            drop();
        }
    }

    /** Returns whether each rank keeps the optimizer's state of some parameters only. */
    boolean isSharded() {
        return parallel != null && !parallel.owners().isEmpty();
    }

    /** Brings the state that other ranks keep to rank 0; all ranks call it. */
    void gather(TrainingOptions options) {
        if (parallel != null) {
            try (Executor own = options.executor().build()) {
                own.compile(parallel.gather(), Executor.feeds(), Executor.fetches()).run(scope);
            }
        }
    }

    /** Frees the state that other ranks keep. */
    void drop() {
        if (parallel != null) {
            parallel.owners().forEach((name, owner) -> {
                Tensor value = owner == parallel.rank() ? null : scope.remove(name);
                if (value != null) {
                    value.close();
                }
            });
        }
    }

    /** Returns the fetches of a program for one place: the loss and the metrics, without duplicates. */
    static List<String> wanted(Model model) {
        Set<String> wanted = new LinkedHashSet<>(List.of(model.loss()));
        wanted.addAll(model.metrics().values());
        return List.copyOf(wanted);
    }

    private static List<String> fetches(DataParallel parallel) {
        Set<String> wanted = new LinkedHashSet<>(List.of(parallel.loss()));
        wanted.addAll(parallel.fetches());
        return List.copyOf(wanted);
    }

    /**
     * Copies the parameters to all replicas, with a separate executor, because the training's executor counts its runs.
     */
    private void broadcast(DataParallel replicas, TrainingOptions options) {
        try (Executor own = options.executor().build()) {
            own.compile(replicas.broadcast(), Executor.feeds(), Executor.fetches()).run(scope);
        }
    }

    Outcome run(List<Tensor> batch) {
        model.schedules().forEach(this::rate);
        Tensor[] fed = batch.toArray(Tensor[]::new);
        Results results = plan.run(scope, parallel != null && isSplit ? parallel.split(fed) : fed);
        step++;
        return outcome(results, loss, metrics);
    }

    /** Reads the loss and the metrics from results, and closes the results. */
    static Outcome outcome(Results results, String loss, Map<String, String> metrics) {
        Map<String, Double> values = new LinkedHashMap<>();
        metrics.forEach((name, variable) -> values.put(name, results.scalar(variable)));
        Outcome outcome = new Outcome(results.scalar(loss), values);
        results.all().values().forEach(Tensor::close);
        return outcome;
    }

    private void rate(String name, Schedule schedule) {
        VarType.TensorType type = program.global().get(name).tensor();
        Tensor old = rates.put(name, Tensor.of(type.dtype(), new double[]{schedule.rate(step)}, type.shape()));
        scope.set(name, rates.get(name));
        if (old != null) {
            old.close();
        }
    }

    /** Returns the learning rate of the next step; NaN if the model has no schedule. */
    double rate() {
        return model.schedules().isEmpty() ? Double.NaN : model.schedules().values().iterator().next().rate(step);
    }

    @Override
    public void close() {
        executor.close();
    }
}
