package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.tensor.DType;
import org.junit.jupiter.api.Test;

class RunOnceTest {
    @Test
    void aProgramThatRunsOnceKeepsItsOrderWithSeveralThreads() {
        // The startup program of a recurrent layer fills parameters and then concatenates them.
        Network network = Network.define(5,
                g -> Outputs.of("y", g.layers().lstm(8, 6).apply(g.data("x", DType.FLOAT32, 2, 5, 8))));
        try (Executor one = Executor.on(Place.CPU)) {
            one.run(network.startup());
            for (int i = 0; i < 20; i++) {
                try (Executor two = Executor.builder().threads(2).eager().build()) {
                    two.run(network.startup());
                    assertEquals(one.scope().names(), two.scope().names());
                    for (String name : one.scope().names()) {
                        assertArrayEquals(one.scope().get(name).toFloatArray(), two.scope().get(name).toFloatArray(),
                                name + ", run " + i);
                    }
                }
            }
        }
    }
}
