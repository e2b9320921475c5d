package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.Sharing;
import io.seriatim.executor.ir.Task;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Branches whose conditions follow from sizes are chosen when sizes are bound, with the interpreter's results. */
@Timeout(120)
class BranchesOfSizesTest {
    private static final int WIDTH = 4;
    private static final int[] ROWS = {3, 1, 3, 2, 1, 5, 3, 1};

    private static Value hasRows(Value x, int more) {
        return x.shapeTensor().slice(0, 0, 1).greaterThan(more);
    }

    private static Network nested(boolean inLoop) {
        return Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value before = x.times(0.5).softmax(1);
            Value y = inLoop
                    ? g.whileLoop(v -> List.of(v.getFirst().lessThan(3)),
                            v -> List.of(v.getFirst().plus(1), chosen(g, v.get(1))),
                            g.full(INT64, 0, 1), before).get(1)
                    : chosen(g, before);
            return Outputs.of("y", y.plus(1).tanh().times(x));
        });
    }

    private static Value chosen(Graph g, Value x) {
        Value outer = g.ifElse(hasRows(x, 1), () -> {
            Value y = g.linear(x, WIDTH).tanh();
            Value inner = g.ifElse(hasRows(y, 2), () -> y.softmax(1), () -> y.relu());
            return inner.plus(y);
        }, () -> g.linear(x, WIDTH));
        return g.ifElse(hasRows(outer, 3), () -> outer.times(2), () -> outer.meanKeeping(0).plus(outer));
    }

    private static Plan plan(Executor executor, Network network) {
        return executor.compile(network.main(), feeds("x"), fetches(name(network)));
    }

    private static String name(Network network) {
        return network.outputs().values().values().stream().map(Value::name).toList().getFirst();
    }

    private static void assertEqualToInterpreter(Network network) {
        for (int threads : new int[]{1, 3}) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            interpreter.run(network.startup(), Map.of(), List.of());
            try (Executor executor = Executor.builder().threads(threads).build()) {
                executor.run(network.startup());
                Plan plan = plan(executor, network);
                for (int i = 0; i < ROWS.length; i++) {
                    Tensor x = Bits.normal(i, ROWS[i], WIDTH);
                    Tensor expected = interpreter.run(network.main(), Map.of("x", x), List.of(name(network)))
                            .get(name(network));
                    Bits.assertSame(Objects.requireNonNull(expected), plan.run(x).get(name(network)),
                            threads + " threads, run " + i);
                }
                assertEquals(interpreter.names(), executor.scope().names());
                for (String name : interpreter.names()) {
                    Bits.assertSame(interpreter.get(name), executor.scope().get(name), name);
                }
            }
        }
    }

    @Test
    void nestedBranchesAreChosen() {
        assertEqualToInterpreter(nested(false));
    }

    @Test
    void branchesInLoopsAreChosen() {
        assertEqualToInterpreter(nested(true));
    }

    @Test
    void theRestHasNoBranches() {
        Network network = nested(false);
        try (Executor executor = Executor.builder().threads(1).build()) {
            executor.run(network.startup());
            List<Task> tasks = plan(executor, network)
                    .specialisation(executor.scope(), Sharing.NONE, Bits.normal(1, 3, WIDTH)).tasks();
            Task.Rest rest = assertInstanceOf(Task.Rest.class, tasks.getLast());
            assertEquals(0, tasks.stream().filter(Task.Interpreted.class::isInstance).count());
            assertEquals(0, rest.parts().getFirst().block().operations().stream().filter(Access::runsBlocks).count());
        }
    }

    /** A variable that outlives runs is written by a branch in some runs; others read what it has left. */
    @Test
    void whatOutlivesRunsIsWrittenByBranches() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value seen = g.linear(x, WIDTH).meanKeeping(0);
            Value y = g.ifElse(hasRows(x, 2), () -> {
                g.op("assign").in("X", x.meanKeeping(0).plus(seen)).to("Out", seen).append();
                return x.times(seen);
            }, () -> x.minus(seen));
            return Outputs.of("y", y.plus(seen));
        });
        Block global = network.main().global();
        String seen = network.main().blocks().get(1).ops().stream().filter(op -> op.type().equals("assign"))
                .map(OpDesc::outputNames).flatMap(List::stream).filter(name -> global.var(name) != null).findFirst()
                .orElseThrow();
        VarDesc desc = global.get(seen);
        global.put(desc.persistent());
        assertEqualToInterpreter(network);
    }

    @Test
    void randomNumbersAreThoseOfTheirPlace() {
        assertEqualToInterpreter(Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, WIDTH);
            Value y = g.ifElse(hasRows(x, 1), () -> g.dropout(x, 0.5), () -> x.times(2));
            return Outputs.of("y", g.dropout(g.ifElse(hasRows(y, 2), () -> y.tanh(), () -> y.relu()), 0.3));
        }));
    }
}
