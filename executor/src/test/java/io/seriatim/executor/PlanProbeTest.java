package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlanProbeTest {
    private static final Tensor X = Tensor.of(DType.FLOAT32, new Random(1).doubles(24, -1, 1).toArray(), 4, 6);

    private static Network training() {
        return Network.define(2, g -> {
            Value loss = g.linear(g.linear(g.data("x", DType.FLOAT32, -1, 6), 8).tanh(), 3).square().mean();
            g.minimize(loss, Adam.of(0.01));
            return Outputs.of("loss", loss);
        });
    }

    private static Plan plan(Executor executor, Network network) {
        executor.run(network.startup());
        return executor.compile(network.main(), Executor.feeds("x"),
                Executor.fetches(network.outputs().get("loss").name()));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void theBareLoopDoesWhatARunDoes(int kernelThreads) {
        Network network = training();
        try (Executor expected = Executor.on(Place.CPU); Executor found = Executor.on(Place.CPU)) {
            Plan plan = plan(expected, network);
            for (int i = 0; i < 5; i++) {
                plan.run(X);
            }
            try (PlanProbe probe = PlanProbe.of(plan(found, network), X)) {
                Runnable loop = probe.bareLoop(kernelThreads);
                for (int i = 0; i < 5; i++) {
                    loop.run();
                }
            }
            for (String name : expected.scope().names()) {
                assertArrayEquals(expected.scope().get(name).toFloatArray(), found.scope().get(name).toFloatArray(),
                        name);
            }
        }
    }

    @Test
    void memoryIsBetweenTheLargestLiveSetAndTheSum() {
        Network network = Network.define(g -> {
            Value x = g.data("x", DType.FLOAT32, 4, 6);
            // Three values of 96 bytes that cannot be computed in place, and a result with separate memory.
            return Outputs.of("loss", x.flip(0).flip(1).flip(0).flip(1));
        });
        try (Executor executor = Executor.on(Place.CPU); PlanProbe probe = PlanProbe.of(plan(executor, network), X)) {
            assertEquals(4, probe.operations());
            assertEquals(4, probe.kernels());
            assertEquals(3 * 96, probe.temporaryBytes());
            assertEquals(2 * 96, probe.largestLiveSet());
            assertTrue(probe.arenaBytes() >= 2 * 96 && probe.arenaBytes() < 3 * 96,
                    () -> probe.arenaBytes() + " bytes");
        }
    }
}
