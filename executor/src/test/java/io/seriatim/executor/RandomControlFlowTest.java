package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;

import io.seriatim.graph.Interpreter;
import io.seriatim.graph.Network;
import io.seriatim.graph.VarDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Random programs with branches, loops, lists, and shapes that only the data determine give what the interpreter gives, to the bit. */
class RandomControlFlowTest {
    /** Rows of x, and n: the same again, and others. */
    private static final int[][] FEEDS = {{3, 2}, {3, 0}, {5, 3}, {3, 2}, {1, 1}};

    @ParameterizedTest
    @CsvSource({"1,false", "2,false", "4,false", "1,true", "2,true", "4,true"})
    void equalTheInterpreter(int threads, boolean trains) {
        for (long seed = 0; seed < 30; seed++) {
            Network network = RandomControlFlow.of(seed, trains);
            try {
                compare(network, threads, "seed " + seed);
            } catch (RuntimeException e) {
                throw new AssertionError("Seed " + seed + " fails: " + e.getMessage() + "\n" + network.main(), e);
            }
        }
    }

    private static void compare(Network network, int threads, String seed) {
        List<String> names = network.outputs().values().values().stream().map(value -> value.name()).toList();
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        try (Executor executor = Executor.builder().threads(threads).specialisations(2).build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x", "n"), fetches(names.toArray(String[]::new)));
            for (int i = 0; i < FEEDS.length; i++) {
                Tensor x = Bits.normal(i % 3, FEEDS[i][0], RandomControlFlow.WIDTH);
                Tensor n = Bits.longs(FEEDS[i][1]);
                Map<String, Tensor> expected = interpreter.run(network.main(), Map.of("x", x, "n", n), names);
                Results found = plan.run(x, n);
                for (String name : names) {
                    Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(name), seed + ", run " + i + ", " + name);
                }
            }
            for (VarDesc each : network.main().persistables()) {
                Bits.assertSame(interpreter.get(each.name()), executor.scope().get(each.name()), seed + ", " + each.name());
            }
        }
    }
}
