package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;

import io.seriatim.graph.Network;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** With any combination of disabled options, an executor computes the same bits as the interpreter. */
@Tag("slow")
class RandomOptionsTest {
    @ParameterizedTest
    @EnumSource(Collector.class)
    void equalTheInterpreter(Collector collector) {
        for (long seed = 2000; seed < 2003; seed++) {
            Network network = RandomControlFlow.of(seed, seed % 2 == 0);
            List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
            Interpreter interpreter = Interpreter.of(Kernels.system());
            interpreter.run(network.startup(), Map.of(), List.of());
            List<Map<String, Tensor>> expected = new ArrayList<>();
            for (int run = 0; run < 3; run++) {
                expected.add(interpreter.run(network.main(), Map.of("x", x(run), "n", n(run)), names));
            }
            for (int options = 0; options < 16; options++) {
                boolean inPlace = (options & 1) == 0;
                boolean fusion = (options & 2) == 0;
                boolean memoryPlan = (options & 4) == 0;
                int threads = (options & 8) == 0 ? 1 : 3;
                String where = "seed " + seed + ", " + collector + ", in place " + inPlace + ", fusion " + fusion
                        + ", memory plan "
                        + memoryPlan + ", threads " + threads;
                try (Executor executor = Executor.builder().threads(threads).eager().collector(collector)
                        .inPlace(inPlace).fusion(fusion)
                        .memoryPlan(memoryPlan)
                        .build()) {
                    compare(executor, network, names, expected, where);
                    for (VarDesc each : network.main().persistables()) {
                        Bits.assertSame(interpreter.get(each.name()), executor.scope().get(each.name()),
                                where + ", " + each.name());
                    }
                }
            }
        }
    }

    private static Tensor x(int run) {
        return Bits.normal(run, 4 + run % 2, RandomControlFlow.WIDTH);
    }

    private static Tensor n(int run) {
        return Bits.longs(2 - run);
    }

    private static void compare(Executor executor, Network network, List<String> names,
            List<Map<String, Tensor>> expected, String where) {
        executor.run(network.startup());
        Plan plan = executor.compile(network.main(), feeds("x", "n"), fetches(names.toArray(String[]::new)));
        for (int run = 0; run < expected.size(); run++) {
            Results found = plan.run(x(run), n(run));
            for (String name : names) {
                Bits.assertSame(Objects.requireNonNull(expected.get(run).get(name)), found.get(name),
                        where + ", run " + run + ", " + name);
            }
        }
    }
}
