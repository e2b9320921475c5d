package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loops and branches whose results are unused are eliminated from the plan, unless they have side effects. */
@Timeout(60)
class UnfetchedLoopsTest {
    @AfterEach
    void noHooks() {
        Probes.allOff();
    }

    private static Plan plan(Executor executor, Network network, String... wanted) {
        executor.run(network.startup());
        return executor.compile(network.main(), feeds("x"), fetches(wanted));
    }

    /** Several tiles of an operation count once. */
    private static List<String> operations(Plan plan) {
        return plan.specialisation(plan.executor().scope(), Bits.floats(1, 2)).tasks().stream()
                .flatMap(task -> task.operations().stream()).distinct()
                .map(access -> access.op().type()).toList();
    }

    /** Returns a network with a loop that would not end, because its counter changes in the wrong direction. */
    private static Network endless() {
        return Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1);
            g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(INT64, 5, 1))),
                    v -> List.of(v.getFirst().minus(1), v.get(1).plus(x)),
                    g.full(INT64, 0, 1), x.times(1));
            return Outputs.of("y", x.times(2));
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aLoopThatWouldNotEndIsNotRun(int threads) {
        Network network = endless();
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            Plan plan = plan(executor, network, y);
            assertEquals(List.of("scale"), operations(plan), "neither the loop nor what only the loop reads");
            assertEquals(6, plan.run(Bits.floats(1, 3)).get(y).getDouble(1));
        }
    }

    @Test
    void branchesAndListsGoToo() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1);
            g.ifElse(x.sum().greaterThan(0), () -> x.times(3), () -> x.tanh());
            Value list = g.op("write_to_array").in("X", x).in("I", g.full(INT64, 0, 1)).one("Out");
            g.op("read_from_array").in("X", list).in("I", g.full(INT64, 0, 1)).one("Out");
            return Outputs.of("y", x.times(2));
        });
        try (Executor executor = Executor.builder().build()) {
            assertEquals(List.of("scale"), operations(plan(executor, network, network.outputs().get("y").name())));
        }
    }

    /** The program runs once, without a cached plan, and also computes a persistable result. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aLoopThatWouldNotEndIsNotRunOnceEither(int threads) {
        Network network = Network.define(g -> {
            Value start = g.full(FLOAT32, 1, 2);
            g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(INT64, 5, 1))),
                    v -> List.of(v.getFirst().minus(1), v.get(1).plus(start)),
                    g.full(INT64, 0, 1), start.times(1));
            return Outputs.of("w", g.full(FLOAT32, 3, 2));
        });
        String w = network.outputs().get("w").name();
        network.main().global().put(network.main().global().get(w).persistent());
        try (Executor executor = Executor.builder().threads(threads).eager().build()) {
            executor.run(network.main());
            assertEquals(3, executor.scope().get(w).getDouble(1));
        }
    }

    /** A program that runs once fills the scope, prints, and stores the variables that the scope keeps. */
    @Test
    void aLoopThatIsWantedOnceStays() {
        AtomicInteger calls = new AtomicInteger();
        Probes.on("in the loop", _ -> calls.incrementAndGet());
        Network network = Network.define(g -> {
            Value one = g.full(FLOAT32, 1, 1);
            List<Value> loop = g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(INT64, 5, 1))),
                    v -> List.of(v.getFirst().plus(1), v.get(1).plus(one)), g.full(INT64, 0, 1), one.times(1));
            g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(INT64, 3, 1))), v -> {
                g.op(Probes.CALL).in("X", one).attr("key", "in the loop").one("Out");
                return List.of(v.getFirst().plus(1));
            }, g.full(INT64, 0, 1));
            return Outputs.of("sum", loop.get(1));
        });
        String sum = network.outputs().get("sum").name();
        try (Executor executor = Executor.builder().build()) {
            executor.scope().keep(sum);
            executor.run(network.main());
            assertEquals(6, executor.scope().get(sum).getDouble(0));
            assertEquals(3, calls.get());
        }
    }

    /** The loop stays if its result is fetched, kept by the scope, or read by another used operation. */
    @Test
    void aLoopThatIsWantedStays() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1);
            List<Value> loop = g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(INT64, 5, 1))),
                    v -> List.of(v.getFirst().plus(1), v.get(1).plus(x)), g.full(INT64, 0, 1), x.times(1));
            return Outputs.of("y", x.times(2), "count", loop.getFirst(), "sum", loop.get(1)).and("after",
                    loop.get(1).times(10));
        });
        try (Executor executor = Executor.builder().build()) {
            for (String output : List.of("count", "sum", "after")) {
                String wanted = network.outputs().get(output).name();
                Plan plan = plan(executor, network, wanted);
                assertTrue(operations(plan).contains("while"), output);
                Tensor found = plan.run(Bits.floats(1)).get(wanted);
                assertEquals(output.equals("count") ? 5 : output.equals("sum") ? 6 : 60, found.getDouble(0));
            }
            Plan plan = plan(executor, network, network.outputs().get("y").name());
            assertFalse(operations(plan).contains("while"));
            executor.scope().keep(network.outputs().get("sum").name());
            plan.run(Bits.floats(1));
            assertEquals(6, executor.scope().get(network.outputs().get("sum").name()).getDouble(0));
        }
    }

    /** The loop prints, changes a persistable variable, or contains an operation whose effects are unknown. */
    @ParameterizedTest
    @ValueSource(strings = {"print", "persistable", "probe"})
    void aLoopThatDoesMoreStays(String what) {
        AtomicInteger calls = new AtomicInteger();
        Probes.on("in the loop", _ -> calls.incrementAndGet());
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1);
            Value w = g.op("fill_constant").attr("shape", new long[]{1}).attr("dtype", 5).attr("value", 0f).one("Out");
            g.whileLoop(v -> List.of(v.getFirst().lessThan(g.full(INT64, 3, 1))), v -> {
                switch (what) {
                    case "print" -> g.op("print").in("In", x).attr("first_n", 1).attr("message", "")
                            .attr("summarize", 1).one("Out");
                    case "persistable" -> g.op("scale").in("X", x).to("Out", w).attr("scale", 2f).append();
                    default -> g.op(Probes.CALL).in("X", x).attr("key", "in the loop").one("Out");
                }
                return List.of(v.getFirst().plus(1));
            }, g.full(INT64, 0, 1));
            return Outputs.of("y", x.times(2), "w", w);
        });
        String w = network.outputs().get("w").name();
        if (what.equals("persistable")) {
            network.main().global().put(network.main().global().get(w).persistent());
        }
        try (Executor executor = Executor.builder().build()) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(network.outputs().get("y").name()));
            assertTrue(operations(plan).contains("while"), () -> what + ": " + operations(plan));
            if (what.equals("probe")) {
                plan.run(Bits.floats(1));
                assertEquals(3, calls.get());
            }
        }
    }
}
