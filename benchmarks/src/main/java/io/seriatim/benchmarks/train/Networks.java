package io.seriatim.benchmarks.train;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Initializer;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.tensor.DType;
import java.util.List;

/** The layers of the networks, with the peers' distributions of the initial weights. */
final class Networks {
    /** The number of characters of the transformer. */
    static final int SYMBOLS = 65;
    /** The number of positions of its texts. */
    static final int CONTEXT = 64;

    private static final int WIDTH = 128;
    private static final int HEADS = 4;
    private static final int BLOCKS = 4;
    private static final int[] FILTERS = {64, 128, 256, 512};
    private static final double MASKED = -1e9;

    private Networks() {
    }

    /** Weights and biases are uniform, bounded by one over the square root of the number of inputs. */
    private static Value linear(Graph g, Value x, long out) {
        long in = x.dim(-1);
        double bound = 1 / Math.sqrt((double) in);
        ParameterSpec spec = ParameterSpec.of(Initializer.uniform(-bound, bound));
        return g.layers().linear(in, out, spec, spec).apply(x);
    }

    static Value mlp(Graph g, Value x) {
        return linear(g, linear(g, linear(g, x, 512).relu(), 512).relu(), 10);
    }

    static Value leNet(Graph g, Value x) {
        Value first = convolution(g, x, 20).maxPool2d(2, 2, 0);
        Value second = convolution(g, first, 50).maxPool2d(2, 2, 0);
        return linear(g, linear(g, second.flatten(1), 500).relu(), 10);
    }

    private static Value convolution(Graph g, Value x, int filters) {
        double bound = 1 / Math.sqrt(25.0 * x.dim(1));
        return g.layers().conv2d(x.dim(1), filters, 5).weights(ParameterSpec.of(Initializer.uniform(-bound, bound)))
                .apply(x);
    }

    /** A decoder with pre-normalisation. */
    static Value gpt(Graph g, Value tokens) {
        Value positions = g.parameter(ParameterSpec.of(Initializer.normal(0, 0.02)), DType.FLOAT32, CONTEXT, WIDTH);
        Value mask = g.full(DType.FLOAT32, MASKED, CONTEXT, CONTEXT).triangle(false, 1);
        Value x = g.layers().embedding(SYMBOLS, WIDTH, false, -1, ParameterSpec.of(Initializer.normal(0, 1)))
                .apply(tokens).plus(positions);
        for (int i = 0; i < BLOCKS; i++) {
            x = x.plus(linear(g, attention(g, g.layerNorm(x), mask), WIDTH));
            x = x.plus(linear(g, linear(g, g.layerNorm(x), 4 * WIDTH).gelu(), WIDTH));
        }
        return linear(g, g.layerNorm(x), SYMBOLS);
    }

    private static Value attention(Graph g, Value x, Value mask) {
        Value all = linear(g, x, 3 * WIDTH).reshape(-1, CONTEXT, 3, HEADS, WIDTH / HEADS);
        List<Value> parts = all.transpose(2, 0, 3, 1, 4).unstack(0);
        Value scores = parts.get(0).times(1 / Math.sqrt((double) WIDTH / HEADS)).matmul(parts.get(1), false, true);
        Value mixed = scores.plus(mask).softmax(-1).matmul(parts.get(2));
        return mixed.transpose(0, 2, 1, 3).reshape(-1, CONTEXT, WIDTH);
    }

    /** He et al., 2016. */
    static Value resNet18(Graph g, Value x) {
        Value y = normalised(g, x, FILTERS[0], 7, 2).relu().maxPool2d(3, 2, 1);
        for (int filters : FILTERS) {
            y = residual(g, y, filters, filters == FILTERS[0] ? 1 : 2);
            y = residual(g, y, filters, 1);
        }
        return linear(g, y.globalAveragePool2d().flatten(1), 10);
    }

    private static Value residual(Graph g, Value x, int filters, int stride) {
        Value y = normalised(g, normalised(g, x, filters, 3, stride).relu(), filters, 3, 1);
        Value way = stride == 1 ? x : normalised(g, x, filters, 1, stride);
        return y.plus(way).relu();
    }

    private static Value normalised(Graph g, Value x, int filters, int kernel, int stride) {
        return g.batchNorm(
                g.layers().conv2d(x.dim(1), filters, kernel).stride(stride).padding(kernel / 2).noBias().apply(x));
    }
}
