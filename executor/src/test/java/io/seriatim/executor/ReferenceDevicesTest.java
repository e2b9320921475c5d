package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests programs on several devices, derived from the reference system's tests. The devices are simulated and detect
 * unordered accesses.
 */
class ReferenceDevicesTest {
    private Devices devices = Devices.builder().build();

    @BeforeEach
    void open() {
        devices = Devices.builder().build();
    }

    @AfterEach
    void close() {
        Probes.allOff();
        devices.close();
    }

    private Executor executor(int threads, Place place) {
        return Executor.builder().threads(threads).eager().devices(devices).place(place).build();
    }

    private static OpDesc on(String device, OpDesc.Builder op) {
        return op.attr("op_device", device).build();
    }

    private static OpDesc increment(String device, String name) {
        return on(device, OpDesc.of("increment").in("X", name).out("Out", name).attr("step", 1f));
    }

    private static OpDesc scale(String device, String from, String to, float by) {
        return on(device, OpDesc.of("scale").in("X", from).out("Out", to).attr("scale", by));
    }

    private static VarDesc passing(String name) {
        return VarDesc.of(name, VarType.dense(FLOAT32, 1));
    }

    @ParameterizedTest
    @CsvSource({"1,true", "1,false", "3,true", "3,false"})
    void oneVariableIsIncrementedInPlaceOnSeveralDevices(int threads, boolean persistable) {
        Program program = new Program();
        program.global().put(persistable ? passing("n").persistent() : passing("n"));
        for (String device : List.of("sim:0", "cpu", "sim:1", "sim:1", "sim:0")) {
            program.global().add(increment(device, "n"));
        }
        try (Executor executor = executor(threads, Place.CPU)) {
            executor.scope().set("n", Bits.floats(0));
            Plan plan = executor.compile(program, persistable ? feeds() : feeds("n"), fetches("n"));
            Tensor ten = Bits.floats(10);
            for (int run = 1; run <= 10; run++) {
                Results results = persistable ? plan.run() : plan.run(ten);
                assertEquals(persistable ? 5 * run : 15, results.scalar("n"), "run " + run);
                assertEquals(10, ten.getDouble(0), "what is fed stays as it is");
            }
            if (persistable) {
                assertEquals(50, Bits.onHost(executor.scope().get("n")).getDouble(0));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aTransferIsNeverStale(int threads) {
        Program program = new Program();
        for (String name : List.of("x", "a", "b", "c", "d", "e")) {
            program.global().put(passing(name));
        }
        program.global().put(passing("w").persistent())
                // Two readers at another place share one transfer; after w is overwritten, they need another.
                .add(scale("sim:0", "w", "a", 1)).add(scale("sim:0", "w", "b", 10)).add(scale("cpu", "x", "w", 1))
                .add(scale("sim:0", "w", "c", 1)).add(scale("sim:1", "w", "d", 1)).add(scale("sim:1", "x", "w", 100))
                .add(scale("sim:0", "w", "e", 1));
        try (Executor executor = executor(threads, Place.CPU)) {
            executor.scope().set("w", Bits.floats(7));
            Plan plan = executor.compile(program, feeds("x"), fetches("a", "b", "c", "d", "e", "w"));
            double w = 7;
            for (int run = 1; run <= 5; run++) {
                Results results = plan.run(Bits.floats(run));
                assertEquals(List.of(w, 10 * w, (double) run, (double) run, 100.0 * run, 100.0 * run),
                        results.all().keySet().stream().map(results::scalar).toList(), "run " + run);
                w = 100.0 * run;
                if (run == 3) {
                    w = -4;
                    executor.scope().set("w", Bits.floats(w));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aStepBesideAStepOnOtherDevices(int threads) {
        Network network = Network.define(3, g -> {
            Value x = g.data("x", FLOAT32, -1, 8);
            Value loss = g.linear(g.linear(x, 16).tanh(), 4).softmax(-1).square().mean();
            g.minimize(loss, Adam.of(0.05));
            return Outputs.of("loss", loss);
        });
        String loss = network.outputs().get("loss").name();
        try (Executor host = executor(threads, Place.CPU);
                Executor first = executor(threads, Place.sim(0));
                Executor second = executor(threads, Place.sim(1))) {
            List<Plan> plans = new ArrayList<>();
            for (Executor executor : List.of(host, first, second)) {
                executor.run(network.startup());
                plans.add(executor.compile(network.main(), feeds("x"), fetches(loss)));
            }
            for (int step = 0; step < 6; step++) {
                Tensor x = Bits.normal(step, 2 + step % 2, 8);
                Tensor expected = plans.getFirst().run(x).get(loss);
                Bits.assertSame(expected, plans.get(1).run(x).get(loss), "sim:0, step " + step);
                Bits.assertSame(expected, plans.get(2).run(x).get(loss), "sim:1, step " + step);
            }
            for (String name : host.scope().names()) {
                Bits.assertSame(host.scope().get(name), Bits.onHost(first.scope().get(name)), name);
                Bits.assertSame(host.scope().get(name), Bits.onHost(second.scope().get(name)), name);
            }
        }
    }

    /** Random programs whose operations are distributed over the host and two accelerators. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void scatteredProgramsEqualTheInterpreter(int threads) {
        for (long seed = 0; seed < 6; seed++) {
            Network network = RandomControlFlow.of(seed, seed % 2 == 0);
            Program program = network.main().copy();
            Random random = new Random(seed);
            for (var block : program.blocks()) {
                for (int i = 0; i < block.ops().size(); i++) {
                    String device = List.of("", "cpu", "sim:0", "sim:1").get(random.nextInt(4));
                    if (!device.isEmpty()) {
                        block.set(i, block.ops().get(i).with("op_device", device));
                    }
                }
            }
            List<String> names = network.outputs().values().values().stream().map(Value::name).toList();
            Interpreter interpreter = Interpreter.of(Kernels.system());
            interpreter.run(network.startup(), Map.of(), List.of());
            try (Executor executor = executor(threads, seed % 3 == 0 ? Place.sim(1) : Place.CPU)) {
                executor.run(network.startup());
                Plan plan = executor.compile(program, feeds("x", "n"), fetches(names.toArray(String[]::new)));
                for (int run = 0; run < 3; run++) {
                    Tensor x = Bits.normal(run, 3 + run % 2, RandomControlFlow.WIDTH);
                    Tensor n = Bits.longs(run + 1);
                    Map<String, Tensor> expected = interpreter.run(network.main(), Map.of("x", x, "n", n), names);
                    Results found = plan.run(x, n);
                    for (String name : names) {
                        Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(name),
                                "seed " + seed + ", run " + run + ", " + name);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1,test_kernel", "3,test_kernel", "1,test_probe", "3,test_probe"})
    void aFailureOnADeviceIsThatOfTheRun(int threads, String type) {
        Program program = new Program();
        for (String name : List.of("x", "a", "b", "c")) {
            program.global().put(passing(name));
        }
        program.global().put(passing("n").persistent()).put(passing("total").persistent())
                .add(scale("sim:0", "x", "a", 2))
                .add(Probes.of(type, "a", "fails").with("op_device", "sim:0")).add(scale("sim:0", "a", "b", 2))
                .add(increment("sim:1", "n"))
                .add(scale("cpu", "b", "c", 2))
                .add(on("cpu", OpDesc.of("elementwise_add").in("X", "total").in("Y", "c").out("Out", "total")
                        .attr("axis", -1)));
        try (Executor executor = executor(threads, Place.CPU)) {
            executor.scope().set("n", Bits.floats(0)).set("total", Bits.floats(0));
            Plan plan = executor.compile(program, feeds("x"), fetches("c"));
            assertEquals(8, plan.run(Bits.floats(1)).scalar("c"));
            for (int run = 0; run < 3; run++) {
                double before = Bits.onHost(executor.scope().get("n")).getDouble(0);
                double total = Bits.onHost(executor.scope().get("total")).getDouble(0);
                Probes.on("fails", _ -> {
                    throw new IllegalStateException("on purpose");
                });
                RuntimeException thrown = assertThrows(RuntimeException.class, () -> plan.run(Bits.floats(1)));
                Probes.allOff();
                assertTrue(chain(thrown).stream().anyMatch(each -> "on purpose".equals(each.getMessage())),
                        () -> "causes: " + chain(thrown));
                assertTrue(thrown instanceof ProgramFailedException, () -> "not clear: " + thrown);
                assertEquals(type, ((ProgramFailedException) thrown).operation());
                double after = Bits.onHost(executor.scope().get("n")).getDouble(0);
                assertEquals(total, Bits.onHost(executor.scope().get("total")).getDouble(0),
                        "what has failed is not added");
                assertTrue(after == before || after == before + 1, () -> "n is whole: " + before + ", then " + after);
                assertEquals(12, plan.run(Bits.floats(1.5)).scalar("c"), "the next run works");
                assertEquals(after + 1, Bits.onHost(executor.scope().get("n")).getDouble(0));
            }
        }
    }

    private static List<Throwable> chain(Throwable thrown) {
        List<Throwable> chain = new ArrayList<>();
        for (Throwable each = thrown; each != null && chain.size() < 20; each = each.getCause()) {
            chain.add(each);
        }
        return chain;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aDeviceIsFreeAfterwards(int threads) {
        Network network = Network.define(g -> Outputs.of("y", g.data("x", FLOAT32, -1, 64).tanh().exp().tanh()));
        String y = network.outputs().get("y").name();
        Resources before = Resources.of(devices.get(Place.sim(0)));
        Resources host = Resources.of(devices.host());
        try (Executor executor = executor(threads, Place.sim(0))) {
            Plan plan = executor.compile(network.main(), feeds("x"), fetches(y));
            for (int run = 0; run < 10; run++) {
                assertArrayEquals(new long[]{1 + run, 64},
                        plan.run(Bits.normal(run, 1 + run, 64)).get(y).shape().dims());
            }
        }
        before.assertGivenBack("on sim:0");
        host.assertGivenBack("on the host");
    }
}
