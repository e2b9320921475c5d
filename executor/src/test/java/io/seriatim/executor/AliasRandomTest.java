package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares random programs whose variables share memory with a reference model of the memory, for all kinds of
 * execution.
 */
@Tag("slow")
class AliasRandomTest {
    private static final int RUNS = 4;
    private static final boolean FULL = Boolean.getBoolean("seriatim.full");
    /** The long form also uses seeds that were not used during development. */
    private static final long FIRST = FULL ? 10_000 : 0;
    private static final long SEEDS = FULL ? 500 : 60;

    private interface Run {
        Map<String, float[]> run(Program program, List<String> fetches);
    }

    private interface Variable {
        float[] read(String name);
    }

    private static void check(long seed, String how, Run run, Variable left) {
        AliasPrograms programs = new AliasPrograms(seed);
        String at = how + ", seed " + seed;
        try {
            programs.run(programs.startup);
            run.run(programs.startup, List.of());
            for (int i = 0; i < RUNS; i++) {
                Program main = programs.mains.get(i % 2);
                Map<String, float[]> expected = programs.run(main);
                Map<String, float[]> found = run.run(main, programs.fetches(main));
                String where = at + ", run " + i + "\n" + main;
                expected.forEach(
                        (name, values) -> assertArrayEquals(values, Objects.requireNonNull(found.get(name)),
                                () -> where + "\n" + name));
                for (String name : List.of("p0", "p1", "p2", "p3", "q", "f")) {
                    assertArrayEquals(programs.memory.read(name), left.read(name), () -> where + "\nleft in " + name);
                }
            }
        } catch (RuntimeException e) {
            throw new AssertionError(at + " fails: " + e + "\n" + programs.mains, e);
        }
    }

    @Test
    void theInterpreterSharesMemory() {
        for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            check(seed, "interpreter", (program, fetches) -> {
                Map<String, float[]> found = new HashMap<>();
                interpreter.run(program, AliasPrograms.fed(), fetches)
                        .forEach((name, tensor) -> found.put(name, tensor.toFloatArray()));
                return found;
            }, name -> interpreter.get(name).toFloatArray());
        }
    }

    private static void executor(long seed, String how, Executor executor) {
        try (executor) {
            check(seed, how, (program, fetches) -> {
                Map<String, float[]> found = new HashMap<>();
                Map<String, Tensor> fed = fetches.isEmpty() ? Map.of() : AliasPrograms.fed();
                Results results = executor.run(program, fed, Executor.fetches(fetches.toArray(String[]::new)));
                fetches.forEach(name -> found.put(name, results.get(name).toFloatArray()));
                return found;
            }, name -> executor.scope().get(name).toFloatArray());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1 thread", "3 threads", "no passes", "no memory plan", "shuffled", "sequential",
            "nan check",
            "nothing in place"})
    void executorsShareMemory(String how) {
        for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
            try (Engine engine = Engine.builder().shuffled(seed).build()) {
                Executor.Builder builder = Executor.builder();
                executor(seed, how, switch (how) {
                    case "1 thread" -> builder.threads(1).build();
                    case "3 threads" -> builder.threads(3).eager().build();
                    case "no passes" -> builder.without(Pass.values()).threads(3).eager().build();
                    case "no memory plan" -> builder.memoryPlan(false).threads(3).eager().build();
                    case "shuffled" -> builder.engine(engine).build();
                    case "sequential" -> builder.sequential().build();
                    case "nan check" -> builder.nanCheck().build();
                    default -> builder.inPlace(false).threads(2).build();
                });
            }
        }
    }

    @Test
    void aSimulatedDeviceSharesMemory() {
        for (long seed = FIRST; seed < FIRST + SEEDS / 2; seed++) {
            try (Devices devices = Devices.builder().build()) {
                executor(seed, "sim", Executor.builder().devices(devices).place(Place.parse("sim:0")).build());
            }
        }
    }
}
