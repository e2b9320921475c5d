package io.seriatim.cli.convert;

import io.seriatim.device.Place;
import io.seriatim.executor.BadRequestException;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Fetches;
import io.seriatim.executor.ProgramFailedException;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Compares what a model and its converted form compute from the same inputs. */
final class Verification {
    /** Values below this count as this large, so that rounding errors around 0 are within a tolerance. */
    private static final double LEAST = 1e-6;

    private final InferenceModel model;
    private final InferenceModel converted;
    private final Inputs inputs;

    Verification(InferenceModel model, InferenceModel converted, Inputs inputs) {
        this.model = model;
        this.converted = converted;
        this.inputs = inputs;
    }

    /**
     * How far the values of a fetch are from those of the converted model.
     *
     * @param name
     *            of the fetch
     * @param largest
     *            the largest difference; infinite if one value is not a number or there are other shapes
     * @param value
     *            the largest absolute value
     * @param about
     *            the shape, or both shapes if they differ
     */
    record Difference(String name, double largest, double value, String about) {
        boolean isWithin(double tolerance) {
            return largest <= tolerance * Math.max(value, LEAST);
        }

        String line() {
            return String.format(Locale.ROOT, "%s %s: largest difference %.3g of values up to %.3g", name, about,
                    largest, value);
        }
    }

    /**
     * Runs both models.
     *
     * @return for each fetch, in order
     * @throws IllegalArgumentException
     *             if the model cannot be run with any inputs that are made up, or the converted model has other feeds
     *             or fetches
     */
    List<Difference> run() {
        if (!converted.feeds().equals(model.feeds()) || converted.fetches().size() != model.fetches().size()) {
            throw new IllegalArgumentException("The converted model has the feeds " + converted.feeds() + " and "
                    + converted.fetches().size() + " fetches, but the model has the feeds " + model.feeds() + " and "
                    + model.fetches().size() + " fetches");
        }
        RuntimeException failure = null;
        for (Inputs.Choice choice : inputs.choices()) {
            Map<String, Tensor> fed = inputs.make(choice);
            List<Tensor> expected;
            try {
                expected = results(model, fed);
            } catch (BadRequestException | ProgramFailedException e) {
                // Made-up numbers may exceed a table, or made-up sizes what an operation accepts.
                failure = failure == null ? e : failure;
                continue;
            }
            return differences(expected, results(converted, fed));
        }
        throw new IllegalArgumentException(
                "The model cannot be run with inputs that are made up: give their dimensions "
                        + "with --shape NAME=D,D…"
                        + (failure == null ? "" : "; the first failure was: " + failure.getMessage()),
                failure);
    }

    private static List<Tensor> results(InferenceModel model, Map<String, Tensor> fed) {
        try (Executor executor = Executor.on(Place.CPU)) {
            model.parameters().forEach(executor.scope()::set);
            Map<String, Tensor> results = executor
                    .run(model.program(), fed, new Fetches(model.fetches().stream().distinct().toList())).all();
            List<Tensor> ordered = new ArrayList<>();
            for (String name : model.fetches()) {
                ordered.add(results.get(name));
            }
            return ordered;
        }
    }

    private List<Difference> differences(List<Tensor> expected, List<Tensor> actual) {
        List<Difference> differences = new ArrayList<>();
        for (int i = 0; i < expected.size(); i++) {
            differences.add(difference(model.fetches().get(i), expected.get(i), actual.get(i)));
        }
        return differences;
    }

    static Difference difference(String name, Tensor expected, Tensor actual) {
        if (!expected.shape().equals(actual.shape()) || expected.dtype().isComplex() != actual.dtype().isComplex()) {
            return new Difference(name, Double.POSITIVE_INFINITY, 0,
                    expected.dtype() + " " + expected.shape() + " and " + actual.dtype() + " " + actual.shape());
        }
        double largest = 0;
        double value = 0;
        String about = expected.dtype() + " " + expected.shape();
        if (expected.dtype().isFloating() || expected.dtype().isComplex()) {
            double[] left = numbers(expected);
            double[] right = numbers(actual);
            for (int i = 0; i < left.length; i++) {
                boolean same = Double.compare(left[i], right[i]) == 0 || left[i] == right[i];
                double difference = same ? 0 : Math.abs(left[i] - right[i]);
                largest = Math.max(largest, Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference);
                value = Double.isFinite(left[i]) ? Math.max(value, Math.abs(left[i])) : value;
            }
        } else {
            long[] left = expected.toLongArray();
            long[] right = actual.toLongArray();
            for (int i = 0; i < left.length; i++) {
                largest = Math.max(largest, Math.abs((double) left[i] - right[i]));
                largest = left[i] != right[i] && largest == 0 ? 1 : largest;
                value = Math.max(value, Math.abs((double) left[i]));
            }
        }
        return new Difference(name, largest, value, about);
    }

    private static double[] numbers(Tensor tensor) {
        return (tensor.dtype().isComplex() ? tensor.asReal() : tensor).toDoubleArray();
    }
}
