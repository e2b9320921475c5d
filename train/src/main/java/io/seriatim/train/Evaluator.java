package io.seriatim.train;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.executor.Results;
import io.seriatim.executor.Scope;
import io.seriatim.tensor.Tensor;
import io.seriatim.train.data.Dataset;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Evaluates a model on all examples of a data set: the means of the loss and the metrics of all batches, weighted by
 * their sizes. If the program fixes the batch size, the last examples that do not fill a batch are left out.
 */
final class Evaluator implements AutoCloseable {
    private final Model model;
    private final Dataset data;
    private final int batch;
    private final int size;
    private final Executor executor;
    private final Plan plan;

    Evaluator(Model model, Dataset data, TrainingOptions options) {
        this.model = model;
        this.data = data;
        this.batch = options.batch();
        this.size = new FeedShapes(model).isFixed() ? data.size() / batch * batch : data.size();
        executor = options.executor().build();
        plan = executor.compile(model.evaluation().copy().randomSeed(options.seed()), new Feeds(model.feeds()),
                new Fetches(Steps.wanted(model)));
    }

    Steps.Outcome evaluate(Scope scope) throws IOException {
        double loss = 0;
        Map<String, Double> metrics = new LinkedHashMap<>();
        for (int from = 0; from < size; from += batch) {
            int[] examples = IntStream.range(from, Math.min(size, from + batch)).toArray();
            List<Tensor> tensors = data.batch(examples);
            Results results = plan.run(scope, tensors.toArray(Tensor[]::new));
            Steps.Outcome outcome = Steps.outcome(results, model.loss(), model.metrics());
            double weight = (double) examples.length / size;
            loss += outcome.loss() * weight;
            outcome.metrics().forEach((name, value) -> metrics.merge(name, value * weight, Double::sum));
            tensors.forEach(Tensor::close);
        }
        return new Steps.Outcome(loss, metrics);
    }

    @Override
    public void close() {
        executor.close();
    }
}
