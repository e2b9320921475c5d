package io.seriatim.executor;

import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Variables that share memory keep sharing it when operations on one of them request a device. */
class SharedMemoryPlacesTest {
    private static final Map<String, Tensor> FED = Map.of("x", Bits.floats(10, 20), "c",
            Tensor.of(DType.BOOL, new long[]{1}, 1));

    private static Program program() {
        Program program = new Program();
        for (String name : List.of("p", "q")) {
            program.global().put(VarDesc.of(name, VarType.dense(FLOAT32, 2)).persistent());
        }
        program.global().put(VarDesc.of("flat", VarType.dense(FLOAT32, 4)).persistent())
                .put(VarDesc.of("x", VarType.dense(FLOAT32, 2))).put(VarDesc.of("y", VarType.dense(FLOAT32, 2)))
                .put(VarDesc.of("c", VarType.dense(DType.BOOL, 1)))
                .put(VarDesc.of("scopes", new VarType.Other(VarType.STEP_SCOPES)));
        return program;
    }

    private static Program startup() {
        Program program = program();
        for (String name : List.of("p", "q")) {
            program.global().add(OpDesc.of("fill_constant").out("Out", name).attr("shape", new long[]{2})
                    .attr("dtype", 5).attr("value", 1f).build());
        }
        program.global().add(OpDesc.of("coalesce_tensor").in("Input", "p", "q").out("Output", "p", "q")
                .out("FusedOutput", "flat").attr("copy_data", true).attr("use_align", false).attr("dtype", 5).build());
        return program;
    }

    private static OpDesc sum(String place) {
        return OpDesc.of("elementwise_add").in("X", "p").in("Y", "x").out("Out", "p").attr("axis", -1)
                .attr("op_device", place).build();
    }

    private static void check(Program main, Place place) {
        Interpreter interpreter = Interpreter.of(Kernels.system());
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().devices(devices).place(place).build()) {
            interpreter.run(startup(), Map.of(), List.of());
            executor.run(startup());
            for (int run = 0; run < 3; run++) {
                interpreter.run(main, FED, List.of());
                executor.run(main, FED, Executor.fetches());
                for (String name : List.of("p", "q", "flat")) {
                    Bits.assertSame(interpreter.get(name), executor.scope().get(name), "run " + run + ", " + name);
                }
            }
            assertArrayEquals(new float[]{31, 61, 1, 1}, executor.scope().get("flat").toFloatArray());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "cpu", "sim:0", "sim:1", "gpu:0"})
    void inOneBlock(String at) {
        Program main = program();
        main.global().add(sum(at));
        check(main, Place.CPU);
        check(main, Place.sim(0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "cpu", "sim:0", "sim:1", "gpu:0"})
    void inABranch(String at) {
        Program main = program();
        Block block = main.addBlock(0, null);
        block.add(sum(at));
        main.global().add(OpDesc.of("conditional_block").in("Cond", "c").in("Input", "x", "p").out("Out", "p")
                .out("Scope", "scopes").attr("sub_block", new Attribute.BlockRef(block.index()))
                .attr("is_scalar_condition", true).build());
        check(main, Place.CPU);
        check(main, Place.sim(0));
    }

    /** A feed gives a variable memory of its own, as in PaddlePaddle. */
    @ParameterizedTest
    @ValueSource(strings = {"", "cpu", "sim:0", "sim:1"})
    void untilAVariableIsFed(String at) {
        Program main = program();
        main.global().add(sum(at));
        Map<String, Tensor> fed = Map.of("x", Bits.floats(10, 20), "p", Bits.floats(5, 6));
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(startup(), Map.of(), List.of());
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().devices(devices).build()) {
            executor.run(startup());
            for (Map<String, Tensor> each : List.of(FED, fed, FED)) {
                interpreter.run(main, each, List.of());
                executor.run(main, each, Executor.fetches());
                for (String name : List.of("p", "q", "flat")) {
                    Bits.assertSame(interpreter.get(name), executor.scope().get(name), name);
                }
            }
            assertArrayEquals(new float[]{25, 46}, executor.scope().get("p").toFloatArray());
            assertArrayEquals(new float[]{11, 21, 1, 1}, executor.scope().get("flat").toFloatArray());
        }
    }
}
