package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.DeviceMemoryException;
import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.device.SimOptions;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.Tensor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests devices that run out of memory, and kernels that fail on a device: the message is correct, no variable is
 * partly updated, the next run works, and no resource leaks.
 */
@Tag("slow")
class DeviceFaultsTest {
    private static final Network NETWORK = Network.define(5, g -> {
        Value x = g.data("x", FLOAT32, -1, 8);
        Value loss = g.linear(g.linear(x, 16).tanh(), 4).square().mean();
        g.minimize(loss, Adam.of(0.01));
        return Outputs.of("loss", loss);
    });
    private static final String LOSS = Objects.requireNonNull(NETWORK.outputs().get("loss")).name();

    private static final class Deliberate extends RuntimeException {
        private static final long serialVersionUID = 1;

        Deliberate() {
            super("this was to fail");
        }
    }

    @AfterEach
    void noProbes() {
        Probes.allOff();
    }

    private static Map<String, Tensor> values(Scope scope, Program program) {
        Map<String, Tensor> values = new TreeMap<>();
        for (VarDesc each : program.persistables()) {
            if (scope.value(each.name()) != null) {
                values.put(each.name(), Bits.copy(scope.get(each.name())));
            }
        }
        return values;
    }

    /** Runs one step on the host from given values. */
    private static Tensor step(Map<String, Tensor> from, Map<String, Tensor> after, Tensor x) {
        try (Executor host = Executor.on(Place.CPU)) {
            from.forEach((name, tensor) -> host.scope().set(name, Bits.copy(tensor)));
            Tensor loss = host.compile(NETWORK.main(), feeds("x"), fetches(LOSS)).run(x).get(LOSS);
            after.putAll(values(host.scope(), NETWORK.main()));
            return loss;
        }
    }

    private static void assertSameValues(Map<String, Tensor> expected, Map<String, Tensor> found, String where) {
        assertEquals(expected.keySet(), found.keySet(), where);
        expected.forEach((name, tensor) -> Bits.assertSame(tensor, Objects.requireNonNull(found.get(name)),
                where + ", " + name));
    }

    @ParameterizedTest
    @CsvSource({"true,1", "true,3", "false,1", "false,3"})
    void aDeviceThatRunsOutOfMemorySaysSoAndGoesOnWithLess(boolean memoryPlan, int threads) {
        long limit = 64 << 10;
        try (Devices devices = Devices.builder().sim(SimOptions.DEFAULT.withMemory(limit)).build();
                Executor executor = Executor.builder().place(Place.sim(0)).devices(devices).memoryPlan(memoryPlan)
                        .threads(threads).eager()
                        .build()) {
            executor.run(NETWORK.startup());
            Plan plan = executor.compile(NETWORK.main(), feeds("x"), fetches(LOSS));
            plan.run(Bits.normal(1, 4, 8));
            // The first run allocates the resources that the plan keeps for these shapes.
            assertThrows(ProgramFailedException.class, () -> plan.run(Bits.normal(1, 5000, 8)));
            for (int i = 0; i < 5; i++) {
                Map<String, Tensor> before = values(executor.scope(), NETWORK.main());
                Resources resources = Resources.of(devices.get(Place.sim(0)));
                ProgramFailedException failed = assertThrows(ProgramFailedException.class,
                        () -> plan.run(Bits.normal(1, 5000, 8)));
                DeviceMemoryException cause = assertInstanceOf(DeviceMemoryException.class, failed.getCause(),
                        failed::toString);
                String message = String.valueOf(failed.getMessage());
                assertTrue(message.contains("sim:0 cannot allocate") && message.contains("65,536")
                        && message.contains(String.valueOf(cause.getMessage())), message);
                resources.assertMemoryGivenBack("after a run that found too little memory");
                assertSameValues(before, values(executor.scope(), NETWORK.main()), "after too little memory");

                Map<String, Tensor> then = new TreeMap<>();
                Tensor loss = step(before, then, Bits.normal(i, 4, 8));
                Bits.assertSame(loss, plan.run(Bits.normal(i, 4, 8)).get(LOSS), "the next run");
                assertSameValues(then, values(executor.scope(), NETWORK.main()), "after the next run");
            }
        }
    }

    @Test
    void framesThatNoRunUsesGiveWayToOthers() {
        // Each of these shapes needs more than half of the memory.
        try (Devices devices = Devices.builder().sim(SimOptions.DEFAULT.withMemory(512 << 10)).build();
                Executor executor = Executor.builder().place(Place.sim(0)).devices(devices).build()) {
            executor.run(NETWORK.startup());
            Plan plan = executor.compile(NETWORK.main(), feeds("x"), fetches(LOSS));
            for (int rows = 1500; rows < 1504; rows++) {
                assertTrue(Double.isFinite(plan.run(Bits.normal(rows, rows, 8)).scalar(LOSS)), "rows " + rows);
                assertTrue(devices.get(Place.sim(0)).memory().used() > 256 << 10,
                        devices.get(Place.sim(0)).memory()::toString);
            }
        }
    }

    @Test
    void variablesThatDoNotFitOnTheDeviceAreNamedAsTheReason() {
        try (Devices devices = Devices.builder().sim(SimOptions.DEFAULT.withMemory(1 << 10)).build();
                Executor executor = Executor.builder().place(Place.sim(0)).devices(devices).build();
                Executor host = Executor.on(Place.CPU)) {
            assertInstanceOf(DeviceMemoryException.class,
                    assertThrows(ProgramFailedException.class, () -> executor.run(NETWORK.startup())).getCause());
            host.run(NETWORK.startup());
            Plan plan = executor.compile(NETWORK.main(), feeds("x"), fetches(LOSS));
            Map<String, Tensor> before = values(host.scope(), NETWORK.main());
            ProgramFailedException failed = assertThrows(ProgramFailedException.class,
                    () -> plan.run(host.scope(), Bits.normal(1, 2, 8)));
            assertInstanceOf(DeviceMemoryException.class, failed.getCause());
            assertTrue(String.valueOf(failed.getMessage()).contains("There is no memory for"), failed::toString);
            assertSameValues(before, values(host.scope(), NETWORK.main()), "variables");
        }
    }

    /** Returns a program whose operations are at the given places. */
    private static Program placed(String places) {
        return places.isEmpty() ? NETWORK.main() : RandomNetworks.placed(NETWORK.main(), 11, places.split("\\+", -1));
    }

    @ParameterizedTest
    @CsvSource({"1,''", "3,''", "1,cpu+sim:0+sim:1", "3,cpu+sim:0+sim:1"})
    void aKernelThatFailsAnywhereLeavesWholeValues(int threads, String places) {
        Program main = placed(places);
        SimOptions slow = SimOptions.DEFAULT.withLaunchLatency(Duration.ofNanos(20_000));
        try (Devices devices = Devices.builder().sim(slow).build()) {
            for (int position = 0; position < main.global().ops().size(); position++) {
                String where = "failure before operation " + position + ", " + main.global().ops().get(position);
                Program program = Probes.before(main, position, Probes.KERNEL, "fault", "File train.py, line 41");
                program.global().set(position,
                        program.global().ops().get(position).with("op_device", "sim:" + position % 2));
                try (Executor executor = Executor.builder().place(Place.sim(0)).devices(devices).threads(threads)
                        .eager().build()) {
                    executor.run(NETWORK.startup());
                    fails(executor, program, where);
                }
            }
        }
    }

    private static void fails(Executor executor, Program program, String where) {
        Plan plan = executor.compile(program, feeds("x"), fetches(LOSS));
        plan.run(Bits.normal(1, 4, 8));
        Map<String, Tensor> old = values(executor.scope(), program);
        Map<String, Tensor> complete = new TreeMap<>();
        step(old, complete, Bits.normal(2, 4, 8));
        Deliberate fault = new Deliberate();
        Probes.on("fault", _ -> {
            throw fault;
        });
        ProgramFailedException failed = assertThrows(ProgramFailedException.class, () -> plan.run(Bits.normal(2, 4, 8)),
                where);
        Probes.off("fault");
        assertSame(fault, failed.getCause(), where);
        assertEquals(Probes.KERNEL, failed.operation(), where);
        String message = String.valueOf(failed.getMessage());
        assertTrue(message.contains("this was to fail") && message.contains("line 41") && message.contains("float32["),
                message);

        Map<String, Tensor> left = values(executor.scope(), program);
        for (OpDesc op : program.global().ops()) {
            if (op.type().equals("adam")) {
                List<Map<String, Tensor>> possible = List.of(old, complete);
                assertTrue(possible.stream().anyMatch(values -> op.outputNames().stream()
                        .allMatch(name -> Bits.same(Objects.requireNonNull(values.get(name)),
                                Objects.requireNonNull(left.get(name))))),
                        () -> where + ": " + op.outputNames() + " are neither as before nor as after");
            }
        }
        Map<String, Tensor> then = new TreeMap<>();
        Tensor loss = step(left, then, Bits.normal(3, 4, 8));
        Bits.assertSame(loss, plan.run(Bits.normal(3, 4, 8)).get(LOSS), where + ": the next run");
        assertSameValues(then, values(executor.scope(), program), where + ", after the next run");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aStartupThatFailsOnADeviceSetsOnlyWholeVariables(int threads) {
        int count = NETWORK.startup().global().ops().size();
        for (int position = 1; position < count; position++) {
            Program startup = NETWORK.startup().copy();
            String variable = startup.global().ops().get(position - 1).outputNames().getFirst();
            startup.global().add(position, Probes.of(Probes.KERNEL, variable, "fault"));
            try (Devices devices = Devices.builder().build();
                    Executor executor = Executor.builder().place(Place.sim(0)).devices(devices).threads(threads).eager()
                            .build();
                    Executor host = Executor.on(Place.CPU)) {
                host.run(NETWORK.startup());
                Probes.on("fault", _ -> {
                    throw new Deliberate();
                });
                assertThrows(ProgramFailedException.class, () -> executor.run(startup));
                values(executor.scope(), startup)
                        .forEach((name, tensor) -> Bits.assertSame(host.scope().get(name), tensor, name));
                Probes.off("fault");
                executor.run(startup);
                assertEquals(count, values(executor.scope(), startup).size());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1,true", "3,true", "1,false", "3,false"})
    void anInterruptionEndsTheRunAndTheNextOneWorks(int threads, boolean mixed) {
        Program main = mixed ? placed("cpu+sim:0+sim:1") : NETWORK.main();
        Thread caller = Thread.currentThread();
        for (int position = 0; position < main.global().ops().size() - 4; position++) {
            String where = "interrupted in operation " + position;
            Program program = Probes.before(main, position, Probes.KERNEL, "interruption");
            program.global().set(position,
                    program.global().ops().get(position).with("op_device", "sim:" + position % 2));
            // The host waits for all tasks, so that it observes the failure.
            program.global().add(Probes.of(Probes.CALL, LOSS, "end"));
            try (Devices devices = Devices.builder().sim(SimOptions.DEFAULT.withLaunchLatency(Duration.ofNanos(10_000)))
                    .build();
                    Executor executor = Executor.builder().place(Place.sim(0)).devices(devices).threads(threads).eager()
                            .build()) {
                executor.run(NETWORK.startup());
                Plan plan = executor.compile(program, feeds("x"), fetches(LOSS));
                plan.run(Bits.normal(1, 4, 8));
                Map<String, Tensor> old = values(executor.scope(), program);
                Probes.on("interruption", _ -> caller.interrupt());
                boolean failed = false;
                try {
                    plan.run(Bits.normal(2, 4, 8));
                } catch (ProgramFailedException e) {
                    assertInstanceOf(InterruptedException.class, e.getCause(), where);
                    failed = true;
                }
                assertTrue(Thread.interrupted(), where + ": the interruption is not forgotten");
                Probes.off("interruption");
                Map<String, Tensor> complete = new TreeMap<>();
                step(old, complete, Bits.normal(2, 4, 8));
                Map<String, Tensor> left = values(executor.scope(), program);
                boolean all = !failed;
                left.forEach((name, tensor) -> assertTrue(Bits.same(tensor, Objects.requireNonNull(complete.get(name)))
                        || (!all && Bits.same(tensor, Objects.requireNonNull(old.get(name)))),
                        () -> where + ": " + name));
                Map<String, Tensor> then = new TreeMap<>();
                Tensor loss = step(left, then, Bits.normal(3, 4, 8));
                Bits.assertSame(loss, plan.run(Bits.normal(3, 4, 8)).get(LOSS), where + ": the next run");
                assertSameValues(then, values(executor.scope(), program), where + ", after the next run");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void numbersThatAreNotFiniteAreFoundOnDevicesToo(int threads) {
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().place(Place.sim(0)).devices(devices).threads(threads).eager()
                        .nanCheck().build()) {
            executor.run(NETWORK.startup());
            Plan plan = executor.compile(NETWORK.main(), feeds("x"), fetches(LOSS));
            Tensor bad = Bits.normal(1, 2, 8);
            float[] values = bad.toFloatArray();
            values[3] = Float.NaN;
            ProgramFailedException failed = assertThrows(ProgramFailedException.class,
                    () -> plan.run(Tensor.of(values, 2, 8)));
            assertEquals("matmul_v2", failed.operation());
            assertTrue(String.valueOf(failed.getMessage()).contains("holds NaN"), failed::toString);
            assertTrue(Double.isFinite(plan.run(bad).scalar(LOSS)), "the next run works");
        }
    }

    @ParameterizedTest
    @CsvSource({"1,cpu", "3,cpu", "1,sim:0", "3,sim:0"})
    @Timeout(60)
    void errorsEndTheRunToo(int threads, String place) {
        AssertionError error = new AssertionError("this was to fail");
        for (int position = 0; position < NETWORK.main().global().ops().size(); position++) {
            Program program = Probes.before(NETWORK.main(), position, Probes.KERNEL, "error");
            try (Devices devices = Devices.builder().build();
                    Executor executor = Executor.builder().place(Place.parse(place)).devices(devices).threads(threads)
                            .eager().build()) {
                executor.run(NETWORK.startup());
                Plan plan = executor.compile(program, feeds("x"), fetches(LOSS));
                Probes.on("error", _ -> {
                    throw error;
                });
                assertSame(error,
                        assertThrows(ProgramFailedException.class, () -> plan.run(Bits.normal(1, 4, 8))).getCause());
                Probes.off("error");
                assertTrue(Double.isFinite(plan.run(Bits.normal(1, 4, 8)).scalar(LOSS)), "the next run works");
            }
        }
    }

    /** A variable that is written on the host and on a device is changed at its home only if the run succeeds. */
    @Test
    void whatComesBackFromADeviceAfterAFailureIsNotTaken() {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, 4);
            Value w = g.parameter(ParameterSpec.DEFAULT.named("w"), FLOAT32, 4);
            g.op("scale").in("X", w.plus(x)).attr("scale", 1f).to("Out", w).append();
            return Outputs.of("y", x.plus(1));
        });
        Program program = network.main().copy();
        List<OpDesc> ops = program.global().ops();
        int last = IntStream.range(0, ops.size()).filter(i -> ops.get(i).type().equals("scale")).findFirst()
                .orElseThrow();
        program.global().add(last,
                Probes.of(Probes.KERNEL, ops.get(last).input("X").getFirst(), "fault").with("op_device", "sim:0"));
        program.global().set(last + 1, program.global().ops().get(last + 1).with("op_device", "sim:0"));
        // The host writes the variable first, so the host is its home.
        program.global().add(0,
                OpDesc.of("scale").in("X", "w").out("Out", "w").attr("scale", 1f).attr("bias", 0f)
                        .attr("bias_after_scale", true).build());
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().devices(devices).build()) {
            executor.scope().set("w", Bits.floats(1, 2, 3, 4));
            Plan plan = executor.compile(program, feeds("x"), fetches("w"));
            assertTrue(
                    plan.specialisation(executor.scope(), Bits.floats(1, 1, 1, 1)).tasks().getLast().name()
                            .equals("memcpy_d2h"),
                    "w comes back at last");
            Probes.on("fault", _ -> {
                throw new Deliberate();
            });
            assertThrows(ProgramFailedException.class, () -> plan.run(Bits.floats(1, 1, 1, 1)));
            Bits.assertSame(Bits.floats(1, 2, 3, 4), executor.scope().get("w"), "w");
            Probes.off("fault");
            Bits.assertSame(Bits.floats(2, 3, 4, 5), plan.run(Bits.floats(1, 1, 1, 1)).get("w"), "w");
            Bits.assertSame(Bits.floats(2, 3, 4, 5), executor.scope().get("w"), "w");
        }
    }
}
