package io.seriatim.executor;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Generates random image networks, and parameters like those of a trained network. Their feed is x: float32[n, 3, 9,
 * 11].
 */
public final class RandomImages {
    private static final int[] FILTERS = {1, 5, 8, 16, 24};

    private RandomImages() {
    }

    /**
     * Returns a network of convolutions, normalisations, poolings, activations, residuals and concatenations. Its
     * outputs are the last value, the mean of that value, and another value.
     */
    public static Network of(long seed, int operations) {
        Random random = new Random(seed);
        return Network.define(seed + 1, g -> {
            List<Value> values = new ArrayList<>();
            values.add(g.data("x", DType.FLOAT32, -1, 3, 9, 11));
            for (int i = 0; i < operations; i++) {
                Value from = values.get(random.nextInt(3) == 0 ? random.nextInt(values.size()) : values.size() - 1);
                values.add(next(g, random, values, from));
            }
            Value last = values.getLast();
            return Outputs.of("last", last, "pooled", last.globalAveragePool2d().flatten(1), "any",
                    values.get(1 + random.nextInt(values.size() - 1)));
        });
    }

    private static Value next(Graph g, Random random, List<Value> values, Value x) {
        return switch (random.nextInt(10)) {
            case 0 -> convolution(g, random, x, FILTERS[random.nextInt(FILTERS.length)]);
            case 1, 2 -> g.batchNorm(convolution(g, random, x, FILTERS[random.nextInt(FILTERS.length)])).relu();
            case 3 -> g.batchNorm(x);
            case 4 -> x.relu();
            case 5 -> x.dim(2) < 4 ? x.tanh() : random.nextBoolean() ? x.maxPool2d(3, 2, 1) : x.averagePool2d(2, 2, 0);
            case 6 -> {
                List<Value> alike = values.stream().filter(each -> Arrays.equals(shape(each), shape(x))).toList();
                yield x.plus(alike.get(random.nextInt(alike.size()))).relu();
            }
            case 7 -> x.dim(1) > 30 ? part(random, x) : joined(g, random, values, x);
            case 8 -> g.batchNorm(convolution(g, random, x, (int) x.dim(1))).times(x.tanh());
            default -> transposed(g, random, x);
        };
    }

    /** Some channels of an image. */
    private static Value part(Random random, Value x) {
        int from = random.nextInt((int) x.dim(1) / 2);
        return random.nextBoolean() ? x.split(2, 1).getLast() : x.slice(1, from, from + (int) x.dim(1) / 2);
    }

    /** Joins the channels of images of the same size. */
    private static Value joined(Graph g, Random random, List<Value> values, Value x) {
        List<Value> alike = values.stream().filter(each -> each.dim(2) == x.dim(2) && each.dim(3) == x.dim(3)
                && each.dim(1) <= 16).toList();
        Value other = alike.isEmpty() || random.nextBoolean() ? x.tanh() : alike.get(random.nextInt(alike.size()));
        return random.nextBoolean() ? g.concat(1, x, other) : g.concat(1, other, x, x.times(0.25));
    }

    /** Adds a transposed convolution, up to a size, with what usually follows. */
    private static Value transposed(Graph g, Random random, Value x) {
        int filters = FILTERS[random.nextInt(FILTERS.length)];
        boolean up = x.dim(2) < 12;
        int kernel = up ? 2 + random.nextInt(3) : 3;
        Value y = g.layers().conv2dTranspose(x.dim(1), filters, kernel, up ? 2 : 1, kernel / 2).apply(x);
        return switch (random.nextInt(3)) {
            case 0 -> y.tanh();
            case 1 -> g.batchNorm(y).relu();
            default -> y;
        };
    }

    private static long[] shape(Value x) {
        return new long[]{x.dim(1), x.dim(2), x.dim(3)};
    }

    /** Adds a convolution. It preserves the shape if it has as many filters as channels. */
    private static Value convolution(Graph g, Random random, Value x, int filters) {
        int kernel = random.nextBoolean() ? 3 : 1;
        int stride = filters == x.dim(1) || x.dim(2) < 4 ? 1 : 1 + random.nextInt(2);
        boolean grouped = filters == x.dim(1) && random.nextInt(3) == 0;
        var layer = g.layers().conv2d(x.dim(1), filters, kernel).stride(stride).padding(kernel / 2)
                .groups(grouped ? filters : 1);
        return (random.nextBoolean() ? layer.noBias() : layer).apply(x);
    }

    /**
     * Fills the parameters: weights that approximately preserve the magnitude of values; scales, biases, means and
     * variances between 0.5 and 1.5.
     */
    public static void fill(Scope scope, Program program, long seed) {
        Random random = new Random(seed);
        for (VarDesc each : program.persistables()) {
            long[] dims = each.tensor().shape();
            long size = Arrays.stream(dims).reduce(1, Math::multiplyExact);
            double spread = dims.length < 2 ? 0 : Math.sqrt(2.0 * dims[0] / size);
            double[] numbers = random.doubles(size, 0.5, 1.5).toArray();
            Arrays.setAll(numbers, i -> dims.length < 2 ? numbers[i] : random.nextGaussian() * spread);
            scope.set(each.name(), Tensor.of(DType.FLOAT32, numbers, dims));
        }
    }
}
