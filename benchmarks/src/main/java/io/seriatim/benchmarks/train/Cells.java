package io.seriatim.benchmarks.train;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Initializer;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.tensor.DType;
import java.util.List;

/** Recurrent networks unrolled in primitive operations. They take [steps, batch, width] and return the last state. */
final class Cells {
    /** The number of steps of a sequence. */
    static final int STEPS = 64;
    /** The width of the input and of the state. */
    static final int WIDTH = 128;

    private Cells() {
    }

    private static Value weights(Graph g, double deviation, long columns) {
        return g.parameter(ParameterSpec.of(Initializer.normal(0, deviation)), DType.FLOAT32, WIDTH, columns);
    }

    private static Value zeros(Graph g, long size) {
        return g.parameter(ParameterSpec.of(Initializer.constant(0)), DType.FLOAT32, size);
    }

    /** One gate of a gated recurrent unit. */
    private record Gate(Value input, Value state, Value bias) {
        static Gate of(Graph g) {
            return new Gate(weights(g, 0.05, WIDTH), weights(g, 0.05, WIDTH), zeros(g, WIDTH));
        }

        Value apply(Value x, Value h) {
            return x.matmul(input).plus(h.matmul(state)).plus(bias);
        }
    }

    /** Cho et al., 2014. */
    static Value gru(Graph g, Value sequence) {
        Gate update = Gate.of(g);
        Gate reset = Gate.of(g);
        Gate candidate = Gate.of(g);
        Value h = sequence.get(0, 0).zerosLike();
        for (int t = 0; t < STEPS; t++) {
            Value x = sequence.get(0, t);
            Value z = update.apply(x, h).sigmoid();
            Value r = reset.apply(x, h).sigmoid();
            Value n = candidate.apply(x, r.times(h)).tanh();
            h = z.negate().plus(1).times(n).plus(z.times(h));
        }
        return h;
    }

    /** Hochreiter and Schmidhuber, 1997; one product for the gates. */
    static Value lstm(Graph g, Value sequence) {
        double deviation = 1 / Math.sqrt(WIDTH);
        Value input = weights(g, deviation, 4 * WIDTH);
        Value state = weights(g, deviation, 4 * WIDTH);
        Value bias = zeros(g, 4 * WIDTH);
        Value h = sequence.get(0, 0).zerosLike();
        Value c = h;
        for (int t = 0; t < STEPS; t++) {
            List<Value> gates = sequence.get(0, t).matmul(input).plus(h.matmul(state)).plus(bias).split(4, 1);
            c = gates.get(1).sigmoid().times(c).plus(gates.get(0).sigmoid().times(gates.get(2).tanh()));
            h = gates.get(3).sigmoid().times(c.tanh());
        }
        return g.layers().linear(WIDTH, 10, ParameterSpec.of(Initializer.normal(0, deviation)), ParameterSpec.DEFAULT)
                .apply(h);
    }
}
