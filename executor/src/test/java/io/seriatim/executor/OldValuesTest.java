package io.seriatim.executor;

import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
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
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A branch that is not taken and a loop without steps leave the variables that they would write as they are, at
 * whatever place these are.
 */
class OldValuesTest {
    private final Program program = new Program();
    private final Block main = program.global();

    OldValuesTest() {
        for (String name : List.of("x", "t", "o", "y", "q")) {
            main.put(VarDesc.of(name, VarType.dense(FLOAT32, 2)));
        }
        main.put(VarDesc.of("p", VarType.dense(FLOAT32, 2)).persistent());
        main.put(VarDesc.of("c", VarType.dense(BOOL, 1)));
        main.put(VarDesc.of("i", VarType.dense(INT64, 1)));
        main.put(VarDesc.of("n", VarType.dense(INT64, 1)));
        main.put(VarDesc.of("scopes", new VarType.Other(VarType.STEP_SCOPES)));
    }

    private static OpDesc unary(String type, String from, String to, String place) {
        return OpDesc.of(type).in("X", from).out("Out", to).attr("op_device", place).build();
    }

    private static OpDesc branch(Block block, String... written) {
        return OpDesc.of("conditional_block").in("Cond", "c").in("Input", "x").out("Out", written)
                .out("Scope", "scopes")
                .attr("sub_block", new Attribute.BlockRef(block.index())).attr("is_scalar_condition", true).build();
    }

    private static OpDesc loop(Block block, String... written) {
        return OpDesc.of("while").in("X", "x").in("Condition", "c").out("Out", written).out("StepScopes", "scopes")
                .attr("sub_block", new Attribute.BlockRef(block.index())).attr("is_test", true).build();
    }

    private void check(Place place, boolean condition, String... fetches) {
        List<String> names = List.of(fetches);
        Interpreter interpreter = Interpreter.of(Kernels.system());
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().devices(devices).place(place).build()) {
            for (int run = 0; run < 3; run++) {
                Map<String, Tensor> fed = Map.of("x", Bits.floats(run, 1), "c",
                        Tensor.of(BOOL, new long[]{condition ? 1 : 0}, 1));
                Map<String, Tensor> expected = interpreter.run(program, fed, names);
                Results found = executor.run(program, fed, Executor.fetches(fetches));
                for (String name : names) {
                    Bits.assertSame(Objects.requireNonNull(expected.get(name)), found.get(name),
                            "run " + run + ", " + name);
                }
                for (String name : interpreter.names()) {
                    Bits.assertSame(interpreter.get(name), executor.scope().get(name),
                            "run " + run + ", left in " + name);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "cpu", "sim:0", "sim:1"})
    void ofTemporaries(String at) {
        Block block = program.addBlock(0, null);
        block.add(unary("assign", "x", "t", at));
        main.add(unary("exp", "x", "t", "sim:0")).add(branch(block, "t")).add(unary("sin", "t", "o", at));
        check(Place.CPU, false, "o", "t");
        check(Place.sim(0), false, "o");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "cpu", "sim:0", "sim:1"})
    void ofPersistables(String at) {
        Block block = program.addBlock(0, null);
        block.add(unary("assign", "x", "p", at));
        main.add(unary("exp", "x", "p", "sim:0")).add(branch(block, "p")).add(unary("sin", "x", "o", at));
        check(Place.CPU, false, "o");
        check(Place.sim(0), false, "p");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "cpu", "sim:0", "sim:1"})
    void ofLoopsWithoutSteps(String at) {
        Block block = program.addBlock(0, null);
        block.add(unary("assign", "x", "t", at)).add(unary("exp", "t", "p", at))
                .add(OpDesc.of("fill_constant").out("Out", "c").attr("shape", new long[]{1}).attr("dtype", 0)
                        .attr("value", 0f).build());
        main.add(unary("exp", "x", "t", "sim:0")).add(unary("sin", "t", "p", "sim:1")).add(loop(block, "t", "p", "c"))
                .add(unary("sin", "t", "o", at)).add(unary("exp", "p", "q", "sim:1"));
        check(Place.CPU, false, "o", "q");
        check(Place.sim(1), true, "o", "q", "p");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "cpu", "sim:0", "sim:1"})
    void ofBlocksWithinBlocks(String at) {
        Block outer = program.addBlock(0, null);
        Block inner = program.addBlock(outer.index(), null);
        inner.add(unary("assign", "x", "t", at)).add(unary("assign", "x", "y", at));
        outer.put(VarDesc.of("y", VarType.dense(FLOAT32, 2))).put(VarDesc.of("d", VarType.dense(BOOL, 1)));
        outer.add(unary("exp", "x", "t", "sim:1")).add(unary("sin", "t", "y", at))
                .add(unary("logical_not", "c", "d", ""))
                .add(OpDesc.of("conditional_block").in("Cond", "d").in("Input", "x").out("Out", "t", "y")
                        .out("Scope", "scopes").attr("sub_block", new Attribute.BlockRef(inner.index()))
                        .attr("is_scalar_condition", true).build())
                .add(unary("sin", "y", "q", "sim:0"));
        main.add(unary("exp", "x", "t", "sim:0")).add(unary("exp", "t", "q", at)).add(branch(outer, "t", "q"))
                .add(unary("sin", "t", "o", at));
        check(Place.CPU, true, "o", "q");
        check(Place.sim(0), false, "o", "q");
    }

    /** A branch that is not taken may name a variable that gets its first value later. */
    @ParameterizedTest
    @ValueSource(strings = {"", "cpu", "sim:0", "sim:1"})
    void areNotNeededBeforeTheFirst(String at) {
        Block block = program.addBlock(0, null);
        block.add(unary("sin", "p", "y", at));
        main.add(unary("assign", "x", "y", at)).add(branch(block, "y")).add(unary("exp", "x", "p", at))
                .add(unary("sin", "y", "o", at));
        check(Place.CPU, false, "o", "p");
        check(Place.sim(0), false, "o");
    }

    /** A recurrence gives its block a copy of the state, which the block may change in place. */
    @ParameterizedTest
    @ValueSource(strings = {"", "cpu", "sim:0", "sim:1"})
    void ofStatesThatABlockChangesInPlace(String at) {
        Block block = program.addBlock(0, null);
        for (String name : List.of("before", "after")) {
            block.put(VarDesc.of(name, VarType.dense(FLOAT32, 2)));
        }
        main.put(VarDesc.of("s", VarType.dense(FLOAT32, 3, 2))).put(VarDesc.of("all", VarType.dense(FLOAT32, 3, 2)));
        main.add(unary("exp", "x", "p", at));
        for (int i = 0; i < 3; i++) {
            main.put(VarDesc.of("row" + i, VarType.dense(FLOAT32, 2)));
            main.add(unary("sin", "x", "row" + i, at));
        }
        main.add(OpDesc.of("stack").in("X", "row0", "row1", "row2").out("Y", "s").attr("axis", 0).build());
        main.put(VarDesc.of("rate", VarType.dense(FLOAT32, 1)));
        main.add(OpDesc.of("fill_constant").out("Out", "rate").attr("shape", new long[]{1}).attr("dtype", 5)
                .attr("value", 0.5f).build());
        block.add(OpDesc.of("elementwise_add").in("X", "s").in("Y", "before").out("Out", "after").attr("axis", -1)
                .build())
                .add(unary("assign", "after", "all", at))
                .add(OpDesc.of("sgd").in("Param", "before").in("Grad", "x").in("LearningRate", "rate")
                        .out("ParamOut", "before").build());
        main.add(OpDesc.of("recurrent").in("inputs", "s").in("initial_states", "p").in("parameters", "x", "rate")
                .out("outputs", "all")
                .out("step_scopes", "scopes").attr("sub_block", new Attribute.BlockRef(block.index()))
                .attr("has_states", true).attr("ex_states", new String[]{"before"})
                .attr("states", new String[]{"after"}).attr("is_train", false).build())
                .add(unary("assign", "p", "o", at));
        check(Place.CPU, false, "o", "all");
        check(Place.sim(0), false, "o", "p");
        Tensor left = Interpreter.of(Kernels.system()).run(program, Map.of("x", Bits.floats(0, 1)), List.of("o"))
                .get("o");
        assertArrayEquals(new float[]{1, (float) Math.E}, Objects.requireNonNull(left).toFloatArray(), 1e-6f);
    }
}
