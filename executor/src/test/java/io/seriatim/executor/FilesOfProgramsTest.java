package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Place;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.interpret.FilesNotAllowedException;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program reads and writes only the files that its caller allows. */
class FilesOfProgramsTest {
    @TempDir
    private Path folder = Path.of("");
    private Path allowed = Path.of("");
    private Path outside = Path.of("");

    @BeforeEach
    void make() throws IOException {
        allowed = Files.createDirectory(folder.toRealPath().resolve("allowed"));
        outside = Files.createDirectory(folder.resolve("outside"));
    }

    /**
     * Returns a program, read from a file, that twice adds 1 to the persistable count and saves it: in the global block
     * and in a branch that is always taken. Then it loads the count.
     */
    private static Program program(String file) throws IOException {
        Program program = new Program();
        Block block = program.global();
        block.put(VarDesc.of("count", VarType.dense(DType.FLOAT32, 1)).persistent());
        block.put(VarDesc.of("yes", VarType.dense(DType.BOOL, 1)))
                .put(VarDesc.of("read", VarType.dense(DType.FLOAT32, 1)));
        block.add(OpDesc.of("fill_constant").out("Out", "yes").attr("shape", new long[]{1}).attr("dtype", 0)
                .attr("value", 1f).build());
        block.add(OpDesc.of("increment").in("X", "count").out("Out", "count").attr("step", 1f).build());
        Block branch = program.addBlock(0, null);
        branch.add(OpDesc.of("save_combine").in("X", "count").attr("file_path", file).build());
        block.add(OpDesc.of("conditional_block").in("Cond", "yes").in("Input", "count").out("Out").out("Scope", "s")
                .attr("sub_block", branch).attr("is_scalar_condition", true).build());
        block.add(OpDesc.of("save").in("X", "count").attr("file_path", file).build());
        block.add(OpDesc.of("load").out("Out", "read").attr("file_path", file).build());
        return ProgramFiles.parse("test", ProgramFiles.toBytes(program));
    }

    private static void start(Executor executor) {
        executor.scope().set("count", Tensor.of(new float[]{0}, 1));
    }

    @Test
    void withoutPermissionNothingRuns() throws IOException {
        Program program = program(outside.resolve("x").toString());
        try (Executor executor = Executor.on(Place.CPU)) {
            start(executor);
            FilesNotAllowedException refusal = assertThrows(FilesNotAllowedException.class,
                    () -> executor.compile(program, Executor.feeds(), Executor.fetches("read")));
            String message = String.valueOf(refusal.getMessage());
            for (String part : List.of("(save)", "(load)", "block 1, operation 0 (save_combine)", outside.toString(),
                    "--allow-files",
                    "files(DIR)")) {
                assertTrue(message.contains(part), message);
            }
            assertThrows(FilesNotAllowedException.class, () -> executor.run(program));
            assertThrows(FilesNotAllowedException.class,
                    () -> executor.run(program, Map.of(), Executor.fetches("read")));
            assertArrayEquals(new float[]{0}, executor.scope().get("count").toFloatArray());
        }
        assertFalse(Files.exists(outside.resolve("x")));
    }

    @Test
    void plansCanBeLookedAt() throws IOException {
        try (Executor executor = Executor.on(Place.CPU)) {
            assertTrue(PlanView.of(executor, program("/etc/passwd"), 1, List.of("read")).text().contains("save"));
        }
    }

    @Test
    void withPermissionItReadsAndWritesInTheFolder() throws IOException {
        try (Executor executor = Executor.builder().files(allowed).threads(2).eager().build()) {
            start(executor);
            for (String file : List.of("deep/x", allowed.resolve("y").toString())) {
                Plan plan = executor.compile(program(file), Executor.feeds(), Executor.fetches("read"));
                float before = executor.scope().get("count").toFloatArray()[0];
                for (int i = 1; i <= 3; i++) {
                    assertEquals(before + i, plan.run().get("read").toFloatArray()[0]);
                }
            }
        }
        assertTrue(Files.exists(allowed.resolve("deep/x")) && Files.exists(allowed.resolve("y")));
    }

    @Test
    void elsewhereItIsRefusedBeforeAnythingRuns() throws IOException {
        Files.createSymbolicLink(allowed.resolve("link"), outside);
        try (Executor executor = Executor.builder().files(allowed).build()) {
            start(executor);
            for (String file : List.of(outside.resolve("x").toString(), "../outside/x", "link/x", "")) {
                FilesNotAllowedException refusal = assertThrows(FilesNotAllowedException.class,
                        () -> executor.run(program(file)));
                assertTrue(String.valueOf(refusal.getMessage()).contains("'" + file + "'"), refusal::getMessage);
            }
            assertArrayEquals(new float[]{0}, executor.scope().get("count").toFloatArray());
        }
        assertFalse(Files.exists(outside.resolve("x")));
    }

    /** A path that was valid when the plan was compiled is checked again at each run. */
    @Test
    void linksThatComeLaterAreNotFollowed() throws IOException {
        try (Executor executor = Executor.builder().files(allowed).build()) {
            start(executor);
            Plan plan = executor.compile(program("below/x"), Executor.feeds(), Executor.fetches("read"));
            plan.run();
            Files.move(allowed.resolve("below"), allowed.resolve("moved"));
            Files.createSymbolicLink(allowed.resolve("below"), outside);
            ProgramFailedException failure = assertThrows(ProgramFailedException.class, plan::run);
            assertTrue(String.valueOf(failure.getMessage()).contains("symbolic link"), failure::getMessage);
        }
        assertFalse(Files.exists(outside.resolve("x")));
    }

    @Test
    void theFolderMustBeThere() {
        IllegalArgumentException missing = assertThrows(IllegalArgumentException.class,
                () -> Executor.builder().files(allowed.resolve("nothing")));
        assertTrue(String.valueOf(missing.getMessage()).contains("make it first"), missing::getMessage);
    }
}
