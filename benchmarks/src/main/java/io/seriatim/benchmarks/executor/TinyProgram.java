package io.seriatim.benchmarks.executor;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/** Programs of operations so small that the overhead between them dominates. All results are used. */
enum TinyProgram {
    /** Each operation depends on the previous one. */
    CHAIN {
        @Override
        Value body(Graph graph, Value x, int operations) {
            Value y = x;
            for (int i = 0; i < operations; i++) {
                y = y.plus(x);
            }
            return y;
        }
    },
    /** Groups in which all operations depend on the first one, and the last one depends on all. */
    FAN {
        @Override
        Value body(Graph graph, Value x, int operations) {
            Value head = x;
            int left = operations;
            for (; left >= LEAST; left -= Math.min(WIDTH, left - 2) + 2) {
                List<Value> readers = new ArrayList<>();
                for (int i = 0; i < Math.min(WIDTH, left - 2); i++) {
                    readers.add(apply(graph, i % KINDS, head, x));
                }
                head = scaled(graph, graph.addAll(readers.toArray(Value[]::new)), 0.01);
            }
            for (; left > 0; left--) {
                head = head.relu();
            }
            return head;
        }
    },
    /** Each operation replaces one of 16 values by a function of it and another one. */
    RANDOM {
        @Override
        Value body(Graph graph, Value x, int operations) {
            Random random = new Random(operations);
            Value[] values = new Value[Math.min(LIVE, operations)];
            Arrays.fill(values, x);
            for (int i = 1; i < operations; i++) {
                int which = i <= values.length ? i - 1 : random.nextInt(values.length);
                values[which] = apply(graph, random.nextInt(KINDS), values[which],
                        values[random.nextInt(values.length)]);
            }
            return graph.addAll(values);
        }
    };

    /** The elements of each tensor. */
    static final int ELEMENTS = 16;

    private static final int WIDTH = 31;
    private static final int LEAST = 4;
    private static final int LIVE = 16;
    private static final int KINDS = 3;

    abstract Value body(Graph graph, Value x, int operations);

    private static Value apply(Graph graph, int kind, Value a, Value b) {
        return switch (kind) {
            case 0 -> a.plus(b);
            case 1 -> a.relu();
            default -> scaled(graph, a, 0.25);
        };
    }

    /** Avoids denormal values, for which processors are slow. */
    private static Value scaled(Graph graph, Value value, double factor) {
        return graph.op("scale").in("X", value).attr("scale", factor).attr("bias", 1.0).attr("bias_after_scale", true)
                .one("Out");
    }

    /** The program, from {@code x} to the output {@code y}. */
    Network network(int operations) {
        return Network.define(1,
                graph -> Outputs.of("y", body(graph, graph.data("x", DType.FLOAT32, ELEMENTS), operations)));
    }

    static Tensor feed() {
        float[] ones = new float[ELEMENTS];
        Arrays.fill(ones, 1);
        return Tensor.of(ones, ELEMENTS);
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
