package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs that overwrite variables in nested control flow compute the same bits as the interpreter, and leave
 * the same variables, at every place and in every way to run a plan.
 */
@Tag("slow")
class StateRandomTest {
    private static final int RUNS = 4;
    private static final String[] HERE = {""};
    private static final String[] MIXED = {"", "", "cpu", "sim:0", "sim:1"};
    private static final boolean FULL = Boolean.getBoolean("seriatim.full");
    /** The long form also uses seeds that were not used during development. */
    private static final long FIRST = Long.getLong("first", FULL ? 100_000 : 0);
    private static final long SEEDS = Long.getLong("seeds", FULL ? 2_500 : 75);

    /** What the interpreter computes, and leaves in persistable variables. */
    private record Expected(List<Map<String, Tensor>> results, List<Map<String, Tensor>> left) {
        static Expected of(StatePrograms programs) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            interpreter.run(programs.startup, Map.of(), List.of());
            List<Map<String, Tensor>> results = new ArrayList<>();
            List<Map<String, Tensor>> left = new ArrayList<>();
            for (int run = 0; run < RUNS; run++) {
                Program main = programs.main(run);
                results.add(interpreter.run(main, programs.fed(run), programs.fetches(main)));
                Map<String, Tensor> now = new TreeMap<>();
                interpreter.names().forEach(name -> now.put(name, Bits.copy(interpreter.get(name))));
                left.add(now);
            }
            return new Expected(results, left);
        }
    }

    private static void check(StatePrograms programs, Executor executor) {
        Expected expected = Expected.of(programs);
        executor.run(programs.startup);
        for (int run = 0; run < RUNS; run++) {
            Program main = programs.main(run);
            List<String> names = programs.fetches(main);
            Results found = executor.run(main, programs.fed(run), new Fetches(names));
            for (String name : names) {
                Bits.assertSame(Objects.requireNonNull(expected.results.get(run).get(name)), found.get(name),
                        "run " + run + ", " + name);
            }
            Map<String, Tensor> left = expected.left.get(run);
            assertEquals(new TreeSet<>(left.keySet()), new TreeSet<>(executor.scope().names()), "run " + run);
            String after = "left by run " + run + " in ";
            left.forEach((name, tensor) -> Bits.assertSame(tensor, executor.scope().get(name), after + name));
        }
    }

    /** An executor, by the seed: its engine or loop, threads, memory plan and passes. */
    static Executor executor(Executor.Builder builder, Random random, Engine engine) {
        return switch (random.nextInt(8)) {
            case 0 -> builder.threads(1).build();
            case 1 -> builder.threads(3).eager().build();
            case 2 -> builder.without(Pass.values()).threads(2).eager().build();
            case 3 -> builder.memoryPlan(false).threads(3).eager()
                    .collector(List.of(Collector.values()).get(random.nextInt(Collector.values().length))).build();
            case 4 -> builder.sequential().build();
            case 5 -> builder.inPlace(false).threads(2).eager().build();
            default -> builder.engine(engine).build();
        };
    }

    static Engine engine(Random random) {
        Engine.Builder builder = Engine.builder();
        return (switch (random.nextInt(4)) {
            case 0 -> builder.naive();
            case 1 -> builder.pooled(3);
            case 2 -> builder.perDevice().workers(Lane.CPU, 2);
            default -> builder.shuffled(random.nextLong());
        }).build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "sim:0", "cpu and devices", "sim:1 and others"})
    void equalTheInterpreter(String how) {
        String place = how.split(" ", -1)[0];
        for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
            Random random = new Random(seed);
            StatePrograms programs = new StatePrograms(seed, how.equals(place) ? HERE : MIXED);
            try (Devices devices = Devices.builder().build();
                    Engine engine = engine(random);
                    Executor executor = executor(Executor.builder().devices(devices).place(Place.parse(place)), random,
                            engine)) {
                check(programs, executor);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(how + ", seed " + seed + ": " + e.getMessage() + "\n" + programs, e);
            }
        }
    }
}
