package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.tensor.Tensor;
import org.junit.jupiter.api.Test;

class BoundSizesTest {
    @Test
    void saysHowManySizesWereBound() {
        Network network = Network.define(1, g -> {
            Value x = g.data("x", FLOAT32, -1, 8);
            return Outputs.of("y", g.linear(g.linear(x, 8).tanh(), 3));
        });
        try (Executor executor = Executor.builder().specialisations(3).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(network.outputs().get("y").name()));
            assertEquals(new BoundSizes(0, 0, 0, 0), plan.bindings());
            for (int rows : new int[]{1, 2, 3, 2, 1, 3}) {
                plan.run(Bits.normal(1, rows, 8));
            }
            BoundSizes three = plan.bindings();
            assertEquals(new BoundSizes(3, 3, 3, three.bytes()), three);
            assertTrue(three.bytes() >= 3 * 8 * 4, "the arena holds three rows: " + three);
            // Four rows come first, and three rows make room, which have come no more often than one or two.
            plan.run(Bits.normal(1, 4, 8));
            plan.run(Bits.normal(1, 3, 8));
            plan.run(Bits.normal(1, 1, 8));
            plan.run(Bits.normal(1, 2, 8));
            BoundSizes four = plan.bindings();
            assertEquals(new BoundSizes(3, 5, 5, four.bytes()), four);
        }
    }

    /** Forty sizes in rotation, of which twenty are kept. */
    @Test
    void halfOfARotationIsFound() {
        Network network = Network.define(1, g -> {
            Value x = g.data("x", FLOAT32, -1, 8);
            return Outputs.of("y", g.linear(x, 3).tanh());
        });
        String y = network.outputs().get("y").name();
        try (Executor executor = Executor.builder().specialisations(20).build();
                Executor all = Executor.builder().build()) {
            executor.run(network.startup());
            executor.scope().names().forEach(name -> all.scope().set(name, Bits.copy(executor.scope().get(name))));
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            Plan expected = all.compile(network.main(), feeds("x"), fetches(y));
            for (int run = 0; run < 5 * 40; run++) {
                Tensor x = Bits.normal(run, 1 + run % 40, 8);
                Bits.assertSame(expected.run(x).get(y), plan.run(x).get(y), "run " + run);
            }
            // Nineteen that stay, and the latest one.
            BoundSizes found = plan.bindings();
            assertEquals(new BoundSizes(20, 200 - 4 * 19, 4 * 19, found.bytes()), found);
            assertEquals(40, expected.bindings().bound());
        }
    }

    @Test
    void oneSizeIsTheLatest() {
        Network network = Network.define(1, g -> Outputs.of("y", g.data("x", FLOAT32, -1, 8).tanh()));
        try (Executor executor = Executor.builder().specialisations(1).build()) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(network.outputs().get("y").name()));
            for (int rows : new int[]{1, 1, 1, 2, 2, 2, 1, 2, 1, 1}) {
                plan.run(Bits.normal(1, rows, 8));
            }
            BoundSizes found = plan.bindings();
            assertEquals(new BoundSizes(1, 5, 5, found.bytes()), found);
        }
    }
}
