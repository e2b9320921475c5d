package io.seriatim.train;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Results;
import io.seriatim.executor.Scope;
import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.Program;
import io.seriatim.graph.Schedule;
import io.seriatim.graph.VarType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Trains a scope's variables step by step. The step of a number is the same whoever runs it: rates and random numbers follow from it. */
final class Steps implements AutoCloseable {
    /** What a step computed. */
    record Outcome(double loss, Map<String, Double> metrics) {
    }

    private final Model model;
    private final Scope scope;
    private final Program program;
    private final Executor executor;
    private final Plan plan;
    private final Map<String, Tensor> rates = new LinkedHashMap<>();
    private long step;

    Steps(Model model, TrainingOptions options, Scope scope, long step, boolean nanCheck, @Nullable RunRecorder recorder) {
        this.model = model;
        this.scope = scope;
        this.step = step;
        this.program = model.main().copy().randomSeed(options.seed());
        Executor.Builder builder = options.executor().firstRun(step);
        if (nanCheck) {
            builder.nanCheck();
        }
        if (recorder != null) {
            builder.recorder(recorder);
        }
        executor = builder.build();
        List<String> wanted = new ArrayList<>(model.metrics().values());
        wanted.addFirst(model.loss());
        plan = executor.compile(program, new Feeds(model.feeds()), new Fetches(wanted.stream().distinct().toList()));
    }

    Outcome run(List<Tensor> batch) {
        model.schedules().forEach(this::rate);
        Results results = plan.run(scope, batch.toArray(Tensor[]::new));
        step++;
        Outcome outcome = outcome(model, results);
        results.all().values().forEach(Tensor::close);
        return outcome;
    }

    static Outcome outcome(Model model, Results results) {
        Map<String, Double> metrics = new LinkedHashMap<>();
        model.metrics().forEach((name, variable) -> metrics.put(name, results.scalar(variable)));
        return new Outcome(results.scalar(model.loss()), metrics);
    }

    private void rate(String name, Schedule schedule) {
        VarType.TensorType type = program.global().get(name).tensor();
        Tensor old = rates.put(name, Tensor.of(type.dtype(), new double[]{schedule.rate(step)}, type.shape()));
        scope.set(name, rates.get(name));
        if (old != null) {
            old.close();
        }
    }

    /** Of the step that comes next; NaN if the program sets it itself. */
    double rate() {
        return model.schedules().isEmpty() ? Double.NaN : model.schedules().values().iterator().next().rate(step);
    }

    @Override
    public void close() {
        executor.close();
    }
}
