package io.seriatim.train.quantization;

import io.seriatim.executor.Executor;
import io.seriatim.executor.Feeds;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.Plan;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Compares the results of two models on the same data, such as those before and after quantization. */
public final class ModelComparison {
    private ModelComparison() {
    }

    /**
     * The differences of one output.
     *
     * @param output
     *            the name of the fetched variable in the first model
     * @param largest
     *            the largest absolute difference of two elements
     * @param mean
     *            the mean absolute difference
     * @param magnitude
     *            the largest magnitude in the results of the first model
     * @param rows
     *            the number of rows along the last dimension, if it has two elements or more; otherwise 0
     * @param agreeing
     *            the number of rows in which both models have their largest element at the same position
     * @param labelled
     *            the number of rows with a label, 0 without labels
     * @param correctBefore
     *            the number of them in which the largest element of the first model is that of the label
     * @param correctAfter
     *            the same of the second model
     */
    public record Difference(String output, double largest, double mean, double magnitude, long rows, long agreeing,
            long labelled, long correctBefore, long correctAfter) {
    }

    /**
     * Runs both models on all batches.
     *
     * @param first
     *            a model
     * @param second
     *            a model with the same feeds and the same number of outputs
     * @param batches
     *            for each run the values of the feeds by name
     * @param labels
     *            the name of the values in the batches that hold the class of each row, or null
     * @param threads
     *            the number of threads of a run
     * @return the differences of each output that holds numbers
     * @throws IllegalArgumentException
     *             if there are no batches, one lacks a feed, or results differ in shape
     */
    public static List<Difference> of(InferenceModel first, InferenceModel second,
            Iterable<? extends Map<String, Tensor>> batches, @Nullable String labels, int threads) {
        if (first.fetches().size() != second.fetches().size()) {
            throw new IllegalArgumentException("The models have different outputs: " + first.fetches() + " and "
                    + second.fetches());
        }
        List<Sums> sums = first.fetches().stream().map(Sums::new).toList();
        try (Executor one = executor(first, threads); Executor two = executor(second, threads)) {
            Plan before = one.compile(first.program(), new Feeds(first.feeds()), new Fetches(first.fetches()));
            Plan after = two.compile(second.program(), new Feeds(second.feeds()), new Fetches(second.fetches()));
            int number = 0;
            for (Map<String, Tensor> batch : batches) {
                number++;
                Map<String, Tensor> expected = before.run(Batches.feeds(first.feeds(), batch, number)).all();
                Map<String, Tensor> actual = after.run(Batches.feeds(second.feeds(), batch, number)).all();
                Tensor given = labels == null ? null : batch.get(labels);
                for (int i = 0; i < sums.size(); i++) {
                    sums.get(i).add(expected.get(first.fetches().get(i)), actual.get(second.fetches().get(i)), given);
                }
                expected.values().forEach(Tensor::close);
                actual.values().forEach(Tensor::close);
            }
            if (number == 0) {
                throw new IllegalArgumentException("There is no data to compare the models on");
            }
        }
        List<Difference> differences = new ArrayList<>();
        sums.stream().filter(each -> each.count > 0).forEach(each -> differences.add(each.difference()));
        return differences;
    }

    private static Executor executor(InferenceModel model, int threads) {
        Executor executor = Executor.builder().threads(threads).build();
        model.parameters().forEach(executor.scope()::set);
        return executor;
    }

    /** The differences of an output so far. */
    private static final class Sums {
        private final String output;
        private double largest;
        private double sum;
        private double magnitude;
        private long count;
        private long rows;
        private long agreeing;
        private long labelled;
        private long correctBefore;
        private long correctAfter;

        Sums(String output) {
            this.output = output;
        }

        void add(@Nullable Tensor expected, @Nullable Tensor actual, @Nullable Tensor labels) {
            if (expected == null || actual == null || !expected.dtype().isFloating()) {
                return;
            }
            if (!expected.shape().equals(actual.shape())) {
                throw new IllegalArgumentException("The output '" + output + "' has the shape " + expected.shape()
                        + " in one model and " + actual.shape() + " in the other");
            }
            double[] one = expected.toDoubleArray();
            double[] two = actual.toDoubleArray();
            for (int i = 0; i < one.length; i++) {
                double difference = one[i] == two[i] ? 0 : Math.abs(one[i] - two[i]);
                // NaN in one result only would otherwise be passed over.
                largest = Double.isNaN(difference) || Double.isNaN(largest)
                        ? Double.NaN
                        : Math.max(largest, difference);
                sum += difference;
                magnitude = Math.max(magnitude, Math.abs(one[i]));
            }
            count += one.length;
            int rank = expected.shape().rank();
            int columns = rank < 2 ? 0 : (int) expected.shape().dim(rank - 1);
            if (columns >= 2) {
                addClasses(one, two, columns, labels);
            }
        }

        private void addClasses(double[] one, double[] two, int columns, @Nullable Tensor labels) {
            int all = one.length / columns;
            long[] classes = labels == null || labels.dtype().isFloating() || labels.shape().size() != all
                    ? null
                    : labels.toLongArray();
            rows += all;
            for (int row = 0; row < all; row++) {
                int before = largestAt(one, row * columns, columns);
                int after = largestAt(two, row * columns, columns);
                agreeing += before == after ? 1 : 0;
                if (classes != null) {
                    labelled++;
                    correctBefore += before == classes[row] ? 1 : 0;
                    correctAfter += after == classes[row] ? 1 : 0;
                }
            }
        }

        private static int largestAt(double[] values, int from, int length) {
            int at = 0;
            for (int i = 1; i < length; i++) {
                if (values[from + i] > values[from + at]) {
                    at = i;
                }
            }
            return at;
        }

        Difference difference() {
            return new Difference(output, largest, sum / count, magnitude, rows, agreeing, labelled, correctBefore,
                    correctAfter);
        }
    }
}
