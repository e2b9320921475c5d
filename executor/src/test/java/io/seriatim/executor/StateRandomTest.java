package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.engine.Engine;
import io.seriatim.engine.Lane;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.optimizer.Momentum;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.Arrays;
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

    /** A run of a program. */
    private record Run(Program program, Map<String, Tensor> fed, List<String> fetches) {
    }

    /** What the interpreter computes in some runs, and leaves in persistable variables after each. */
    private record Expected(List<Map<String, Tensor>> results, List<Map<String, Tensor>> left) {
        static Expected of(List<Run> runs) {
            Interpreter interpreter = Interpreter.of(Kernels.system());
            List<Map<String, Tensor>> results = new ArrayList<>();
            List<Map<String, Tensor>> left = new ArrayList<>();
            for (Run run : runs) {
                results.add(interpreter.run(run.program, run.fed, run.fetches));
                Map<String, Tensor> now = new TreeMap<>();
                interpreter.names().forEach(name -> now.put(name, Bits.copy(interpreter.get(name))));
                left.add(now);
            }
            return new Expected(results, left);
        }
    }

    private static void check(List<Run> runs, Executor executor) {
        Expected expected = Expected.of(runs);
        for (int i = 0; i < runs.size(); i++) {
            Run run = runs.get(i);
            Results found = executor.run(run.program, run.fed, new Fetches(run.fetches));
            for (String name : run.fetches) {
                Bits.assertSame(Objects.requireNonNull(expected.results.get(i).get(name)), found.get(name),
                        "run " + i + ", " + name);
            }
            Map<String, Tensor> left = expected.left.get(i);
            assertEquals(new TreeSet<>(left.keySet()), new TreeSet<>(executor.scope().names()), "run " + i);
            String after = "left by run " + i + " in ";
            left.forEach((name, tensor) -> Bits.assertSame(tensor, executor.scope().get(name), after + name));
        }
    }

    /** An executor, by the seed: its engine or loop, threads, memory plan and passes. */
    private static Executor executor(Executor.Builder builder, Random random, Engine engine) {
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

    private static Engine engine(Random random) {
        Engine.Builder builder = Engine.builder();
        return (switch (random.nextInt(4)) {
            case 0 -> builder.naive();
            case 1 -> builder.pooled(3);
            case 2 -> builder.perDevice().workers(Lane.CPU, 2);
            default -> builder.shuffled(random.nextLong());
        }).build();
    }

    private static void check(String how, long seed, Executor.Builder builder, Place place, List<Run> runs,
            Object programs) {
        Random random = new Random(seed);
        try (Devices devices = Devices.builder().build();
                Engine engine = engine(random);
                Executor executor = executor(builder.devices(devices).place(place), random, engine)) {
            check(runs, executor);
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(how + ", seed " + seed + ": " + e.getMessage() + "\n" + programs, e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "sim:0", "cpu and devices", "sim:1 and others"})
    void equalTheInterpreter(String how) {
        String place = how.split(" ", -1)[0];
        for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
            StatePrograms programs = new StatePrograms(seed, how.equals(place) ? HERE : MIXED);
            List<Run> runs = new ArrayList<>(List.of(new Run(programs.startup, Map.of(), List.of())));
            for (int run = 0; run < RUNS; run++) {
                Program main = programs.main(run);
                runs.add(new Run(main, programs.fed(run), programs.fetches(main)));
            }
            check(how, seed, Executor.builder(), Place.parse(place), runs, programs);
        }
    }

    /** Trainings on several places whose parameters share memory at each. */
    @ParameterizedTest
    @ValueSource(strings = {"cpu,cpu", "sim:0,sim:1", "cpu,sim:0", "sim:0,sim:1,sim:0"})
    void equalTheInterpreterOnSeveralPlaces(String where) {
        List<Place> places = Arrays.stream(where.split(",", -1)).map(Place::parse).toList();
        for (long seed = FIRST; seed < FIRST + SEEDS / 5; seed++) {
            Network network = training(seed);
            String loss = network.outputs().get("loss").name();
            DataParallel parallel = DataParallel.of(network.main(), network.startup(), List.of("x"), loss,
                    List.of(loss, network.outputs().get("last").name()), places);
            Program startup = coalesced(parallel, seed);
            List<Run> runs = new ArrayList<>(List.of(new Run(startup, Map.of(), List.of())));
            for (int run = 0; run < RUNS; run++) {
                Tensor[] split = parallel.split(Bits.normal(seed + run, 6, 4));
                Map<String, Tensor> fed = new TreeMap<>();
                for (int i = 0; i < split.length; i++) {
                    fed.put(parallel.feedNames().get(i), split[i]);
                }
                runs.add(new Run(parallel.main(), fed, parallel.fetches()));
            }
            // Tiles of products may sum in another order.
            check(where, seed, Executor.builder().without(Pass.PARTITION), places.getFirst(), runs,
                    startup + "\n" + parallel.main());
        }
    }

    private static Network training(long seed) {
        Random random = new Random(seed);
        return Network.define(seed + 1, g -> {
            List<Value> values = new ArrayList<>(List.of(g.data("x", DType.FLOAT32, -1, 4)));
            for (int i = 0; i < 4 + random.nextInt(5); i++) {
                Value a = values.get(random.nextInt(values.size()));
                Value b = values.get(random.nextInt(values.size()));
                values.add(switch (random.nextInt(5)) {
                    case 0 -> a.plus(b).tanh();
                    case 1 -> a.minus(b.times(0.5));
                    case 2 -> a.max(b);
                    default -> g.linear(a, 4);
                });
            }
            Value loss = values.getLast().plus(g.linear(values.get(random.nextInt(values.size())), 4)).tanh().mean();
            g.minimize(loss, random.nextBoolean() ? Adam.of(0.1) : Momentum.of(0.1));
            return Outputs.of("loss", loss, "last", values.getLast());
        });
    }

    /** Returns the startup program with operations that make some variables of each place share memory. */
    private static Program coalesced(DataParallel parallel, long seed) {
        Random random = new Random(seed);
        Program startup = parallel.startup().copy();
        Map<String, List<VarDesc>> groups = new TreeMap<>();
        for (VarDesc each : parallel.main().persistables()) {
            if (each.tensor().dtype() == DType.FLOAT32 && startup.global().var(each.name()) != null
                    && random.nextInt(3) > 0) {
                int at = each.name().indexOf('@');
                groups.computeIfAbsent(at < 0 ? "" : each.name().substring(at), _ -> new ArrayList<>()).add(each);
            }
        }
        groups.forEach((where, shared) -> {
            List<String> names = shared.stream().map(VarDesc::name).toList();
            long size =
                    shared.stream().mapToLong(each -> Arrays.stream(each.tensor().shape()).reduce(1, (a, b) -> a * b))
                            .sum();
            startup.global().put(VarDesc.of("flat" + where, VarType.dense(DType.FLOAT32, size)).persistent());
            startup.global().add(OpDesc.of("coalesce_tensor").in("Input", names).out("Output", names)
                    .out("FusedOutput", "flat" + where).attr("copy_data", true).attr("use_align", false)
                    .attr("dtype", 5).build());
        });
        return startup;
    }
}
