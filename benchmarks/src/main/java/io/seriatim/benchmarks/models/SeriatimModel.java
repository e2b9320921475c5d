package io.seriatim.benchmarks.models;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Results;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A model in a plan with a number of threads. */
final class SeriatimModel implements Contender, AutoCloseable {
    static final String NAME = "Seriatim";
    private static final double MILLI = 1e6;

    private final Executor executor;
    private final Plan plan;
    private final List<String> fetches;
    private final Tensor[] feeds;

    SeriatimModel(InferenceModel model, List<Tensor> inputs, int threads) {
        executor = Executor.builder().threads(threads).build();
        model.parameters().forEach(executor.scope()::set);
        plan = executor.compile(model.program(), new Feeds(model.feeds()), new Fetches(model.fetches()));
        fetches = model.fetches();
        feeds = inputs.toArray(Tensor[]::new);
    }

    @Override
    public String name() {
        return NAME;
    }

    private double timed() {
        long start = System.nanoTime();
        Results results = plan.run(feeds);
        double millis = (System.nanoTime() - start) / MILLI;
        results.all().values().forEach(Tensor::close);
        return millis;
    }

    @Override
    public double warm(double seconds) {
        long start = System.nanoTime();
        List<Double> times = new ArrayList<>(List.of(timed()));
        while (System.nanoTime() - start < seconds * 1e9) {
            times.add(timed());
        }
        return ModelFigures.median(times);
    }

    @Override
    public double run(int times) {
        timed(); // The first after a pause is slower.
        double[] millis = new double[times];
        Arrays.setAll(millis, _ -> timed());
        return ModelFigures.median(millis);
    }

    @Override
    public List<Tensor> results() {
        Results results = plan.run(feeds);
        return fetches.stream().map(results::get).toList();
    }

    @Override
    public void close() {
        executor.close();
    }
}
