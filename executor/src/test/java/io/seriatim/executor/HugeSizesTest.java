package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sizes that do not fit into memory are refused with the name of the operation or file, and what to do. */
@Tag("slow")
class HugeSizesTest {
    private static final long LIMIT_SECONDS = 120;

    @TempDir
    Path folder = Path.of("");

    private static List<String> run(List<String> options, String... args) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java")
                .toString(), "-Dseriatim.kernels=portable"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), HugeSizesProgram.class.getName()));
        command.addAll(List.of(args));
        return ForkedJvm.run(LIMIT_SECONDS, command).lines()
                .filter(line -> !line.isBlank() && !line.startsWith("WARNING")).toList();
    }

    @Test
    void resultsAreRefusedByTheLimitOfMemory() throws Exception {
        List<String> lines = run(List.of("-Xmx200m", "-Dseriatim.cpu.memory=100m"), "limit");
        assertEquals(HugeSizesProgram.operations().size() + 1, lines.size(), lines::toString);
        for (String line : lines.subList(0, lines.size() - 1)) {
            String type = line.substring(0, line.indexOf(':'));
            assertTrue(line.contains(" (" + type + ",") && line.contains("bytes of working memory")
                    && line.contains("the limit is 104857600 bytes (-Dseriatim.cpu.memory)"), line);
        }
        assertEquals("then 2.0", lines.getLast());
    }

    /** Memory that is not taken does not count. */
    @Test
    void viewsBeyondTheLimitOfMemoryRun() throws Exception {
        List<String> lines = run(List.of("-Xmx200m", "-Dseriatim.cpu.memory=100m"), "views");
        assertEquals(List.of("shape [131072.0, 65536.0]", "relu [3.0]"), lines);
    }

    /** The limit is that of the devices of the executor. */
    @Test
    void theLimitIsThatOfTheExecutor() {
        for (OpDesc op : HugeSizesProgram.operations()) {
            try (Devices devices = Devices.builder().cpuMemory(10 << 20).build();
                    Executor executor = Executor.builder().devices(devices).build();
                    Tensor x = Tensor.of(new float[1], 1);
                    Tensor i = Tensor.of(new long[1], 1)) {
                ProgramFailedException refused = assertThrows(ProgramFailedException.class, () -> executor
                        .run(HugeSizesProgram.program(op), Map.of("x", x, "i", i), Executor.fetches("y")));
                assertTrue(String.valueOf(refused.getMessage()).contains("the limit is " + (10 << 20) + " bytes"),
                        refused::getMessage);
            }
        }
    }

    @Test
    void anOperationThatExhaustsTheHeapIsNamed() throws Exception {
        List<String> lines = run(List.of("-Xmx64m"), "heap");
        assertEquals(2, lines.size(), lines::toString);
        String line = lines.getFirst();
        for (String part : List.of("unique: java.lang.OutOfMemoryError", "Operation 0 (unique", "-Xmx",
                "-Dseriatim.cpu.memory")) {
            assertTrue(line.contains(part), line);
        }
        assertEquals("then 2.0", lines.getLast());
    }

    @Test
    void aFileThatExhaustsTheHeapIsNamed() throws Exception {
        Path file = folder.resolve("large.pdmodel");
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 1)));
        int[] numbers = new int[1_000_000];
        Arrays.fill(numbers, 1);
        for (int i = 0; i < 5; i++) {
            program.global().add(OpDesc.of("tile").in("X", "x").out("Out", "x").attr("repeat_times", numbers).build());
        }
        Files.write(file, ProgramFiles.toBytes(program));
        List<String> lines = run(List.of("-Xmx40m"), "load", file.toString());
        assertEquals(2, lines.size(), lines::toString);
        for (String line : lines) {
            for (String part : List.of("java.lang.OutOfMemoryError", file + " cannot be read", "-Xmx")) {
                assertTrue(line.contains(part), line);
            }
        }
    }

    @Test
    void theInterpreterNamesTheOperationThatExhaustsTheHeap() throws Exception {
        List<String> lines = run(List.of("-Xmx64m"), "interpret");
        assertEquals(1, lines.size(), lines::toString);
        for (String part : List.of("java.lang.OutOfMemoryError", "Block 0, operation 0 (unique)", "-Xmx")) {
            assertTrue(lines.getFirst().contains(part), lines::toString);
        }
    }
}
