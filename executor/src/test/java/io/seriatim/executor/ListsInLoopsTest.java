package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Loops that set elements of lists, whose memory the elements share, with the interpreter's results. */
@Timeout(120)
class ListsInLoopsTest {
    private static final int WIDTH = 8;
    private static final List<String> OUTPUTS = List.of("stack", "again", "first", "end");

    /** Sets elements at the step plus a shift, reads and overwrites earlier ones, and stacks them twice. */
    private static Network network() {
        return Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value n = g.data("n", INT64, 1);
            Value shift = g.data("shift", INT64, 1);
            Value zero = g.full(INT64, 0, 1);
            Value list = g.op("write_to_array").in("X", x).in("I", zero).one("Out");
            List<Value> end = g.whileLoop(v -> List.of(v.getFirst().lessThan(n)), v -> {
                Value before = g.op("read_from_array").in("X", list).in("I", v.getFirst()).one("Out");
                Value next = v.get(1).tanh().plus(before.times(0.25));
                Value to = v.getFirst().plus(1).plus(shift);
                g.op("write_to_array").in("X", next).in("I", to).to("Out", list).append();
                g.ifElse(next.mean().greaterThan(0.05), () -> {
                    g.op("write_to_array").in("X", next.times(2)).in("I", v.getFirst()).to("Out", list).append();
                    return next;
                }, () -> before);
                return List.of(v.getFirst().plus(1), next);
            }, zero, x.times(1));
            Value first = g.op("read_from_array").in("X", list).in("I", zero).one("Out");
            return Outputs.of("stack", stack(g, list), "again", stack(g, list), "first", first).and("end", end.get(1));
        });
    }

    private static Value stack(Graph g, Value list) {
        return g.op("tensor_array_to_tensor").in("X", list).attr("axis", 0).attr("use_stack", true)
                .all("Out", "OutIndex").getFirst();
    }

    private static String name(Network network, String output) {
        return Objects.requireNonNull(network.outputs().get(output)).name();
    }

    private static Plan plan(Executor executor, Network network) {
        return executor.compile(network.main(), feeds("x", "n", "shift"),
                fetches(OUTPUTS.stream().map(each -> name(network, each)).toArray(String[]::new)));
    }

    private static void check(Network network, Plan plan, int rows, int n) {
        Map<String, Tensor> fed = Map.of("x", Bits.normal(rows, rows, WIDTH), "n", Bits.longs(n), "shift",
                Bits.longs(0));
        Map<String, Tensor> expected = Interpreter.of(Kernels.system()).run(network.main(), fed,
                OUTPUTS.stream().map(each -> name(network, each)).toList());
        Results found = plan.run(Objects.requireNonNull(fed.get("x")), Bits.longs(n), Bits.longs(0));
        for (String each : OUTPUTS) {
            String name = name(network, each);
            Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(name), each + " of " + n);
        }
        // What is given has memory of its own.
        assertNotEquals(found.get(name(network, "stack")).buffer(), found.get(name(network, "again")).buffer());
        found.get(name(network, "stack")).close();
        found.get(name(network, "first")).close();
    }

    @Test
    void listsOfAllLengthsEqualTheInterpreters() {
        Network network = network();
        try (Executor executor = Executor.builder().threads(1).build()) {
            Plan plan = plan(executor, network);
            for (int n : new int[]{0, 1, 40, 0, 3, 70, 40}) {
                check(network, plan, 1, n);
                check(network, plan, 3, n);
            }
        }
    }

    @Test
    void runsOfOnePlanDoNotShareLists() {
        Network network = network();
        try (Executor executor = Executor.builder().threads(2).build()) {
            Plan plan = plan(executor, network);
            IntStream.range(0, 24).parallel().forEach(i -> check(network, plan, 1 + i % 2, 5 + 7 * (i % 4)));
        }
    }

    @Test
    void aFailureInALaterIterationNamesTheOperation() {
        Network network = network();
        try (Executor executor = Executor.builder().threads(1).build()) {
            Plan plan = plan(executor, network);
            Tensor x = Bits.normal(1, 1, WIDTH);
            for (int run = 0; run < 2; run++) {
                RuntimeException e = assertThrows(RuntimeException.class,
                        () -> plan.run(x, Bits.longs(9), Bits.longs(3)));
                assertTrue(String.valueOf(e.getMessage()).contains("has nothing at 1"), e::getMessage);
                RuntimeException negative = assertThrows(RuntimeException.class,
                        () -> plan.run(x, Bits.longs(9), Bits.longs(-2)));
                String message = String.valueOf(negative.getMessage());
                assertTrue(message.contains("write_to_array") && message.contains("The index must be from 0"), message);
                check(network, plan, 1, 20);
            }
        }
    }
}
