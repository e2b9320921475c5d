package io.seriatim.benchmarks.executor;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Loops whose bodies are so small that the time between them counts. */
enum LoopProgram {
    /** Ten operations on a value of fixed size. */
    TEN {
        @Override
        List<Value> body(Graph g, Weights w, Value i, Value x, Value all) {
            Value y = x.plus(w.bias);
            Value z = y.times(w.scale).tanh().minus(w.bias).sigmoid().matmul(w.square).max(y);
            return List.of(z.minus(z.meanKeeping(1)).dividedBy(w.scale), all);
        }
    },
    /** A branch, of which every other iteration takes the other side. */
    BRANCH {
        @Override
        List<Value> body(Graph g, Weights w, Value i, Value x, Value all) {
            Value y = x.plus(w.bias).tanh();
            Value even = g.op("elementwise_mod").in("X", i).in("Y", g.full(DType.INT64, 2, 1)).one("Out");
            Value z = g.ifElse(even.lessThan(g.full(DType.INT64, 1, 1)), () -> y.matmul(w.square),
                    () -> y.times(w.scale));
            return List.of(z.sigmoid(), all);
        }
    },
    /** A recurrence that appends its state to those before. */
    APPEND {
        @Override
        List<Value> body(Graph g, Weights w, Value i, Value x, Value all) {
            Value gate = x.matmul(w.square).plus(w.bias).sigmoid();
            Value y = x.times(gate).matmul(w.square).tanh().times(gate).plus(x.times(0.5));
            return List.of(y, g.concat(1, all, y));
        }
    };

    private static final int WIDTH = 16;

    abstract List<Value> body(Graph g, Weights w, Value i, Value x, Value all);

    /** What all iterations read. */
    record Weights(Value bias, Value scale, Value square) {
    }

    private static Weights weights(Graph g) {
        return new Weights(g.full(DType.FLOAT32, 0.1, WIDTH).tanh(), g.full(DType.FLOAT32, 1.5, WIDTH).tanh(),
                g.full(DType.FLOAT32, 0.05, WIDTH, WIDTH).tanh());
    }

    /** The program from {@code x} to the output {@code y}. */
    Network loop(int iterations) {
        return Network.define(1, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, WIDTH);
            Weights w = weights(g);
            Value n = g.full(DType.INT64, iterations, 1);
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                List<Value> next = body(g, w, v.getFirst(), v.get(1), v.get(2));
                return List.of(v.getFirst().plus(1), next.getFirst(), next.getLast());
            }, g.full(DType.INT64, 0, 1), x.times(1), x.times(1));
            return Outputs.of("y", end.get(1).plus(end.get(2).meanKeeping(1)));
        });
    }

    /** The same operations one after the other. */
    Network unrolled(int iterations) {
        return Network.define(1, g -> {
            Value x = g.data("x", DType.FLOAT32, -1, WIDTH);
            Weights w = weights(g);
            Value y = x.times(1);
            Value all = x.times(1);
            for (int i = 0; i < iterations; i++) {
                List<Value> next = body(g, w, g.full(DType.INT64, i, 1), y, all);
                y = next.getFirst();
                all = next.getLast();
            }
            return Outputs.of("y", y.plus(all.meanKeeping(1)));
        });
    }

    static Tensor feed(int batch) {
        float[] values = new float[batch * WIDTH];
        Arrays.fill(values, 0.3f);
        return Tensor.of(values, batch, WIDTH);
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
