package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.graph.Initializer;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.ParameterSpec;
import io.seriatim.graph.Value;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.graph.parallel.DataParallel;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A value that is fed to a persistable variable stays in the scope, as the value that the run leaves does. */
class FedPersistableTest {
    private final Devices devices = Devices.builder().build();

    @AfterEach
    void close() {
        devices.close();
    }

    private Executor executor(String place) {
        return Executor.builder().devices(devices).place(Place.parse(place)).threads(2).eager().build();
    }

    private static Network network(boolean trains) {
        return Network.define(g -> {
            Value x = g.data("x", FLOAT32, 2);
            Value w = g.parameter(ParameterSpec.of(Initializer.constant(5)).named("w"), FLOAT32, 2);
            Value loss = x.times(w).sum();
            if (trains) {
                g.minimize(loss, Sgd.of(1));
            }
            return Outputs.of("loss", loss);
        });
    }

    private static Tensor of(float... elements) {
        return Tensor.of(elements, elements.length);
    }

    private static void assertHas(Scope scope, String name, float... expected) {
        assertArrayEquals(expected, scope.get(name).toFloatArray(), name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "sim:0"})
    void updatesBeginWithTheFedValue(String place) {
        Network network = network(true);
        String loss = network.outputs().get("loss").name();
        Tensor x = of(1, 2);
        Tensor w = of(100, 200);
        try (Executor executor = executor(place)) {
            executor.run(network.startup());
            Plan plan = executor.compile(network.main(), feeds("x", "w"), fetches(loss));
            assertEquals(500, plan.run(x, w).scalar(loss));
            assertHas(executor.scope(), "w", 99, 198);
            assertArrayEquals(new float[]{100, 200}, w.toFloatArray(), "the fed tensor stays as it is");
            executor.run(network.main(), Map.of("x", x), fetches());
            assertHas(executor.scope(), "w", 98, 196);
            assertEquals(500, plan.run(x, w).scalar(loss));
            assertHas(executor.scope(), "w", 99, 198);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "sim:0"})
    void staysIfNothingWritesIt(String place) {
        Network network = network(false);
        String loss = network.outputs().get("loss").name();
        Tensor w = of(100, 200);
        try (Executor executor = executor(place)) {
            executor.run(network.startup());
            Results results = executor.run(network.main(), Map.of("x", of(1, 1), "w", w), fetches(loss, "w"));
            assertEquals(300, results.scalar(loss));
            results.get("w").memory().fill((byte) 0);
            w.memory().fill((byte) 0);
            assertHas(executor.scope(), "w", 100, 200);
            assertEquals(300, executor.run(network.main(), Map.of("x", of(1, 1)), fetches(loss)).scalar(loss));
        }
        Interpreter interpreter = Interpreter.of(Kernels.system());
        Tensor other = of(7, 8);
        interpreter.run(network.main(), Map.of("x", of(1, 1), "w", other), List.of(loss));
        other.memory().fill((byte) 0);
        assertArrayEquals(new float[]{7, 8}, interpreter.get("w").toFloatArray());
    }

    @Test
    void staysIfNothingUsesIt() {
        Program program = new Program();
        program.global().put(persistable("w", -1)).put(persistable("v", 2)).put(passing("x"))
                .add(OpDesc.of("scale").in("X", "v").out("Out", "x").attr("scale", 2f).build());
        try (Executor executor = executor("cpu")) {
            executor.scope().set("v", of(1, 2));
            executor.run(program, Map.of("w", of(1, 2, 3)), fetches());
            executor.run(program, Map.of("w", of(1, 2, 3, 4)), fetches("x"));
            assertHas(executor.scope(), "w", 1, 2, 3, 4);
        }
    }

    @Test
    void requestsAreNotBatchedWithIt() {
        Program program = new Program();
        program.global().put(persistable("w", -1)).put(passing("x")).add(scale("w", "x", 2));
        try (Executor executor = executor("cpu")) {
            Plan plan = executor.compile(program, feeds("w"), fetches("x"));
            String message = String.valueOf(
                    assertThrows(IllegalArgumentException.class, () -> RequestBatcher.of(plan, 4, 1)).getMessage());
            assertTrue(message.contains("fed the persistable ones [w]"), message);
        }
    }

    private static VarDesc persistable(String name, long... dims) {
        return VarDesc.of(name, VarType.dense(FLOAT32, dims)).persistent();
    }

    private static VarDesc passing(String name) {
        return VarDesc.of(name, VarType.dense(FLOAT32, -1));
    }

    private static OpDesc scale(String from, String to, float by) {
        return OpDesc.of("scale").in("X", from).out("Out", to).attr("scale", by).build();
    }

    /** A branch that may change w and v, of which v is declared in the branch. */
    private static Program branch() {
        Program program = new Program();
        Block inner = program.addBlock(0, null);
        inner.put(persistable("v", 2)).add(scale("w", "w", 3)).add(scale("w", "v", 10));
        program.global().put(persistable("w", 2)).put(VarDesc.of("c", VarType.dense(BOOL, 1))).put(passing("out"))
                .put(VarDesc.of("scopes", new VarType.Other(VarType.STEP_SCOPES)))
                .add(OpDesc.of("conditional_block").in("Cond", "c").in("Input", "w").out("Out", "w")
                        .out("Scope", "scopes").attr("sub_block", inner).attr("is_scalar_condition", true)
                        .attr("skip_eager_deletion_vars", new String[0]).build())
                .add(scale("w", "out", 1));
        return program;
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "sim:0"})
    void branchesChangeTheFedValue(String place) {
        Program program = branch();
        Interpreter interpreter = Interpreter.of(Kernels.system()).set("w", of(5, 5));
        try (Executor executor = executor(place)) {
            executor.scope().set("w", of(5, 5));
            for (boolean taken : new boolean[]{true, false}) {
                Map<String, Tensor> fed = Map.of("w", of(1, 2), "c", Tensor.of(BOOL, new double[]{taken ? 1 : 0}, 1));
                float[] expected = taken ? new float[]{3, 6} : new float[]{1, 2};
                interpreter.run(program, fed, List.of("out"));
                assertArrayEquals(expected, interpreter.get("w").toFloatArray());
                assertArrayEquals(expected, executor.run(program, fed, fetches("out")).get("out").toFloatArray());
                assertHas(executor.scope(), "w", expected);
                assertArrayEquals(new float[]{30, 60}, interpreter.get("v").toFloatArray());
                assertHas(executor.scope(), "v", 30, 60);
            }
        }
    }

    /** What was complete before a failure stays: the fed value, or the one that the run has computed. */
    @Test
    void failedRunsLeaveCompleteValues() {
        Program program = new Program();
        program.global().put(persistable("w", 2)).put(persistable("v", 2)).put(passing("x")).put(passing("out"))
                .add(scale("w", "w", 2))
                .add(OpDesc.of("elementwise_add").in("X", "w").in("Y", "x").out("Out", "out").build())
                .add(scale("v", "v", 2));
        try (Executor executor = Executor.builder().sequential().build()) {
            executor.scope().set("w", of(5, 5)).set("v", of(6, 6));
            assertThrows(RuntimeException.class, () -> executor.run(program,
                    Map.of("w", of(1, 2), "v", of(3, 4), "x", of(1, 2, 3)), fetches("out")));
            float[] w = executor.scope().get("w").toFloatArray();
            assertTrue(Arrays.equals(w, new float[]{1, 2}) || Arrays.equals(w, new float[]{2, 4}), Arrays.toString(w));
            assertHas(executor.scope(), "v", 3, 4);
            executor.scope().set("w", of(5, 5));
            assertThrows(IllegalArgumentException.class,
                    () -> executor.run(program, Map.of("w", of(1, 2)), fetches("out")), "x is not fed");
            assertHas(executor.scope(), "w", 5, 5);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu,cpu", "sim:0,sim:1", "cpu,sim:0,cpu,sim:0"})
    void dataParallelRunsGiveTheFedValueToAllPlaces(String where) {
        Network network = Network.define(g -> {
            Value x = g.data("x", FLOAT32, -1, 2);
            Value scale = g.data("scale", FLOAT32, 2);
            Value w = g.parameter(ParameterSpec.of(Initializer.constant(5)).named("w"), FLOAT32, 2);
            g.op("scale").in("X", scale).attr("scale", 2f).to("Out", scale).append();
            Value loss = x.times(w).times(scale).mean(0).sum();
            g.minimize(loss, Sgd.of(1));
            return Outputs.of("loss", loss);
        });
        String loss = network.outputs().get("loss").name();
        List<Place> places = Arrays.stream(where.split(",", -1)).map(Place::parse).toList();
        DataParallel parallel = DataParallel.of(network.main(), network.startup(), List.of("x", "scale", "w"), loss,
                List.of(loss), places);
        try (Executor executor = executor(places.getFirst().toString())) {
            executor.run(parallel.startup());
            Plan plan = executor.compile(parallel.main(), new Feeds(parallel.feedNames()), new Fetches(List.of(loss)));
            Tensor x = Tensor.of(FLOAT32, new double[]{1, 1, 1, 1, 1, 1, 1, 1}, 4, 2);
            plan.run(parallel.split(x, of(0.5f, 1), of(100, 200)));
            assertHas(executor.scope(), "w", 99, 198);
            for (Place place : places) {
                if (!place.equals(places.getFirst())) {
                    assertHas(executor.scope(), "w@" + place, 99, 198);
                }
            }
        }
    }
}
