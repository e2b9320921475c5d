package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Recurrent networks whose steps are kept for gradients train as with the interpreter, to the bit. */
@Timeout(120)
class StepsOfLoopsTest {
    private static final int STEPS = 5;
    private static final int WIDTH = 6;

    enum Form {
        /** A loop whose state has a gradient. */
        LOOP {
            @Override
            Value loss(Graph g, Value x, Value first) {
                return loop(g, first, v -> step(g, at(x, v.getFirst()), v.get(1))).square().mean();
            }
        },
        /** A loop with a branch, of which some steps take each side, and a loop in it. */
        NESTED {
            @Override
            Value loss(Graph g, Value x, Value first) {
                return loop(g, first, v -> {
                    Value h = step(g, at(x, v.getFirst()), v.get(1));
                    Value either = g.ifElse(h.mean().greaterThan(0), () -> h.times(0.5).tanh(), () -> h.plus(x.mean()));
                    return g.whileLoop(w -> List.of(w.getFirst().lessThan(2)),
                            w -> List.of(w.getFirst().plus(1), g.linear(w.get(1), WIDTH).tanh().plus(either)),
                            zero(g), either.times(1)).get(1);
                }).square().mean();
            }
        },
        /** A loop that reads and writes a list. */
        LIST {
            @Override
            Value loss(Graph g, Value x, Value first) {
                Value list = g.op("write_to_array").in("X", first).in("I", zero(g)).one("Out");
                Value last = loop(g, first, v -> {
                    Value before = g.op("read_from_array").in("X", list).in("I", v.getFirst()).one("Out");
                    Value h = step(g, at(x, v.getFirst()), before);
                    g.op("write_to_array").in("X", h).in("I", v.getFirst().plus(1)).to("Out", list).append();
                    return h.plus(v.get(1).times(0.5));
                });
                Value all = g.op("tensor_array_to_tensor").in("X", list).attr("axis", 0).attr("use_stack", true)
                        .all("Out", "OutIndex").getFirst();
                return all.square().mean().plus(last.mean());
            }
        },
        /** A recurrence, an output of which is a state, too. */
        RECURRENCE {
            @Override
            Value loss(Graph g, Value x, Value first) {
                Value second = first.tanh();
                List<Value> outputs = g.staticRnn(rnn -> {
                    Value part = rnn.step(x);
                    Value state = rnn.state(first);
                    Value other = rnn.state(second);
                    Value next = step(g, part, state);
                    rnn.update(state, next);
                    rnn.update(other, other.times(next));
                    rnn.output(next);
                    rnn.output(part.plus(other));
                });
                return outputs.getFirst().square().mean().plus(outputs.getLast().tanh().mean());
            }
        };

        abstract Value loss(Graph g, Value x, Value first);
    }

    /** The next state of a loop. */
    private interface Next {
        Value of(List<Value> variables);
    }

    private static Value zero(Graph g) {
        return g.full(INT64, 0, 1);
    }

    private static Value loop(Graph g, Value first, Next next) {
        return g.whileLoop(v -> List.of(v.getFirst().lessThan(STEPS)),
                v -> List.of(v.getFirst().plus(1), next.of(v)), zero(g), first.times(1)).get(1);
    }

    private static Value at(Value x, Value step) {
        return x.gather(step, 0).reshape(-1, WIDTH);
    }

    private static Value step(Graph g, Value x, Value h) {
        return g.linear(x, WIDTH).plus(g.linear(h, WIDTH)).tanh();
    }

    @ParameterizedTest
    @CsvSource({"LOOP,1", "LOOP,2", "NESTED,1", "NESTED,2", "LIST,1", "LIST,2", "RECURRENCE,1", "RECURRENCE,2"})
    void equalTheInterpreter(Form form, int threads) {
        Network network = Network.define(4, g -> {
            Value x = g.data("x", FLOAT32, STEPS, -1, WIDTH);
            Value before = g.linear(x.reshape(-1, WIDTH), WIDTH).reshape(STEPS, -1, WIDTH);
            Value loss = form.loss(g, before, g.linear(x.mean(0), WIDTH));
            g.minimize(loss, Sgd.of(0.5));
            return Outputs.of("loss", loss);
        });
        String loss = network.outputs().get("loss").name();
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            interpreter.names().forEach(name -> executor.scope().set(name, Bits.copy(interpreter.get(name))));
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(loss));
            for (int run = 0; run < 6; run++) {
                Tensor x = Bits.normal(run, STEPS, 2 + run % 2, WIDTH);
                Tensor expected = Objects.requireNonNull(
                        interpreter.run(network.main(), Map.of("x", x), List.of(loss)).get(loss));
                Bits.assertSame(expected, plan.run(x).get(loss), form + ", run " + run);
                for (String name : interpreter.names()) {
                    Bits.assertSame(interpreter.get(name), executor.scope().get(name), form + ", " + name);
                }
            }
        }
    }
}
