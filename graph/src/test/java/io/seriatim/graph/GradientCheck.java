package io.seriatim.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

/**
 * Compares gradients that a program computes with differences of the loss, along one random direction for each input.
 */
public final class GradientCheck {
    private static final double STEP = 1e-3;
    private static final double TOLERANCE = 1e-6;

    private final Program forward;
    private final String loss;
    private final Map<String, Tensor> feeds;
    private final Interpreter interpreter = Interpreter.of(Kernels.portable());

    public GradientCheck(Program forward, String loss, Map<String, Tensor> feeds) {
        this.forward = forward;
        this.loss = loss;
        this.feeds = feeds;
    }

    /** The gradients are those of the inputs, one for each. */
    public void check(String what, Program program, List<String> inputs, List<String> gradients, long seed) {
        Map<String, Tensor> found = interpreter.run(program, feeds, gradients);
        Random random = new Random(seed);
        for (int i = 0; i < inputs.size(); i++) {
            Tensor gradient = Objects.requireNonNull(found.get(gradients.get(i)));
            Tensor point = Objects.requireNonNull(feeds.get(inputs.get(i)));
            double[] values = point.toDoubleArray();
            String where = what + ": the gradient of " + inputs.get(i);
            assertEquals(point.spec(), gradient.spec(), where);
            double[] direction = random.doubles(values.length, -1, 1).toArray();
            double expected = slope(inputs.get(i), direction);
            double actual = 0;
            double size = 0;
            double[] slopes = gradient.toDoubleArray();
            for (int j = 0; j < direction.length; j++) {
                actual += direction[j] * slopes[j];
                size += Math.abs(direction[j] * slopes[j]);
            }
            double error = Math.abs(expected - actual);
            double allowed = TOLERANCE * (1 + Math.max(size, Math.abs(expected)));
            String message = where + " along a direction is " + actual + ", but differences give " + expected + " in\n"
                    + program;
            assertTrue(error <= allowed, message);
        }
    }

    /** The five-point formula: its error is of the fourth power of the step. */
    private double slope(String input, double[] direction) {
        return (8 * (loss(input, direction, STEP) - loss(input, direction, -STEP))
                - (loss(input, direction, 2 * STEP) - loss(input, direction, -2 * STEP))) / (12 * STEP);
    }

    private double loss(String input, double[] direction, double step) {
        Tensor at = Objects.requireNonNull(feeds.get(input));
        double[] values = at.toDoubleArray();
        for (int i = 0; i < values.length; i++) {
            values[i] += step * direction[i];
        }
        Map<String, Tensor> moved = new LinkedHashMap<>(feeds);
        moved.put(input, Tensor.of(DType.FLOAT64, values, at.shape().dims()));
        double sum = 0;
        for (double each : Objects.requireNonNull(interpreter.run(forward, moved, List.of(loss)).get(loss))
                .toDoubleArray()) {
            sum += each;
        }
        return sum;
    }
}
