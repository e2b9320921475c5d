package io.seriatim.executor.run;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.executor.Bits;
import io.seriatim.executor.Executor;
import io.seriatim.executor.Internals;
import io.seriatim.executor.Plan;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** Tests a chain of large kernels: if one run is in progress, several threads cooperate in each kernel. */
class IntraOpLoopTest {
    private static Network layers(boolean trains) {
        return Network.define(7, g -> {
            Value x = g.data("x", DType.FLOAT32, 1, 600);
            Value y = g.linear(g.linear(x, 500).relu(), 400).tanh();
            if (trains) {
                g.minimize(y.square().mean(), Sgd.of(0.1));
            }
            return Outputs.of("y", y);
        });
    }

    private static Plan plan(Executor executor, Network network) {
        executor.run(network.startup());
        return executor.compile(network.main(), feeds("x"), fetches(network.outputs().get("y").name()));
    }

    @Test
    void givesWhatOneThreadGivesToManyCallersAtOnce() throws InterruptedException {
        Network network = layers(false);
        String name = network.outputs().get("y").name();
        try (Executor one = Executor.builder().build(); Executor two = Executor.builder().threads(2).build()) {
            Plan alone = plan(one, network);
            Plan together = plan(two, network);
            assertInstanceOf(IntraOpLoop.class,
                    Internals.loop(two, Internals.compiled(together, two.scope(), Bits.normal(0, 1, 600))));
            Queue<String> wrong = new ConcurrentLinkedQueue<>();
            List<Thread> callers = new ArrayList<>();
            for (int caller = 0; caller < 4; caller++) {
                int first = 10 * caller;
                callers.add(Thread.ofPlatform().start(() -> {
                    for (int seed = first; seed < first + 10; seed++) {
                        Tensor x = Bits.normal(seed, 1, 600);
                        float[] expected = alone.run(x).get(name).toFloatArray();
                        float[] found = together.run(x).get(name).toFloatArray();
                        for (int i = 0; i < expected.length; i++) {
                            if (!(Math.abs(expected[i] - found[i]) <= 1e-5)) {
                                wrong.add("seed " + seed + ", element " + i + ": " + expected[i] + " and " + found[i]);
                            }
                        }
                    }
                }));
            }
            for (Thread caller : callers) {
                caller.join();
            }
            assertEquals(List.of(), List.copyOf(wrong));
        }
    }

    @Test
    void trainingsHaveNone() {
        try (Executor executor = Executor.builder().threads(2).build()) {
            Plan plan = plan(executor, layers(true));
            RunLoop loop = Internals.loop(executor, Internals.compiled(plan, executor.scope(), Bits.normal(0, 1, 600)));
            assertTrue(!(loop instanceof IntraOpLoop), "a training's results must not depend on the number of threads");
        }
    }
}
