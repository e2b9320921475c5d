package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A training step allocates only its results and a few small objects for each task, independently of the size of
 * tensors.
 */
class StepAllocationTest {
    private static final int WARM_UP = 30;
    private static final int RUNS = 20;
    private static final long A_RUN = 4_000;
    private static final long A_TASK = 200;

    private static final Map<String, BiFunction<Graph, Value, Value>> LAYERS = Map.of(
            "perceptron", (g, x) -> g.linear(g.linear(x, 512).relu(), 512).tanh(),
            "convolutions", (g, x) -> convolved(g, x.reshape(-1, 1, 24, 24)),
            "recurrence", StepAllocationTest::recurrent);

    private static Value convolved(Graph g, Value images) {
        return g.linear(g.conv2d(images, 8, 5, 1, 0).maxPool2d(2, 2, 0).flatten(1), 300).relu();
    }

    private static Value recurrent(Graph g, Value x) {
        Value weights = g.parameter(ParameterSpec.DEFAULT, DType.FLOAT32, 576, 576);
        Value state = x.zerosLike();
        for (int i = 0; i < 6; i++) {
            List<Value> gates = state.matmul(weights).plus(x).split(2, 1);
            state = g.concat(1, gates.get(0).sigmoid().times(gates.get(1)), gates.get(1).tanh());
        }
        return state;
    }

    @ParameterizedTest
    @ValueSource(strings = {"perceptron", "convolutions", "recurrence"})
    void isSmallWhateverTheSizes(String name) {
        Network network = Network.define(5, g -> {
            Value x = g.data("x", DType.FLOAT32, 16, 576);
            Value loss = Objects.requireNonNull(LAYERS.get(name)).apply(g, x).square().mean();
            g.minimize(loss, name.equals("perceptron") ? Momentum.of(0.01) : Adam.of(0.001));
            return Outputs.of("loss", loss);
        });
        String loss = network.outputs().get("loss").name();
        Tensor x = Bits.normal(1, 16, 576);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Executor executor = Executor.builder().build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(loss));
            for (int i = 0; i < WARM_UP; i++) {
                plan.run(x).get(loss).close();
            }
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < RUNS; i++) {
                plan.run(x).get(loss).close();
            }
            long bytes = (threads.getCurrentThreadAllocatedBytes() - before) / RUNS;
            int tasks = plan.specialisation(executor.scope(), x).tasks().size();
            assertTrue(bytes < A_RUN + A_TASK * tasks,
                    () -> name + " allocates " + bytes + " bytes a step of " + tasks + " tasks");
        }
    }
}
