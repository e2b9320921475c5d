package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.device.Place;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.ParameterFiles;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.optimizer.Adam;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests variables that programs make share memory: within a run and across runs, in blocks and in optimizers. Expected
 * values are those of PaddlePaddle 2.6.2 unless stated otherwise.
 */
class AliasesTest {
    @TempDir
    private Path folder = Path.of("");

    private static VarDesc kept(String name, long... dims) {
        return VarDesc.of(name, VarType.dense(FLOAT32, dims)).persistent();
    }

    private static VarDesc passing(String name, long... dims) {
        return VarDesc.of(name, VarType.dense(FLOAT32, dims));
    }

    private static OpDesc fill(String name, float value, long... shape) {
        return OpDesc.of("fill_constant").out("Out", name).attr("shape", shape).attr("dtype", 5).attr("value", value)
                .build();
    }

    private static OpDesc scale(String from, String to, float by) {
        return OpDesc.of("scale").in("X", from).out("Out", to).attr("scale", by).build();
    }

    private static OpDesc share(String from, String to) {
        return OpDesc.of("share_data").in("X", from).out("Out", to).build();
    }

    private static Program program(Consumer<Block> content) {
        Program program = new Program();
        content.accept(program.global());
        return program;
    }

    private static Block declared(Block block) {
        return block.put(kept("w", 2)).put(kept("b", 3)).put(kept("f", 5)).put(passing("y", 5)).put(passing("z", 3));
    }

    /** Makes w = 1 1 and b = 2 2 2 parts of f. */
    private static Program startup() {
        return program(block -> declared(block).add(fill("w", 1, 2)).add(fill("b", 2, 3)).add(fill("f", 0, 5))
                .add(OpDesc.of("coalesce_tensor").in("Input", "w", "b").out("Output", "w", "b").out("FusedOutput", "f")
                        .attr("dtype", 5)
                        .attr("copy_data", true).attr("use_align", false).build()));
    }

    private static float[] run(Executor executor, Program program, String fetch) {
        return executor.run(program, Map.of(), fetches(fetch)).get(fetch).toFloatArray();
    }

    private static float[] interpreted(Interpreter interpreter, Program program, Map<String, Tensor> fed,
            String fetch) {
        return Objects.requireNonNull(interpreter.run(program, fed, List.of(fetch)).get(fetch)).toFloatArray();
    }

    private static Executor executor(String how) {
        return switch (how) {
            case "1 thread" -> Executor.builder().threads(1).build();
            case "3 threads" -> Executor.builder().threads(3).eager().build();
            case "no passes" -> Executor.builder().without(Pass.values()).build();
            default -> Executor.builder().memoryPlan(false).build();
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"1 thread", "3 threads", "no passes", "no memory plan"})
    void oneProgramSharesAndAnotherWrites(String how) {
        Program writesPart = program(block -> declared(block).add(scale("w", "w", 10)).add(scale("f", "y", 1)));
        Program writesWhole = program(block -> declared(block).add(fill("f", 7, 5)).add(scale("b", "z", 1)));
        try (Executor executor = executor(how)) {
            executor.run(startup());
            assertArrayEquals(new float[]{1, 1, 2, 2, 2}, executor.scope().get("f").toFloatArray());
            assertArrayEquals(new float[]{10, 10, 2, 2, 2}, run(executor, writesPart, "y"));
            assertArrayEquals(new float[]{7, 7, 7}, run(executor, writesWhole, "z"));
            executor.scope().set("w", Bits.floats(5, 6));
            assertArrayEquals(new float[]{5, 6, 7, 7, 7}, executor.scope().get("f").toFloatArray());
            executor.scope().set("f", Bits.floats(1, 2, 3, 4, 5));
            assertArrayEquals(new float[]{3, 4, 5}, executor.scope().get("b").toFloatArray());
            assertArrayEquals(new float[]{10, 20, 3, 4, 5}, run(executor, writesPart, "y"));
            // In PaddlePaddle 2.6.2 the second startup zeroes b: it writes zeros to f, and b still shares the memory of
            // f.
            executor.run(startup());
            assertArrayEquals(new float[]{1, 1, 2, 2, 2}, executor.scope().get("f").toFloatArray());
            assertArrayEquals(new float[]{10, 10, 2, 2, 2}, run(executor, writesPart, "y"));
        }
    }

    @Test
    void interpretersShareAsExecutorsDo() {
        Interpreter interpreter = Interpreter.of(Kernels.system());
        for (int i = 0; i < 2; i++) {
            interpreter.run(startup(), Map.of(), List.of());
            assertArrayEquals(new float[]{1, 1, 2, 2, 2}, interpreter.get("f").toFloatArray());
            interpreter.set("w", Bits.floats(5, 6));
            assertArrayEquals(new float[]{5, 6, 2, 2, 2}, interpreter.get("f").toFloatArray());
        }
    }

    /**
     * The memory is first not shared, then shared, then shared by other variables: each time the executor must use a
     * plan that was compiled for it.
     */
    @Test
    void plansKnowWhatIsSharedNow() {
        Program writes = program(block -> declared(block).add(scale("w", "w", 10)).add(scale("f", "y", 1)));
        try (Executor executor = Executor.builder().threads(2).eager().build()) {
            Plan plan = executor.compile(writes, feeds(), fetches("y"));
            executor.scope().set("w", Bits.floats(1, 1)).set("f", Bits.floats(0, 0, 0, 0, 0));
            assertArrayEquals(new float[]{0, 0, 0, 0, 0}, plan.run().get("y").toFloatArray());
            executor.run(startup());
            assertArrayEquals(new float[]{10, 10, 2, 2, 2}, plan.run().get("y").toFloatArray());
            Scope other = new Scope();
            Tensor all = Bits.floats(1, 2, 3, 4, 5);
            other.set("f", all).set("w", all.slice(0, 3, 5));
            assertArrayEquals(new float[]{1, 2, 3, 40, 50}, plan.run(other, new Tensor[0]).get("y").toFloatArray());
            // A value of another shape ends the sharing.
            executor.scope().set("f", Bits.floats(9));
            executor.scope().set("f", Bits.floats(9, 9, 9, 9, 9));
            assertArrayEquals(new float[]{9, 9, 9, 9, 9}, plan.run().get("y").toFloatArray());
            plan.run(executor.scope().child());
            assertArrayEquals(new float[]{9, 9, 9, 9, 9}, executor.scope().get("f").toFloatArray());
        }
    }

    /** Runs that write persistable variables exclude each other, also if they write under the name of a temporary. */
    @Test
    void writingAParameterByAnotherNameIsWritingTheScope() {
        Program program = program(
                block -> block.put(kept("w", 2)).put(passing("y", 2)).add(share("w", "y")).add(scale("y", "y", 3)));
        try (Executor executor = Executor.on(Place.CPU)) {
            executor.scope().set("w", Bits.floats(1, 2));
            Plan plan = executor.compile(program, feeds(), fetches("y"));
            assertTrue(plan.writesScope());
            plan.run();
            assertArrayEquals(new float[]{9, 18}, plan.run().get("y").toFloatArray());
            assertArrayEquals(new float[]{9, 18}, executor.scope().get("w").toFloatArray());
        }
    }

    /** Setting the same tensor under two names does not make the variables share memory permanently. */
    @Test
    void oneTensorSetTwiceIsReplaced() {
        Tensor zero = Bits.floats(0, 0);
        Scope scope = new Scope().set("a", zero).set("b", zero).set("a", Bits.floats(1, 2));
        assertArrayEquals(new float[]{0, 0}, scope.get("b").toFloatArray());
        assertArrayEquals(new float[]{1, 2}, scope.get("a").toFloatArray());
    }

    /** Tests sharing within one run, with shapes that differ between runs. */
    @ParameterizedTest
    @ValueSource(strings = {"1 thread", "3 threads", "no passes", "no memory plan"})
    void sharedDataIsOneMemory(String how) {
        Program program = program(
                block -> block.put(new VarDesc("x", VarType.dense(FLOAT32, -1), null, true, null, true))
                        .put(passing("a", -1)).put(passing("y", -1)).put(passing("z", -1)).add(scale("x", "a", 1))
                        .add(share("a", "y"))
                        .add(scale("y", "y", 3)).add(scale("a", "z", 1)));
        try (Executor executor = executor(how)) {
            for (int size : new int[]{2, 5, 2, 1}) {
                Tensor x = Bits.normal(size, size);
                Results results = executor.run(program, Map.of("x", x), fetches("z", "y", "a"));
                for (String name : List.of("z", "y", "a")) {
                    for (int i = 0; i < size; i++) {
                        assertEquals(3 * x.toFloatArray()[i], results.get(name).toFloatArray()[i], how + ", " + name);
                    }
                }
            }
        }
    }

    /** Each output shares the memory of its input. If parts are aligned, there are gaps between them. */
    @ParameterizedTest
    @ValueSource(strings = {"1 thread", "3 threads", "no passes", "no memory plan"})
    void sharedBuffersAndAlignedPartsAreOneMemory(String how) {
        Program program = program(block -> block.put(passing("a", 2)).put(passing("b", 3)).put(passing("c", 2))
                .put(passing("d", 3))
                .put(passing("f", 8)).put(passing("y", 8)).put(passing("z", 2)).add(fill("a", 1, 2))
                .add(fill("b", 2, 3))
                .add(OpDesc.of("coalesce_tensor").in("Input", "a", "b").out("Output", "a", "b").out("FusedOutput", "f")
                        .attr("dtype", 5)
                        .attr("set_constant", true).attr("constant", 6f).attr("align_size", 16).build())
                .add(OpDesc.of("share_buffer").in("X", "a", "b").out("Out", "c", "d").out("XOut", "a", "b").build())
                .add(fill("d", 4, 3)).add(scale("c", "a", 2)).add(scale("f", "y", 1)).add(scale("c", "z", 1)));
        try (Executor executor = executor(how)) {
            Results results = executor.run(program, Map.of(), fetches("y", "z"));
            assertArrayEquals(new float[]{12, 12}, results.get("z").toFloatArray());
            float[] y = results.get("y").toFloatArray();
            assertArrayEquals(new float[]{12, 12, 4, 4, 4}, new float[]{y[0], y[1], y[4], y[5], y[6]});
            assertEquals(8, y.length);
        }
        assertArrayEquals(new float[]{12, 12}, interpreted(Interpreter.of(Kernels.system()), program, Map.of(), "z"));
    }

    /** A fed tensor belongs to the caller and must not change, also not under another name. */
    @Test
    void whatIsFedIsNotChanged() {
        Program program = program(
                block -> block.put(new VarDesc("x", VarType.dense(FLOAT32, 2), null, true, null, true))
                        .put(passing("y", 2)).put(passing("z", 2)).add(share("x", "y")).add(fill("y", 4, 2))
                        .add(scale("x", "z", 2)));
        Tensor x = Bits.floats(1, 2);
        try (Executor executor = Executor.on(Place.CPU)) {
            assertArrayEquals(new float[]{8, 8},
                    executor.run(program, Map.of("x", x), fetches("z")).get("z").toFloatArray());
        }
        assertArrayEquals(new float[]{8, 8},
                interpreted(Interpreter.of(Kernels.system()), program, Map.of("x", x), "z"));
        assertArrayEquals(new float[]{1, 2}, x.toFloatArray());
    }

    /** In PaddlePaddle these operations return copies, despite their names. */
    @ParameterizedTest
    @ValueSource(strings = {"assign", "reshape2", "squeeze2", "unsqueeze2", "flatten_contiguous_range"})
    void viewsOfOtherOperationsAreCopies(String type) {
        OpDesc.Builder op = OpDesc.of(type).in("X", "x").out("Out", "y");
        OpDesc made = switch (type) {
            case "assign" -> op.build();
            case "reshape2" -> op.out("XShape", "s").attr("shape", new int[]{1, 2}).build();
            case "squeeze2" -> op.out("XShape", "s").attr("axes", new int[0]).build();
            case "unsqueeze2" -> op.out("XShape", "s").attr("axes", new int[]{0}).build();
            default -> op.out("XShape", "s").attr("start_axis", 0).attr("stop_axis", 0).build();
        };
        Program program = program(
                block -> block.put(passing("x", 2)).put(passing("y", -1)).put(passing("s", 0, 2)).put(passing("z", 2))
                        .add(fill("x", 1, 2)).add(made).add(scale("y", "y", 3)).add(scale("x", "z", 1)));
        try (Executor executor = Executor.on(Place.CPU)) {
            Results results = executor.run(program, Map.of(), fetches("z", "y"));
            assertArrayEquals(new float[]{1, 1}, results.get("z").toFloatArray());
            assertArrayEquals(new float[]{3, 3}, results.get("y").toFloatArray());
        }
    }

    /** The body of a loop writes a part and reads the whole: 1 1 becomes 2 2, 4 4, 8 8. */
    @ParameterizedTest
    @ValueSource(strings = {"1 thread", "3 threads", "no passes", "no memory plan"})
    void loopsSeeWhatTheyShare(String how) {
        Program program = program(block -> declared(block).put(VarDesc.of("i", VarType.dense(INT64, 1)))
                .put(VarDesc.of("n", VarType.dense(INT64, 1))).put(VarDesc.of("c", VarType.dense(BOOL, 1)))
                .put(passing("sum", 5))
                .put(new VarDesc("scopes", new VarType.Other(VarType.STEP_SCOPES), null, null, null, null)));
        Block body = program.addBlock(0, null);
        body.add(scale("w", "w", 2))
                .add(OpDesc.of("elementwise_add").in("X", "sum").in("Y", "f").out("Out", "sum").attr("axis", -1)
                        .build())
                .add(OpDesc.of("increment").in("X", "i").out("Out", "i").attr("step", 1f).build())
                .add(OpDesc.of("less_than").in("X", "i").in("Y", "n").out("Out", "c").attr("axis", -1).build());
        program.global()
                .add(OpDesc.of("fill_constant").out("Out", "i").attr("shape", new long[]{1}).attr("dtype", 3)
                        .attr("value", 0f).build())
                .add(OpDesc.of("fill_constant").out("Out", "n").attr("shape", new long[]{1}).attr("dtype", 3)
                        .attr("value", 3f).build())
                .add(fill("sum", 0, 5))
                .add(OpDesc.of("less_than").in("X", "i").in("Y", "n").out("Out", "c").attr("axis", -1).build())
                .add(OpDesc.of("while").in("Condition", "c").in("X", "w", "f", "sum", "i", "n")
                        .out("Out", "w", "sum", "i", "c")
                        .out("StepScopes", "scopes").attr("sub_block", new Attribute.BlockRef(1)).attr("is_test", true)
                        .build())
                .add(scale("f", "y", 1));
        try (Executor executor = executor(how)) {
            executor.run(startup());
            Results results = executor.run(program, Map.of(), fetches("y", "sum"));
            assertArrayEquals(new float[]{8, 8, 2, 2, 2}, results.get("y").toFloatArray());
            assertArrayEquals(new float[]{14, 14, 6, 6, 6}, results.get("sum").toFloatArray());
            assertArrayEquals(new float[]{8, 8}, executor.scope().get("w").toFloatArray());
        }
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(startup(), Map.of(), List.of());
        assertArrayEquals(new float[]{14, 14, 6, 6, 6}, interpreted(interpreter, program, Map.of(), "sum"));
        assertArrayEquals(new float[]{8, 8, 2, 2, 2}, interpreter.get("f").toFloatArray());
    }

    private static float[] joined(Executor executor, List<String> names) {
        List<float[]> parts = names.stream().map(name -> executor.scope().get(name).toFloatArray()).toList();
        float[] all = new float[parts.stream().mapToInt(part -> part.length).sum()];
        int from = 0;
        for (float[] part : parts) {
            System.arraycopy(part, 0, all, from, part.length);
            from += part.length;
        }
        return all;
    }

    /**
     * The weights of a recurrent network are parts of one variable, and remain parts of it after training, saving and
     * loading.
     */
    @ParameterizedTest
    @ValueSource(strings = {"1 thread", "3 threads", "no passes", "no memory plan", "sim"})
    void weightsOfRecurrentNetworksStayParts(String how) {
        Network network = Network.define(5, g -> {
            Value loss = g.layers().lstm(4, 3).apply(g.data("x", FLOAT32, 2, 5, 4)).mean();
            g.minimize(loss, Adam.of(0.1));
            return Outputs.of("loss", loss);
        });
        OpDesc coalesce = network.startup().global().ops().stream().filter(op -> op.type().equals("coalesce_tensor"))
                .findFirst()
                .orElseThrow();
        String whole = coalesce.output("FusedOutput").getFirst();
        String loss = network.outputs().get("loss").name();
        Interpreter interpreter = Interpreter.of(Kernels.system());
        interpreter.run(network.startup(), Map.of(), List.of());
        try (Devices devices = Devices.builder().build();
                Executor executor = how.equals("sim")
                        ? Executor.builder().devices(devices).place(Place.parse("sim:0")).build()
                        : executor(how)) {
            executor.run(network.startup());
            float[] before = executor.scope().get(whole).toFloatArray();
            for (int i = 0; i < 3; i++) {
                Map<String, Tensor> fed = Map.of("x", Bits.normal(i, 2, 5, 4));
                float expected = interpreted(interpreter, network.main(), fed, loss)[0];
                assertEquals(expected, executor.run(network.main(), fed, fetches(loss)).get(loss).toFloatArray()[0],
                        1e-5, how);
                float[] after = executor.scope().get(whole).toFloatArray();
                assertArrayEquals(joined(executor, coalesce.input("Input")), after, how);
                assertArrayEquals(interpreter.get(whole).toFloatArray(), after, 1e-4f, how);
                assertNotEquals(before[0], after[0], "it is trained");
            }
        }
    }

    @Test
    void parametersAreLoadedIntoSharedMemory() throws IOException {
        Path file = folder.resolve("parameters");
        Program startup = startup();
        try (Executor trained = Executor.on(Place.CPU); Executor executor = Executor.on(Place.CPU)) {
            trained.run(startup);
            trained.scope().set("w", Bits.floats(3, 4));
            ParameterFiles.writeCombined(file, startup, trained.scope()::find);
            executor.run(startup);
            ParameterFiles.readCombined(file, startup).forEach(executor.scope()::set);
            assertArrayEquals(new float[]{3, 4, 2, 2, 2}, executor.scope().get("f").toFloatArray());
            executor.scope().set("f", Bits.floats(1, 2, 3, 4, 5));
            assertArrayEquals(new float[]{3, 4, 5}, executor.scope().get("b").toFloatArray());
        }
    }

    /** An interpreted operation and then a kernel write a variable: both write to its shared memory. */
    @ParameterizedTest
    @ValueSource(strings = {"cpu", "sim:0"})
    void interpretedAndCompiledOperationsWriteOneMemory(String place) {
        Program program = program(block -> block.put(kept("q", 3)).put(passing("p", 3))
                .put(new VarDesc("yes", VarType.dense(BOOL, 1), null, true, null, true))
                .put(new VarDesc("scopes", new VarType.Other(VarType.STEP_SCOPES), null, null, null, null))
                .add(fill("p", 7, 3)));
        program.addBlock(0, null)
                .add(OpDesc.of("elementwise_add").in("X", "q").in("Y", "p").out("Out", "q").attr("axis", -1).build());
        program.global()
                .add(OpDesc.of("conditional_block").in("Cond", "yes").in("Input", "q").out("Out", "q")
                        .out("Scope", "scopes")
                        .attr("sub_block", new Attribute.BlockRef(1)).attr("is_scalar_condition", true).build())
                .add(scale("p", "q", 2));
        try (Devices devices = Devices.builder().build();
                Executor executor = Executor.builder().devices(devices).place(Place.parse(place)).build()) {
            executor.scope().set("q", Bits.floats(1, 1, 1));
            Results results = executor.run(program, Map.of("yes", Tensor.of(BOOL, new long[]{1}, 1)), fetches("q"));
            assertArrayEquals(new float[]{14, 14, 14}, results.get("q").toFloatArray());
            assertArrayEquals(new float[]{14, 14, 14}, executor.scope().get("q").toFloatArray());
        }
    }

    @Test
    void prunedProgramsKeepWhatIsWrittenByAnotherName() {
        Program program = program(
                block -> block.put(passing("x", 2)).put(passing("y", 2)).put(passing("z", 2)).put(passing("u", 2))
                        .add(fill("x", 1, 2)).add(fill("u", 1, 2)).add(share("x", "y")).add(scale("x", "x", 3))
                        .add(scale("y", "z", 1)));
        Program pruned = program.prune(List.of(), List.of("z"));
        assertEquals(List.of("fill_constant", "share_data", "scale", "scale"),
                pruned.global().ops().stream().map(OpDesc::type).toList());
        try (Executor executor = Executor.on(Place.CPU)) {
            assertArrayEquals(new float[]{3, 3}, run(executor, pruned, "z"));
        }
    }

    private static String refused(Program program, Map<String, Tensor> fed) {
        try (Executor executor = Executor.on(Place.CPU)) {
            RuntimeException e = assertThrows(RuntimeException.class,
                    () -> executor.run(program, fed, fetches()));
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void whatCannotBeSharedIsRefused() {
        Program inner = program(block -> block.put(passing("x", 2)).put(passing("y", 2)));
        inner.addBlock(0, null).add(share("x", "y"));
        assertEquals(
                "Block 1, operation 0 (share_data) makes 'y' share memory, which is declared outside of the block, "
                        + "and the block may be"
                        + " run or not: make variables share memory in the block that declares them",
                refused(inner, Map.of()));
        Program fed = program(block -> block.put(new VarDesc("x", VarType.dense(FLOAT32, 2), null, true, null, true))
                .put(kept("y", 2))
                .add(share("x", "y")));
        assertTrue(
                refused(fed, Map.of("x", Bits.floats(1, 2)))
                        .contains("makes the persistable variable 'y' share memory with 'x'"),
                () -> refused(fed, Map.of("x", Bits.floats(1, 2))));
        Program unknown = program(block -> block
                .put(new VarDesc("x", VarType.dense(FLOAT32, -1), null, true, null, true))
                .put(VarDesc.of("a", VarType.dense(INT64, -1, 1))).put(VarDesc.of("y", VarType.dense(INT64, -1, 1)))
                .add(OpDesc.of("where_index").in("Condition", "x").out("Out", "a").build()).add(share("a", "y"))
                .add(OpDesc.of("increment").in("X", "y").out("Out", "y").attr("step", 1f).build()));
        String message = refused(unknown, Map.of("x", Bits.floats(1, 0, 2)));
        assertTrue(message.contains(
                "it makes [a, y] share memory, but their size is known only at run time, and operation 2 (increment)"
                        + " writes one of them: copy with 'assign' instead"),
                message);
    }

    /** If no variable is written afterwards, a copy is equivalent to sharing, so unknown shapes are allowed. */
    @Test
    void unknownShapesAreSharedWhereNothingIsWritten() {
        Program program = program(block -> block
                .put(new VarDesc("x", VarType.dense(FLOAT32, -1), null, true, null, true))
                .put(VarDesc.of("a", VarType.dense(INT64, -1, 1))).put(VarDesc.of("y", VarType.dense(INT64, -1, 1)))
                .add(OpDesc.of("where_index").in("Condition", "x").out("Out", "a").build()).add(share("a", "y")));
        try (Executor executor = Executor.on(Place.CPU)) {
            assertArrayEquals(new long[]{0, 2},
                    executor.run(program, Map.of("x", Bits.floats(1, 0, 2)), fetches("y")).get("y").toLongArray());
        }
    }
}
