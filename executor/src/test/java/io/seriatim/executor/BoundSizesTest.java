package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
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
            // The least recently used one makes room: that of two rows.
            plan.run(Bits.normal(1, 4, 8));
            plan.run(Bits.normal(1, 3, 8));
            plan.run(Bits.normal(1, 1, 8));
            plan.run(Bits.normal(1, 2, 8));
            BoundSizes four = plan.bindings();
            assertEquals(new BoundSizes(3, 5, 5, four.bytes()), four);
        }
    }
}
