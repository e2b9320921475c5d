package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.trace.RunRecorder;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Blocks of loops and branches are compiled with the constants outside of them. */
class InnerConstantsTest {
    private static final int WIDTH = 6;

    private static Value tiled(Graph g, Value x, Value times) {
        return g.op("tile").in("X", x).in("RepeatTimes", times).attr("repeat_times", new int[0]).one("Out");
    }

    /** Tiles a state by a constant from outside, and by numbers that begin as a constant and grow. */
    private static Network network(boolean grows) {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            Value times = g.constant(Tensor.of(DType.INT32, new long[]{2, 1}, 2));
            Value more = g.constant(Tensor.of(DType.INT32, new long[]{1, 0}, 2));
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                Value next = tiled(g, v.get(1), grows ? v.get(2) : times).tanh().meanKeeping(0).plus(v.get(1));
                return List.of(v.getFirst().plus(1), next, v.get(2).plus(more));
            }, g.full(INT64, 0, 1), x.times(1), g.constant(Tensor.of(DType.INT32, new long[]{1, 1}, 2)));
            return Outputs.of("last", end.get(1));
        });
    }

    /** Compares results with the interpreter's, and returns whether the body of the loop interprets the tiling. */
    private static boolean isInterpreted(Network network) {
        String last = network.outputs().get("last").name();
        RunRecorder recorder = new RunRecorder();
        try (Executor executor = Executor.builder().threads(1).recorder(recorder).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x", "n"), fetches(last));
            Interpreter interpreter = Interpreter.of(Kernels.system());
            interpreter.run(network.startup(), Map.of(), List.of());
            for (int run = 0; run < 4; run++) {
                Tensor x = Bits.normal(run, 1 + run % 2, WIDTH);
                Tensor n = Bits.longs(3 + run);
                Tensor expected = interpreter.run(network.main(), Map.of("x", x, "n", n), List.of(last)).get(last);
                Bits.assertSame(Objects.requireNonNull(expected), plan.run(x, n).get(last), "run " + run);
            }
        }
        return recorder.trace().runs().stream().flatMap(run -> run.nested().stream())
                .flatMap(run -> run.plan().instructions().stream())
                .anyMatch(task -> task.type().equals("tile") && task.provider().equals("interpreter"));
    }

    @Test
    void numbersThatNothingWritesAreKnown() {
        assertFalse(isInterpreted(network(false)));
    }

    @Test
    void numbersThatTheLoopWritesAreNot() {
        assertTrue(isInterpreted(network(true)));
    }
}
