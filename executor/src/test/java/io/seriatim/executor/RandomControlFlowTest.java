package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.graph.Network;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs with branches, loops, lists and data-dependent shapes compute the same bits as the interpreter, and
 * leave the same in the scope. Some runs are fed variables that outlive them.
 */
@Tag("slow")
class RandomControlFlowTest {
    /** The number of rows of x, and n, for each run; some repeat. */
    private static final int[][] FEEDS = {{3, 2}, {3, 0}, {5, 3}, {3, 2}, {1, 1}};

    @ParameterizedTest
    @CsvSource({"false,0", "true,1000"})
    void equalTheInterpreter(boolean trains, long firstSeed) {
        for (long seed = firstSeed; seed < firstSeed + 12; seed++) {
            Network network = RandomControlFlow.of(seed, trains);
            List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
            try {
                Interpreter interpreter = Interpreter.of(Kernels.system());
                interpreter.run(network.startup(), Map.of(), List.of());
                List<Map<String, Tensor>> expected = new ArrayList<>();
                for (int i = 0; i < FEEDS.length; i++) {
                    expected.add(interpreter.run(network.main(), fed(network, seed, i), names));
                }
                for (int threads : new int[]{1, 2, 4}) {
                    compare(network, seed, threads, names, expected, interpreter);
                }
            } catch (RuntimeException e) {
                throw new AssertionError("Seed " + seed + " fails: " + e.getMessage(), e);
            }
        }
    }

    /** Temporary variables that outlive runs, of all blocks, also of branches and loops that are not run. */
    @ParameterizedTest
    @ValueSource(longs = 2000)
    void keepWhatOutlivesRuns(long firstSeed) {
        for (long seed = firstSeed; seed < firstSeed + 12; seed++) {
            Network network = RandomControlFlow.of(seed, false);
            Random random = new Random(seed);
            for (Block block : network.main().blocks()) {
                for (VarDesc desc : List.copyOf(block.vars())) {
                    boolean isTensor = desc.type() instanceof VarType.Dense && desc.needCheckFeed() == null;
                    if (isTensor && random.nextInt(4) == 0) {
                        block.put(desc.persistent());
                    }
                }
            }
            List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
            try (Executor executor = Executor.builder().threads(2).eager().build()) {
                Interpreter interpreter = Interpreter.of(Kernels.system());
                interpreter.run(network.startup(), Map.of(), List.of());
                executor.run(network.startup());
                for (int i = 0; i < FEEDS.length; i++) {
                    String where = "seed " + seed + ", run " + i;
                    Map<String, Tensor> fed = Map.of("x", x(i), "n", n(i));
                    Map<String, Tensor> expected = interpreter.run(network.main(), fed, names);
                    Results found = executor.run(network.main(), fed, fetches(names.toArray(String[]::new)));
                    for (String name : names) {
                        Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(name), where + name);
                    }
                    assertEquals(interpreter.names(), executor.scope().names(), where);
                    for (String name : interpreter.names()) {
                        Bits.assertSame(interpreter.get(name), executor.scope().get(name), where + ", " + name);
                    }
                }
            } catch (RuntimeException e) {
                throw new AssertionError("Seed " + seed + " fails: " + e.getMessage(), e);
            }
        }
    }

    private static Tensor x(int run) {
        return Bits.normal(run % 3, FEEDS[run][0], RandomControlFlow.WIDTH);
    }

    private static Tensor n(int run) {
        return Bits.longs(FEEDS[run][1]);
    }

    /** The feeds of a run; for every other one with new values of some variables that outlive runs. */
    private static Map<String, Tensor> fed(Network network, long seed, int run) {
        Map<String, Tensor> fed = new LinkedHashMap<>();
        fed.put("x", x(run));
        fed.put("n", n(run));
        Random random = new Random(31 * seed + run);
        for (VarDesc each : network.main().persistables()) {
            if (run % 2 == 1 && random.nextBoolean()) {
                VarType.TensorType type = each.tensor();
                fed.put(each.name(), Tensor.of(type.dtype(),
                        random.doubles(type.dims().stream().reduce(1L, Math::multiplyExact), -0.5, 0.5).toArray(),
                        type.shape()));
            }
        }
        return fed;
    }

    private static void compare(Network network, long seed, int threads, List<String> names,
            List<Map<String, Tensor>> expected, Interpreter interpreter) {
        String where = "seed " + seed + ", threads " + threads;
        try (Executor executor = Executor.builder().threads(threads).eager().specialisations(2).build()) {
            executor.run(network.startup());
            Fetches fetches = fetches(names.toArray(String[]::new));
            Plan plan = executor.compile(network.main(), feeds("x", "n"), fetches);
            for (int i = 0; i < FEEDS.length; i++) {
                Map<String, Tensor> fed = fed(network, seed, i);
                Results found = fed.size() == 2
                        ? plan.run(x(i), n(i))
                        : executor.run(network.main(), fed, fetches);
                for (String name : names) {
                    Bits.assertSame(Objects.requireNonNull(expected.get(i).get(name)), found.get(name),
                            where + ", run " + i + ", " + name);
                }
            }
            for (VarDesc each : network.main().persistables()) {
                Bits.assertSame(interpreter.get(each.name()), executor.scope().get(each.name()),
                        where + ", " + each.name());
            }
        }
    }
}
