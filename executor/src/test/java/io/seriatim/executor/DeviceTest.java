package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.executor.ir.Copies;
import io.seriatim.executor.ir.Task;
import io.seriatim.executor.schedule.CompiledPlan;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.ParameterFiles;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the effects of programs on devices on variables, copies, streams and threads. */
class DeviceTest {
    private final Devices devices = Devices.builder().build();

    @AfterEach
    void close() {
        devices.close();
    }

    private Executor.Builder builder() {
        return Executor.builder().devices(devices);
    }

    /** Returns a program of operations on scalars, which are fed, persistable, or temporaries. */
    private static Program program(List<String> persistable, OpDesc... ops) {
        Program program = new Program();
        Block block = program.global();
        for (OpDesc op : ops) {
            for (String name : Stream.concat(op.inputNames().stream(), op.outputNames().stream())
                    .toList()) {
                if (block.var(name) == null) {
                    VarDesc desc = VarDesc.of(name, new VarType.Dense(VarType.TensorType.of(FLOAT32, 1), null));
                    block.put(persistable.contains(name) ? desc.persistent() : desc);
                }
            }
            block.add(op);
        }
        return program;
    }

    private static OpDesc increment(String variable, String place) {
        return OpDesc.of("increment").in("X", variable).out("Out", variable).attr("step", 1f).attr("op_device", place)
                .build();
    }

    private static OpDesc scale(String from, String to, float factor, String place) {
        return OpDesc.of("scale").in("X", from).out("Out", to).attr("scale", factor).attr("bias", 0f)
                .attr("bias_after_scale", true)
                .attr("op_device", place).build();
    }

    private static OpDesc add(String a, String b, String to, String place) {
        return OpDesc.of("elementwise_add").in("X", a).in("Y", b).out("Out", to).attr("axis", -1)
                .attr("op_device", place).build();
    }

    private static Tensor number(double value) {
        return Bits.floats(value);
    }

    private long transfers(Executor executor, Program program, List<String> fetches, String name) {
        CompiledPlan plan = executor.compile(program, feeds("x"), new Fetches(fetches)).specialisation(executor.scope(),
                number(1));
        PlanCheck.assertRight(plan, false, "transfers");
        return plan.tasks().stream().filter(task -> task.name().equals(name)).count();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void oneVariableIsIncrementedOnAllPlacesInTurn(int threads) {
        List<OpDesc> ops = new ArrayList<>(List.of(scale("x", "y", 1, "cpu")));
        for (int i = 0; i < 10; i++) {
            ops.add(increment("y", RandomPlacementTest.PLACES[i % 3]));
        }
        Program program = program(List.of(), ops.toArray(OpDesc[]::new));
        try (Executor executor = builder().threads(threads).eager().build()) {
            Plan plan = executor.compile(program, feeds("x"), fetches("y"));
            CompiledPlan sp = plan.specialisation(executor.scope(), number(0));
            for (int i = 0; i < sp.tasks().size(); i++) {
                Task t = sp.tasks().get(i);
                System.out.println(i + " " + t.name() + " " + t.place() + " " + Arrays.toString(t.reads())
                        + Arrays.stream(t.reads()).map(sp.values()::memory).boxed().toList() + " -> "
                        + Arrays.toString(t.writes())
                        + Arrays.stream(t.writes()).map(sp.values()::memory).boxed().toList());
                if (t instanceof Task.Compute c)
                    c.stages().forEach(st -> System.out.println("    " + st.inputs() + " " + st.outputs()));
            }
            System.out.println(PlanCheck.violations(sp, false));
            for (int run = 0; run < 20; run++) {
                Bits.assertSame(number(run + 10), plan.run(number(run)).get("y"), "run " + run);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aVariableOfAScopeIsIncrementedOnAllPlacesInTurn(int threads) {
        List<OpDesc> ops = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            ops.add(increment("w", RandomPlacementTest.PLACES[(i + 1) % 3]));
        }
        Program program = program(List.of("w"), ops.toArray(OpDesc[]::new));
        try (Executor executor = builder().threads(threads).eager().build()) {
            executor.scope().set("w", number(0));
            Plan plan = executor.compile(program, feeds(), fetches("w"));
            for (int run = 1; run <= 20; run++) {
                Bits.assertSame(number(10 * run), plan.run().get("w"), "run " + run);
                Bits.assertSame(number(10 * run), executor.scope().get("w"), "run " + run);
            }
        }
    }

    @Test
    void aCopyIsSharedAsLongAsItHolds() {
        Program shared = program(List.of(), scale("x", "a", 2, "sim:0"), scale("x", "b", 3, "sim:0"),
                add("a", "b", "c", "sim:0"),
                add("c", "x", "d", "sim:0"));
        Program written = program(List.of(), scale("x", "y", 2, "cpu"), scale("y", "a", 2, "sim:0"),
                increment("y", "cpu"),
                scale("y", "b", 2, "sim:0"),
                add("a", "b", "c", "sim:0"));
        try (Executor executor = builder().build()) {
            assertEquals(1, transfers(executor, shared, List.of("d"), "memcpy_h2d"), "x is copied once");
            assertEquals(1, transfers(executor, shared, List.of("d"), "memcpy_d2h"), "only the result is copied back");
            assertEquals(2, transfers(executor, written, List.of("c"), "memcpy_h2d"),
                    "y is copied anew when it has been written");
            Tensor c = executor.compile(written, feeds("x"), fetches("c")).run(number(1)).get("c");
            Bits.assertSame(number(10), c, "c");
        }
    }

    @Test
    void aCopyThatIsChangedInPlaceIsNotTakenForTheOther() {
        Program program = program(List.of(), scale("x", "y", 1, "cpu"), scale("y", "a", 1, "sim:0"),
                increment("y", "sim:0"),
                scale("y", "b", 1, "cpu"),
                increment("y", "sim:1"), scale("y", "c", 1, "sim:0"));
        try (Executor executor = builder().threads(2).eager().build()) {
            Results results = executor.compile(program, feeds("x"), fetches("a", "b", "c", "y")).run(number(5));
            Bits.assertSame(number(5), results.get("a"), "before");
            Bits.assertSame(number(6), results.get("b"), "between");
            Bits.assertSame(number(7), results.get("c"), "after");
            Bits.assertSame(number(7), results.get("y"), "at the end");
        }
    }

    @Test
    void aGpuIsOneOfTheProgramsPlace() {
        Program program = program(List.of(), scale("x", "a", 2, "gpu:1"), scale("a", "b", 2, "gpu"),
                scale("b", "c", 2, "gpu:all"),
                scale("c", "d", 2, ""));
        try (Executor host = builder().build(); Executor sim = builder().place(Place.sim(2)).build()) {
            assertEquals(List.of("cpu", "cpu", "cpu", "cpu"), places(host, program));
            assertEquals(List.of("sim:1", "sim:0", "sim:0", "sim:2"), places(sim, program));
            Bits.assertSame(host.compile(program, feeds("x"), fetches("d")).run(number(1)).get("d"),
                    sim.compile(program, feeds("x"), fetches("d")).run(number(1)).get("d"), "d");
        }
    }

    private static List<String> places(Executor executor, Program program) {
        return executor.compile(program, feeds("x"), fetches("d")).specialisation(executor.scope(), number(1)).tasks()
                .stream()
                .filter(task -> task instanceof Task.Compute).map(task -> task.place().toString()).toList();
    }

    @Test
    void aStreamCanBeNamed() {
        Program program = program(List.of(), scale("x", "a", 2, "sim:0"),
                scale("a", "b", 2, "sim:0").with("execution_stream", "side"),
                scale("a", "c", 3, "sim:0"), add("b", "c", "d", "sim:0"));
        try (Executor executor = builder().build()) {
            Plan plan = executor.compile(program, feeds("x"), fetches("d"));
            CompiledPlan with = plan.specialisation(executor.scope(), number(1));
            assertEquals(List.of("sim:0 copy in", "sim:0 compute", "sim:0 compute side", "sim:0 copy out"),
                    with.streams().streams().stream().map(Object::toString).toList());
            assertEquals(4, with.streams().events(),
                    "copy in to compute, compute to side and back, compute to copy out");
            Bits.assertSame(number(10), plan.run(number(1)).get("d"), "d");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aVariableOfADeviceMayGrow(int threads) {
        Program program = program(List.of("w"), scale("w", "w", 2, "sim:0"), scale("w", "y", 1, "sim:0"),
                OpDesc.of("concat").in("X", "w", "x").out("Out", "w").attr("axis", 0).attr("op_device", "sim:0")
                        .build(),
                scale("w", "z", 1, "sim:1"));
        try (Executor executor = builder().threads(threads).eager().build()) {
            executor.scope().set("w", number(1));
            Plan plan = executor.compile(program, feeds("x"), fetches("y", "z"));
            double[] expected = {1};
            for (int run = 0; run < 6; run++) {
                double[] doubled = Arrays.stream(expected).map(each -> 2 * each).toArray();
                Results results = plan.run(number(run));
                Bits.assertSame(Bits.floats(doubled), results.get("y"), "y in run " + run);
                expected = Arrays.copyOf(doubled, doubled.length + 1);
                expected[doubled.length] = run;
                Bits.assertSame(Bits.floats(expected), results.get("z"), "z in run " + run);
                Bits.assertSame(Bits.floats(expected), executor.scope().get("w"), "w after run " + run);
            }
        }
    }

    private static Network classifier() {
        return Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, 4);
            Value hidden = g.dropout(g.linear(x, 8).tanh(), 0.25);
            Value loss = g.linear(hidden, 2).square().mean();
            g.minimize(loss, Adam.of(0.01));
            return Outputs.of("loss", loss);
        });
    }

    private static String loss(Network network) {
        return Objects.requireNonNull(network.outputs().get("loss")).name();
    }

    @Test
    void parametersLiveOnTheDeviceAndAreReadAndSavedAsOnTheHost(@TempDir Path folder) throws IOException {
        Network network = classifier();
        try (Executor host = builder().build(); Executor sim = builder().place(Place.sim(0)).build()) {
            for (Executor each : List.of(host, sim)) {
                each.run(network.startup());
                Plan plan = each.compile(network.main(), feeds("x"), fetches(loss(network)));
                for (int i = 0; i < 3; i++) {
                    plan.run(Bits.normal(i, 5, 4));
                }
            }
            for (VarDesc parameter : network.main().parameters()) {
                Tensor there = (Tensor) Objects.requireNonNull(sim.scope().value(parameter.name()));
                assertEquals(Place.sim(0), there.place(), parameter.name());
                assertEquals(Place.CPU, sim.scope().get(parameter.name()).place());
                Bits.assertSame(host.scope().get(parameter.name()),
                        Objects.requireNonNull(sim.scope().find(parameter.name())),
                        parameter.name());
            }
            ParameterFiles.writeCombined(folder.resolve("p"), network.main(), sim.scope()::find);
            Map<String, Tensor> saved = ParameterFiles.readCombined(folder.resolve("p"), network.main());
            saved.forEach((name, tensor) -> Bits.assertSame(host.scope().get(name), tensor, name));
            assertTrue(saved.keySet().containsAll(network.main().parameters().stream().map(VarDesc::name).toList()),
                    saved.keySet()::toString);
        }
    }

    @Test
    void whatIsLearntOnADeviceIsUsedOnTheHostAndBack() {
        Network network = classifier();
        Program test = network.main().copyForTest();
        try (Executor host = builder().build(); Executor sim = builder().place(Place.sim(0)).build()) {
            host.run(network.startup());
            Scope scope = host.scope();
            Scope reference = new Scope();
            scope.names().forEach(name -> reference.set(name, Bits.copy(scope.get(name))));
            try (Executor other = builder().build()) {
                Fetches loss = fetches(loss(network));
                Plan[] train = {sim.compile(network.main(), feeds("x"), loss),
                        other.compile(network.main(), feeds("x"), loss)};
                Plan[] use = {host.compile(test, feeds("x"), loss), host.compile(test, feeds("x"), loss)};
                for (int i = 0; i < 4; i++) {
                    Tensor x = Bits.normal(i, 5, 4);
                    assertEquals(train[1].run(reference, x).scalar(loss(network)),
                            train[0].run(scope, x).scalar(loss(network)),
                            "step " + i);
                    assertEquals(use[1].run(reference, x).scalar(loss(network)),
                            use[0].run(scope, x).scalar(loss(network)), "use " + i);
                }
            }
        }
    }

    @Test
    void tensorsOfADeviceAreFedAndSet() {
        Program program = program(List.of("w"), add("x", "w", "y", "sim:0"), increment("w", "sim:0"));
        try (Executor executor = builder().build()) {
            executor.scope().set("w", Copies.to(devices.get(Place.sim(1)), number(1)));
            Plan plan = executor.compile(program, feeds("x"), fetches("y"));
            Tensor x = Copies.to(devices.get(Place.sim(0)), number(10));
            Bits.assertSame(number(11), plan.run(x).get("y"), "y");
            Bits.assertSame(number(12), plan.run(x).get("y"), "y again");
            Bits.assertSame(number(3), executor.scope().get("w"), "w");
        }
    }

    private static <T> List<T> all(int threads, List<Callable<T>> calls)
            throws InterruptedException, ExecutionException {
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            List<T> results = new ArrayList<>();
            for (Future<T> each : pool.invokeAll(calls)) {
                results.add(each.get());
            }
            return results;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void manyThreadsRunOnePlan(int threads) throws InterruptedException, ExecutionException {
        Network network = classifier();
        Program test = RandomNetworks.placed(network.main().copyForTest(), 1, RandomPlacementTest.PLACES);
        try (Executor executor = builder().place(Place.sim(0)).threads(threads).eager().build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(test, feeds("x"), fetches(loss(network)));
            double[] expected = new double[4];
            for (int i = 0; i < expected.length; i++) {
                expected[i] = plan.run(Bits.normal(i, 1 + i % 2, 4)).scalar(loss(network));
            }
            List<Callable<Results>> calls = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                Tensor x = Bits.normal(i % 4, 1 + i % 2, 4);
                calls.add(() -> plan.run(x));
            }
            // The results are read by another thread than that of the run.
            List<Results> found = all(4, calls);
            for (int i = 0; i < found.size(); i++) {
                assertEquals(expected[i % 4], found.get(i).scalar(loss(network)), "run " + i);
            }
        }
    }

    /**
     * Another thread reuses a frame and overwrites the keys of random number generators that kernels of the device have
     * read.
     */
    @Test
    void threadsOneAfterTheOtherDrawRandomNumbers() throws InterruptedException, ExecutionException {
        Network network = Network.define(5, g -> Outputs.of("y", g.dropout(g.data("x", FLOAT32, -1, 4), 0.5)));
        String y = network.outputs().get("y").name();
        try (Executor executor = builder().place(Place.sim(0)).build()) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            List<Callable<Results>> one = List.of(() -> plan.run(Bits.normal(1, 2, 4)));
            for (int i = 0; i < 6; i++) {
                assertEquals(8, all(1, one).getFirst().get(y).shape().size());
            }
        }
    }

    @Test
    void stepsOfManyThreadsOnOneScopeFollowOneAnother() throws InterruptedException, ExecutionException {
        Program program = program(List.of("w", "v"), increment("w", "sim:0"), scale("w", "v", 1, "sim:1"),
                add("w", "v", "y", "cpu"));
        try (Executor executor = builder().threads(2).eager().build()) {
            executor.scope().set("w", number(0));
            List<Plan> plans = List.of(executor.compile(program, feeds(), fetches("y")),
                    executor.compile(program, feeds(), fetches("y", "w")));
            List<Callable<Double>> calls = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                Plan plan = plans.get(i % 2);
                calls.add(() -> plan.run().get("y").toDoubleArray()[0]);
            }
            List<Double> found = new ArrayList<>(all(4, calls));
            found.sort(null);
            for (int i = 0; i < found.size(); i++) {
                assertEquals(2.0 * (i + 1), found.get(i), "one of the steps did not see the one before it");
            }
            Bits.assertSame(number(100), executor.scope().get("w"), "w");
            Bits.assertSame(number(100), executor.scope().get("v"), "v");
        }
    }

    @Test
    void closingAnExecutorEndsItsThreads() throws InterruptedException {
        Network network = classifier();
        Program main = RandomNetworks.placed(network.main(), 5, RandomPlacementTest.PLACES);
        try (Executor executor = builder().threads(2).eager().build()) {
            executor.run(network.startup());
            Plan plan = executor.compile(main, feeds("x"), fetches(loss(network)));
            for (int rows = 1; rows < 4; rows++) {
                plan.run(Bits.normal(rows, rows, 4));
            }
            assertTrue(!streams().isEmpty(), "streams of plans have threads");
        }
        for (Thread thread : streams()) {
            // The remaining threads have no work and must be about to end.
            thread.join(60_000);
        }
        assertEquals(List.of(), streams());
    }

    private static List<Thread> streams() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().contains("/plan "))
                .toList();
    }
}
