package io.seriatim.executor;

import static io.seriatim.tensor.DType.BFLOAT16;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.executor.ir.PlaceRequest;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Passes that fuse and join operations do not move them from the place that they request. */
class RequestedPlacesTest {
    /** Checks that all operations of a program run, each at the place that it requests. */
    private static void check(Program program, Map<String, long[]> shapes, String fetch) {
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().devices(devices).build()) {
            Set<String> wanted = new TreeSet<>();
            program.global().ops().forEach(op -> wanted.add(op.type() + " at "
                    + PlaceRequest.of(op).resolve(Place.CPU)));
            Set<String> found = new TreeSet<>();
            Internals.compiled(PlanView.of(executor, program, 1, shapes, List.of(fetch))).tasks()
                    .forEach(task -> task.operations()
                            .forEach(access -> found.add(access.op().type() + " at " + task.place())));
            assertEquals(wanted, found);
        }
    }

    private static Program program(Map<String, VarType> vars) {
        Program program = new Program();
        vars.forEach((name, type) -> program.global().put(VarDesc.of(name, type)));
        return program;
    }

    @Test
    void aFactorOfAProductStays() {
        Program program = program(Map.of("x", VarType.dense(FLOAT32, 4, 4), "s", VarType.dense(FLOAT32, 4, 4), "y",
                VarType.dense(FLOAT32, 4, 4)));
        program.global().add(OpDesc.of("scale").in("X", "x").out("Out", "s").attr("scale", 0.5f).attr("bias", 0f)
                .attr("op_device", "sim:1").build())
                .add(OpDesc.of("matmul_v2").in("X", "s").in("Y", "x").out("Out", "y").build());
        check(program, Map.of("x", new long[]{4, 4}), "y");
    }

    @ParameterizedTest
    @ValueSource(strings = {"gelu", "softmax"})
    void aCastOfAResultStays(String type) {
        Program program = program(Map.of("x", VarType.dense(BFLOAT16, 4, 4), "w", VarType.dense(FLOAT32, 4, 4), "y",
                VarType.dense(FLOAT32, 4, 4), "n", VarType.dense(BFLOAT16, 4, 4), "o", VarType.dense(BFLOAT16, 4, 4)));
        program.global()
                .add(OpDesc.of("cast").in("X", "x").out("Out", "w").attr("in_dtype", 22).attr("out_dtype", 5)
                        .attr("op_device", "sim:1").build())
                .add(OpDesc.of(type).in("X", "w").out("Out", "y").attr("op_device", "sim:1").build())
                .add(OpDesc.of("cast").in("X", "y").out("Out", "n").attr("in_dtype", 5).attr("out_dtype", 22).build())
                .add(OpDesc.of("concat").in("X", "n", "n").out("Out", "o").attr("axis", 0).build());
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().devices(devices).build()) {
            boolean onHost = Internals.compiled(PlanView.of(executor, program, 1, Map.of("x", new long[]{4, 4}),
                    List.of("o"))).tasks().stream()
                    .anyMatch(task -> task.place().isHost() && task.operations().stream()
                            .anyMatch(access -> access.op().type().equals("cast")
                                    && access.op().output("Out").equals(List.of("n"))));
            assertTrue(onHost);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sgd", "momentum"})
    void updatesRunWhereTheyRequest(String type) {
        Program main = new Program();
        main.global().put(VarDesc.of("g", VarType.dense(FLOAT32, 2)))
                .put(VarDesc.of("rate", VarType.dense(FLOAT32, 1)));
        for (int i = 0; i < 4; i++) {
            main.global().put(VarDesc.of("w" + i, VarType.dense(FLOAT32, 2)).persistent())
                    .put(VarDesc.of("v" + i, VarType.dense(FLOAT32, 2)).persistent());
            OpDesc.Builder update = OpDesc.of(type).in("Param", "w" + i).in("Grad", "g").in("LearningRate", "rate")
                    .out("ParamOut", "w" + i).attr("op_device", i == 2 ? "sim:1" : "");
            main.global().add(type.equals("sgd")
                    ? update.build()
                    : update.in("Velocity", "v" + i).out("VelocityOut", "v" + i).attr("mu", 0.5f).build());
        }
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().devices(devices).build()) {
            for (int i = 0; i < 4; i++) {
                executor.scope().set("w" + i, Bits.floats(i, 1)).set("v" + i, Bits.floats(0, 0));
            }
            executor.run(main, Map.of("g", Bits.floats(1, 2), "rate", Bits.floats(0.5)), Executor.fetches());
            for (int i = 0; i < 4; i++) {
                assertArrayEquals(new float[]{i - 0.5f, 0}, executor.scope().get("w" + i).toFloatArray(), "w" + i);
                assertEquals(i == 2 ? Place.sim(1) : Place.CPU,
                        ((Tensor) Objects.requireNonNull(executor.scope().value("w" + i))).place(), "w" + i);
            }
        }
    }
}
