package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Loops of known length, which plans run as their iterations, with the interpreter's results. */
@Timeout(120)
class UnrolledLoopsTest {
    private static final int WIDTH = 8;
    private static final int STEPS = 6;

    /** Writes what each step gives to a list, which is stacked, and passes on two values in turn. */
    private static Value steps(Graph g, Value x, Value factor) {
        Value zero = g.full(INT64, 0, 1);
        Value list = g.op("write_to_array").in("X", x.mean()).in("I", zero).one("Out");
        List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(INT64, STEPS, 1))), v -> {
            Value row = x.gather(v.getFirst(), 0);
            Value next = v.get(2).plus(row.times(factor)).tanh();
            g.op("write_to_array").in("X", next.mean()).in("I", v.getFirst()).to("Out", list).append();
            return List.of(v.getFirst().plus(1), next, v.get(1));
        }, zero, x.times(0.5), x.tanh());
        Value stack = g.op("tensor_array_to_tensor").in("X", list).attr("axis", 0).attr("use_stack", true)
                .all("Out", "OutIndex").getFirst();
        return end.get(1).minus(end.get(2)).mean().plus(stack.square().sum());
    }

    private static Value feed(Graph g) {
        return g.data("x", FLOAT32, STEPS, WIDTH);
    }

    private static String loss(Network network) {
        return Objects.requireNonNull(network.outputs().get("loss")).name();
    }

    @Test
    void resultsEqualTheInterpreters() {
        Network network = Network.define(g -> {
            Value x = feed(g);
            return Outputs.of("loss", steps(g, x, x.slice(0, 0, 1)));
        });
        try (Executor executor = Executor.builder().threads(1).build()) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(loss(network)));
            assertFalse(plan.program().global().ops().stream().anyMatch(op -> op.type().equals("while")));
            for (int seed = 0; seed < 4; seed++) {
                Tensor x = Bits.normal(seed, STEPS, WIDTH);
                float expected = Interpreter.of(Kernels.system()).run(network.main(), Map.of("x", x),
                        List.of(loss(network))).values().iterator().next().toFloatArray()[0];
                assertEquals(expected, plan.run(x).get(loss(network)).toFloatArray()[0], 1e-5f * Math.abs(expected));
            }
        }
    }

    @Test
    void trainingsLearnWhatTheInterpreterLearns() {
        Network network = Network.define(g -> {
            Value x = feed(g);
            Value loss = steps(g, x, g.linear(x, 1).mean());
            g.minimize(loss, Sgd.of(0.05));
            return Outputs.of("loss", loss);
        });
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        try (Executor executor = Executor.builder().threads(1).build()) {
            interpreter.names().forEach(name -> executor.scope().setCopy(name, interpreter.get(name)));
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(loss(network)));
            assertFalse(plan.program().global().ops().stream().anyMatch(op -> op.type().startsWith("while")));
            for (int step = 0; step < 5; step++) {
                Tensor x = Bits.normal(step, STEPS, WIDTH);
                float expected = Objects.requireNonNull(interpreter.run(network.main(), Map.of("x", x),
                        List.of(loss(network))).get(loss(network))).toFloatArray()[0];
                assertEquals(expected, plan.run(x).get(loss(network)).toFloatArray()[0], 1e-5f * Math.abs(expected));
            }
        }
    }

    @Test
    void withoutSimplificationLoopsStayLoops() {
        Network network = Network.define(g -> {
            Value x = feed(g);
            return Outputs.of("loss", steps(g, x, x.slice(0, 0, 1)));
        });
        try (Executor executor = Executor.builder().without(Pass.SIMPLIFICATION).build()) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(loss(network)));
            assertTrue(plan.program().global().ops().stream().anyMatch(op -> op.type().equals("while")));
        }
    }

    /** A row that does not exist is the failure of the step that asks for it. */
    @Test
    void aFailureOfAStepNamesItsOperation() {
        Network network = Network.define(g -> {
            Value x = feed(g);
            Value n = g.data("n", INT64, 1);
            Value last = g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(INT64, STEPS, 1))),
                    v -> List.of(v.getFirst().plus(1), v.get(1).plus(x.gather(n.plus(v.getFirst()), 0))),
                    g.full(INT64, 0, 1), x.times(1)).get(1);
            return Outputs.of("loss", last.mean());
        });
        try (Executor executor = Executor.builder().threads(1).build()) {
            Plan plan = executor.compile(network.main(), feeds("x", "n"), fetches(loss(network)));
            Tensor x = Bits.normal(1, STEPS, WIDTH);
            plan.run(x, Bits.longs(0));
            RuntimeException e = assertThrows(RuntimeException.class, () -> plan.run(x, Bits.longs(1)));
            assertTrue(String.valueOf(e.getMessage()).contains("gather"), e::getMessage);
            plan.run(x, Bits.longs(0));
        }
    }
}
