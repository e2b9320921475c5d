package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.graph.append.Appender;
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

    /** Results without elements, or with few, for which kernels make tables that are longer than the limit. */
    @Test
    void tablesOfKernelsCount() {
        int[] long2 = {0, 0, 0, 400_000};
        Map<OpDesc, long[]> operations = Map.of(
                OpDesc.of("pad").in("X", "x").out("Out", "y").attr("paddings", long2).build(), new long[]{0, 1},
                OpDesc.of("pool2d").in("X", "x").out("Out", "y").attr("pooling_type", "avg")
                        .attr("ksize", new int[]{1, 1}).attr("strides", new int[]{1, 1})
                        .attr("paddings", new int[]{0, 0}).build(),
                new long[]{1, 1, 1, 200_000},
                OpDesc.of("nearest_interp_v2").in("X", "x").out("Out", "y").attr("out_h", 1).attr("out_w", 100_000)
                        .build(),
                new long[]{1, 1, 1, 1});
        operations.forEach((op, dims) -> {
            Program program = new Program();
            program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, dims)));
            Appender.append(program.global(), op, 0);
            try (Devices devices = Devices.builder().cpuMemory(1 << 20).build();
                    Executor executor = Executor.builder().devices(devices).build();
                    Tensor x = Tensor.allocate(DType.FLOAT32, dims)) {
                ProgramFailedException refused = assertThrows(ProgramFailedException.class,
                        () -> executor.run(program, Map.of("x", x), Executor.fetches("y")));
                String message = String.valueOf(refused.getMessage());
                assertTrue(message.contains("(" + op.type() + ",") && message.contains("the tables of ")
                        && message.contains("the limit is 1048576 bytes (-Dseriatim.cpu.memory)"), message);
            }
        });
    }

    /** Each region has weights of all elements of the image. */
    @Test
    void tablesOfRegionsCount() {
        Program program = new Program();
        program.global().put(VarDesc.of("x", VarType.dense(DType.FLOAT32, 1, 1, 1, 100_000)));
        program.global().put(VarDesc.of("regions", VarType.dense(DType.FLOAT32, 2, 4)));
        program.global().put(VarDesc.of("numbers", VarType.dense(DType.INT32, 1)));
        Appender.append(program.global(), OpDesc.of("roi_align").in("X", "x").in("ROIs", "regions")
                .in("RoisNum", "numbers").out("Out", "y").attr("pooled_height", 1).attr("pooled_width", 1).build(), 0);
        try (Devices devices = Devices.builder().cpuMemory(1 << 20).build();
                Executor executor = Executor.builder().devices(devices).build();
                Tensor x = Tensor.allocate(DType.FLOAT32, 1, 1, 1, 100_000);
                Tensor regions = Tensor.of(new float[]{0, 0, 1, 1, 0, 0, 2, 1}, 2, 4);
                Tensor numbers = Tensor.of(DType.INT32, new long[]{2}, 1)) {
            ProgramFailedException refused = assertThrows(ProgramFailedException.class, () -> executor.run(program,
                    Map.of("x", x, "regions", regions, "numbers", numbers), Executor.fetches("y")));
            String message = String.valueOf(refused.getMessage());
            assertTrue(message.contains("(roi_align,") && message.contains("the limit is 1048576 bytes"), message);
        }
    }

    /** A part of an expanded tensor needs the whole, as in ONNX Runtime. */
    @Test
    void anExpandedTensorThatIsComputedIsRefused() {
        for (String reader : List.of("relu", "slice")) {
            Program program = HugeSizesProgram.program(OpDesc.of("expand_v2").in("X", "x").out("Out", "v")
                    .attr("shape", new int[]{1 << 12, 1 << 12}).build());
            Appender.append(program.global(), reader.equals("relu")
                    ? OpDesc.of("relu").in("X", "v").out("Out", "y").build()
                    : OpDesc.of("slice").in("Input", "v").out("Out", "y").attr("axes", new int[]{0, 1})
                            .attr("starts", new int[]{0, 0}).attr("ends", new int[]{2, 2}).build(),
                    0);
            try (Devices devices = Devices.builder().cpuMemory(1 << 20).build();
                    Executor executor = Executor.builder().devices(devices).build();
                    Tensor x = Tensor.of(new float[1], 1)) {
                String message = String.valueOf(assertThrows(ProgramFailedException.class,
                        () -> executor.run(program, Map.of("x", x), Executor.fetches("y"))).getMessage());
                assertTrue(message.contains(reader.equals("relu") ? "(relu," : "(expand_v2,")
                        && message.contains("67108864 bytes") && message.contains("the limit is 1048576 bytes"),
                        message);
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
