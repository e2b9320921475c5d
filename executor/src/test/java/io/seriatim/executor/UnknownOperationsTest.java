package io.seriatim.executor;

import static io.seriatim.executor.Executor.feeds;
import static io.seriatim.executor.Executor.fetches;
import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT32;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.graph.format.InferenceModels;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.kernel.Kernels;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One message names all unknown operation types before any operation runs. */
class UnknownOperationsTest {
    private final AtomicInteger computed = new AtomicInteger();

    @BeforeEach
    void watch() {
        Probes.on("computed", _ -> computed.incrementAndGet());
    }

    @AfterEach
    void nothingWasComputed() {
        Probes.allOff();
        assertEquals(0, computed.get());
    }

    /**
     * Returns a program of a probe and three unknown types, one of them used twice and one in a block that may never
     * run.
     */
    private static Program program() {
        Program program = new Program();
        Block global = program.global();
        for (String name : List.of("x", "y", "z")) {
            global.put(VarDesc.of(name, VarType.dense(FLOAT32, -1)));
        }
        global.put(VarDesc.of("no", VarType.dense(BOOL, 1)));
        Block inner = program.addBlock(0, null);
        inner.add(OpDesc.of("hidden").in("X", "x").out("Out", "z").build());
        global.add(Probes.of(Probes.CALL, "x", "computed")).add(OpDesc.of("first").in("X", "x").out("Out", "y").build())
                .add(OpDesc.of("second").in("X", "y").out("Out", "y").build())
                .add(OpDesc.of("first").in("X", "y").out("Out", "y").build())
                .add(OpDesc.of("conditional_block").in("Cond", "no").out("Out", "z").out("Scope")
                        .attr("sub_block", new Attribute.BlockRef(inner.index())).build());
        return program;
    }

    private static void assertAll(Runnable call) {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, call::run).getMessage());
        assertTrue(message.contains("'first' (operation 1 of block 0, 2 in all), 'second' (operation 2 of block 0), "
                + "'hidden' (operation 0 of block 1)"), message);
        assertTrue(message.contains("3 operation types are not known") && message.contains("docs/operations.md"),
                message);
    }

    @Test
    void whenAProgramIsCompiledOrRun() {
        try (Executor executor = Executor.builder().build()) {
            assertAll(() -> executor.compile(program(), feeds("x", "no"), fetches("y")));
            assertAll(() -> executor.run(program()));
            assertAll(() -> executor.run(program(), Map.of("x", Bits.floats(1)), fetches("y")));
            assertAll(() -> PlanView.of(executor, program(), 1, List.of("y")));
        }
        assertAll(() -> Interpreter.of(Kernels.system()).run(program(), Map.of("x", Bits.floats(1)), List.of("y")));
    }

    @Test
    void whenAModelIsLoaded(@TempDir Path folder) throws IOException {
        Program model = program();
        model.global().put(new VarDesc("fetch", new VarType.Other(VarType.FETCH_LIST), true, null, null, null))
                .add(OpDesc.of("fetch").in("X", "y").out("Out", "fetch").attr("col", 0).build());
        Path file = folder.resolve("model.pdmodel");
        ProgramFiles.write(file, model);
        // Its parameters are missing too, but the unknown types are reported first.
        assertAll(() -> {
            try {
                InferenceModels.load(file).close();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    /**
     * Returns a program of a probe, operations whose attributes are not supported, one of them used twice and one in a
     * block that may never run, and two unknown types.
     */
    private static Program refusedProgram() {
        Program program = new Program();
        Block global = program.global();
        for (String name : List.of("x", "y", "z")) {
            global.put(VarDesc.of(name, VarType.dense(FLOAT32, -1)));
        }
        global.put(VarDesc.of("no", VarType.dense(BOOL, 1)));
        Block inner = program.addBlock(0, null);
        inner.add(OpDesc.of("send_v2").in("X", "x").attr("peer", 3).build());
        global.add(Probes.of(Probes.CALL, "x", "computed"))
                .add(OpDesc.of("c_allreduce_sum").in("X", "x").out("Out", "y").attr("ring_id", 2).build())
                .add(OpDesc.of("first").in("X", "x").out("Out", "y").build())
                .add(OpDesc.of("c_allreduce_sum").in("X", "y").out("Out", "y").attr("ring_id", 2).build())
                .add(OpDesc.of("c_broadcast").in("X", "y").out("Out", "y").attr("nranks", 4).build())
                .add(OpDesc.of("c_allgather").in("X", "y").out("Out", "y").attr("nranks", 1).build())
                .add(OpDesc.of("c_sync_comm_stream").in("X", "y").out("Out", "y").build())
                .add(OpDesc.of("grid_sampler").in("X", "x").in("Grid", "x").out("Output", "z").attr("mode", "bicubic")
                        .build())
                .add(OpDesc.of("unique").in("X", "x").out("Out", "z").attr("is_sorted", false).build())
                .add(OpDesc.of("renorm").in("X", "x").out("Out", "z").attr("p", 2f).attr("axis", 0).build())
                .add(OpDesc.of("conditional_block").in("Cond", "no").out("Out", "z").out("Scope")
                        .attr("sub_block", new Attribute.BlockRef(inner.index())).build());
        return program;
    }

    private static void assertRefused(Runnable call) {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, call::run).getMessage());
        for (String part : List.of("one operation type is not known: 'first' (operation 2 of block 0)",
                "Besides, 8 operations cannot be run as given: 'c_allreduce_sum' (operation 1 of block 0, 2 in "
                        + "all): it is among several ranks (ring 2), but the run has no communicator",
                "'c_broadcast' (operation 4 of block 0): it is among several ranks (ring 0)",
                "'c_allgather' (operation 5 of block 0): it is among several ranks (ring 0)",
                "'grid_sampler' (operation 7 of block 0): the attribute 'mode' must be one of [bilinear, nearest], "
                        + "but is 'bicubic'",
                "'unique' (operation 8 of block 0): only the sorted elements",
                "'renorm' (operation 9 of block 0): the attribute 'max_norm' is not given",
                "'send_v2' (operation 0 of block 1): it sends to rank 3")) {
            assertTrue(message.contains(part), () -> part + "\n is not in\n" + message);
        }
        assertFalse(message.contains("c_sync"), message);
    }

    @Test
    void operationsThatAttributesForbidAreNamedToo(@TempDir Path folder) throws IOException {
        try (Executor executor = Executor.builder().build()) {
            assertRefused(() -> executor.compile(refusedProgram(), feeds("x", "no"), fetches("y")));
            assertRefused(() -> executor.run(refusedProgram()));
            assertRefused(() -> executor.run(refusedProgram(), Map.of("x", Bits.floats(1)), fetches("y")));
        }
        assertRefused(() -> Interpreter.of(Kernels.system()).run(refusedProgram(), Map.of("x", Bits.floats(1)),
                List.of("y")));
        Program model = refusedProgram();
        model.global().put(new VarDesc("fetch", new VarType.Other(VarType.FETCH_LIST), true, null, null, null))
                .add(OpDesc.of("fetch").in("X", "y").out("Out", "fetch").attr("col", 0).build());
        Path file = folder.resolve("model.pdmodel");
        ProgramFiles.write(file, model);
        assertRefused(() -> {
            try {
                InferenceModels.load(file).close();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    /** The plan of a program for several ranks can be displayed. */
    @Test
    void thePlanOfARefusedOperationIsShown() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1)))
                .add(OpDesc.of("c_allreduce_sum").in("X", "x").out("Out", "x").attr("nranks", 4).build());
        try (Executor executor = Executor.builder().build()) {
            assertTrue(PlanView.of(executor, program, 1, List.of("x")).text().contains("c_allreduce_sum"));
        }
    }

    @Test
    void oneIsNamedAlone() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(FLOAT32, -1)))
                .add(OpDesc.of("only").in("X", "x").out("Out", "x").build());
        try (Executor executor = Executor.builder().build()) {
            String message = String.valueOf(
                    assertThrows(IllegalArgumentException.class,
                            () -> executor.compile(program, feeds("x"), fetches("x"))).getMessage());
            assertTrue(
                    message.startsWith(
                            "The program cannot be run, since one operation type is not known: 'only' (operation 0 "
                                    + "of block 0). "),
                    message);
        }
    }
}
