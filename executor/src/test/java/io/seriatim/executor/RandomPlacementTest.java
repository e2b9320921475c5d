package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.device.SimOptions;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.graph.Interpreter;
import io.seriatim.graph.Network;
import io.seriatim.graph.Program;
import io.seriatim.graph.Value;
import io.seriatim.graph.VarDesc;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random programs whose operations are on the host and two simulated devices at random give what the interpreter gives, to the bit, under the race detector. */
class RandomPlacementTest {
    private static final String[] PLACES = {"cpu", "sim:0", "sim:1"};
    private static final int RUNS = 3;
    private static final SimOptions SHAKEN = SimOptions.DEFAULT.withLaunchLatency(Duration.ofNanos(20_000));

    /** A random program and what the interpreter makes of it. */
    private record Case(long seed, Program startup, Program main, List<String> names, List<Map<String, Tensor>> results, Map<String, Tensor> left) {
        static Case of(long seed) {
            Network network = RandomNetworks.of(seed, 14);
            Program main = RandomNetworks.placed(RandomNetworks.overwritten(network.main(), seed, 5), seed, PLACES);
            Program startup = RandomNetworks.placed(network.startup(), seed + 1, PLACES);
            List<String> names = network.outputs().values().values().stream().map(Value::name).distinct().toList();
            Interpreter interpreter = Interpreter.of(Kernels.system());
            interpreter.run(startup, Map.of(), List.of());
            List<Map<String, Tensor>> results = new ArrayList<>();
            for (int i = 0; i < RUNS; i++) {
                Map<String, Tensor> found = interpreter.run(main, Map.of("x", x(i)), names);
                results.add(found);
            }
            Map<String, Tensor> left = new java.util.TreeMap<>();
            for (VarDesc each : main.persistables()) {
                left.put(each.name(), Bits.copy(interpreter.get(each.name())));
            }
            return new Case(seed, startup, main, names, results, left);
        }

        static Tensor x(int run) {
            return Bits.normal(run, 4, 6);
        }

        void check(Executor executor, String where) {
            String at = "seed " + seed + ", " + where;
            try {
                executor.run(startup);
                Plan plan = executor.compile(main, feeds("x"), fetches(names.toArray(String[]::new)));
                for (int i = 0; i < RUNS; i++) {
                    Results found = plan.run(x(i));
                    for (String name : names) {
                        Bits.assertSame(Objects.requireNonNull(results.get(i).get(name)), found.get(name), at + ", run " + i + ", " + name);
                    }
                }
                left.forEach((name, tensor) -> Bits.assertSame(tensor, executor.scope().get(name), at + ", " + name));
            } catch (RuntimeException e) {
                throw new AssertionError(at + " fails: " + e, e);
            }
        }
    }

    private static void check(long from, long to, String where, SimOptions sim, Supplier<Executor.Builder> options,
            @Nullable Supplier<Engine> engines) {
        try (Devices devices = Devices.builder().sim(sim).build()) {
            for (long seed = from; seed < to; seed++) {
                Case random = Case.of(seed);
                Executor.Builder builder = options.get().devices(devices);
                Engine engine = engines == null ? null : engines.get();
                if (engine != null) {
                    builder.engine(engine);
                }
                try (engine; Executor executor = builder.build()) {
                    random.check(executor, where);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void equalTheInterpreter(int threads) {
        check(0, 60, "threads " + threads, SimOptions.DEFAULT, () -> Executor.builder().threads(threads).eager(), null);
    }

    @Test
    void equalTheInterpreterIfDevicesAreSlow() {
        check(100, 110, "slow devices", SHAKEN, () -> Executor.builder().threads(2).eager(), null);
    }

    @Test
    void equalTheInterpreterWithADeviceAsTheirPlace() {
        check(200, 220, "place sim:1", SimOptions.DEFAULT, () -> Executor.builder().place(Place.sim(1)).threads(2).eager(), null);
    }

    @ParameterizedTest
    @ValueSource(strings = {"naive", "pooled", "per device", "shuffled"})
    void equalTheInterpreterOnEveryEngine(String kind) {
        Supplier<Engine.Builder> builder = () -> Engine.builder().checked(true);
        Supplier<Engine> engines = switch (kind) {
            case "naive" -> () -> builder.get().naive().build();
            case "pooled" -> () -> builder.get().pooled(3).build();
            case "per device" -> () -> builder.get().perDevice().workers(Lane.CPU, 2).build();
            default -> {
                long[] seed = {0};
                yield () -> builder.get().shuffled(seed[0]++).build();
            }
        };
        check(300, 325, "engine " + kind, SimOptions.DEFAULT, Executor::builder, engines);
    }
}
