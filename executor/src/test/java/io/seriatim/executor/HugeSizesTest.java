package io.seriatim.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.graph.append.Appender;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

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

    /** An operation and the shapes of its inputs, which have the names of its slots in lower case. */
    record Tables(OpDesc op, Map<String, long[]> shapes) {
        @Override
        public String toString() {
            return op.type() + shapes.values().stream().map(Arrays::toString).sorted().toList();
        }

        Program program() {
            Program program = new Program();
            shapes.forEach((name, dims) -> program.global()
                    .put(VarDesc.of(name, VarType.dense(name.equals("i") ? DType.INT32 : DType.FLOAT32, dims))));
            Appender.append(program.global(), op, 0);
            return program;
        }

        Map<String, Tensor> feeds() {
            Map<String, Tensor> feeds = new HashMap<>();
            shapes.forEach((name, dims) -> feeds.put(name, name.equals("i")
                    ? Tensor.of(DType.INT32, new long[]{2}, dims)
                    : Tensor.of(new float[(int) Shape.of(dims).size()], dims)));
            return feeds;
        }
    }

    private static OpDesc.Builder pool(String type) {
        return OpDesc.of(type).in("X", "x").attr("pooling_type", "avg").attr("strides", new int[]{1, 1})
                .attr("paddings", new int[]{0, 0});
    }

    private static OpDesc.Builder align(String type) {
        return OpDesc.of(type).in("X", "x").in("ROIs", "regions").in("RoisNum", "i").attr("pooled_height", 1)
                .attr("pooled_width", 1);
    }

    private static List<Tables> tables() {
        long length = 400_000;
        Map<String, long[]> row = Map.of("x", new long[]{0, length});
        Map<String, long[]> image = Map.of("x", new long[]{0, 1, 1, length});
        int[] padding = {0, 0, 0, (int) length};
        int[] one = {1, 1};
        Map<String, long[]> regions = Map.of("x", new long[]{1, 1, 1, 100_000}, "regions", new long[]{2, 4}, "i",
                new long[]{1});
        return List.of(
                new Tables(OpDesc.of("pad").in("X", "x").out("Out", "y").attr("paddings", padding).build(),
                        Map.of("x", new long[]{0, 1})),
                new Tables(OpDesc.of("pad3d_grad").in("Out@GRAD", "dy").in("X", "x").out("X@GRAD", "y")
                        .attr("paddings", new int[]{0, (int) length, 0, 0, 0, 0}).attr("mode", "replicate").build(),
                        Map.of("x", new long[]{0, 1, 1, 1, 1}, "dy", new long[]{0, 1, 1, 1, length + 1})),
                new Tables(pool("pool2d").out("Out", "y").attr("ksize", one).build(),
                        Map.of("x", new long[]{1, 1, 1, 200_000})),
                new Tables(pool("pool2d").out("Out", "y").attr("ksize", new int[]{1, 100_000}).attr("adaptive", true)
                        .build(),
                        Map.of("x", new long[]{1, 1, 1, 1})),
                new Tables(pool("pool2d_grad").in("Out", "z").in("Out@GRAD", "dy").out("X@GRAD", "y")
                        .attr("ksize", new int[]{1, 100_000}).attr("adaptive", true).build(),
                        Map.of("x", new long[]{1, 1, 1, 1}, "z", new long[]{1, 1, 1, 100_000}, "dy",
                                new long[]{1, 1, 1, 100_000})),
                new Tables(OpDesc.of("nearest_interp_v2").in("X", "x").out("Out", "y").attr("out_h", 1)
                        .attr("out_w", 100_000).build(),
                        Map.of("x", new long[]{1, 1, 1, 1})),
                new Tables(OpDesc.of("bilinear_interp_v2_grad").in("X", "x").in("Out@GRAD", "dy").out("X@GRAD", "y")
                        .attr("out_h", 1).attr("out_w", 100_000).build(),
                        Map.of("x", new long[]{1, 1, 1, 1}, "dy", new long[]{1, 1, 1, 100_000})),
                new Tables(align("roi_align").out("Out", "y").build(), regions),
                new Tables(align("roi_align_grad").in("Out@GRAD", "dy").out("X@GRAD", "y").build(),
                        Map.of("x", new long[]{1, 1, 1, 100_000}, "regions", new long[]{2, 4}, "i", new long[]{1},
                                "dy", new long[]{2, 1, 1, 1})),
                // Rows and planes of tensors without elements.
                new Tables(OpDesc.of("softmax").in("X", "x").out("Out", "y").attr("axis", -1).build(), row),
                new Tables(OpDesc.of("layer_norm").in("X", "x").out("Y", "y").out("Mean", "m").out("Variance", "v")
                        .attr("begin_norm_axis", 1).build(), row),
                new Tables(OpDesc.of("argsort").in("X", "x").out("Out", "y").out("Indices", "order").attr("axis", -1)
                        .build(), row),
                new Tables(pool("pool2d").out("Out", "y").attr("ksize", new int[]{1, (int) length}).build(), image),
                new Tables(OpDesc.of("instance_norm").in("X", "x").out("Y", "y").out("SavedMean", "m")
                        .out("SavedVariance", "v").build(), image),
                new Tables(OpDesc.of("conv2d").in("Input", "x").in("Filter", "w").out("Output", "y")
                        .attr("strides", one).attr("paddings", new int[]{0, 0}).attr("dilations", one)
                        .attr("groups", 1).build(),
                        Map.of("x", new long[]{0, 1, 1, length}, "w", new long[]{1, 1, 1, 1})));
    }

    /** Operands without elements, or with few, for which kernels make arrays that are longer than the limit. */
    @ParameterizedTest
    @MethodSource("tables")
    void tablesOfKernelsCount(Tables tables) {
        Program program = tables.program();
        OpDesc op = tables.op();
        try (Devices devices = Devices.builder().cpuMemory(1 << 20).build();
                Executor executor = Executor.builder().devices(devices).build()) {
            String message = String.valueOf(assertThrows(ProgramFailedException.class,
                    () -> executor.run(program, tables.feeds(), Executor.fetches("y"))).getMessage());
            assertTrue(message.contains("(" + op.type() + ",") && message.contains("the arrays of the kernel of ")
                    && message.contains("the limit is 1048576 bytes (-Dseriatim.cpu.memory)"), message);
        }
        Interpreter interpreter = Interpreter.of(Kernels.system());
        Map<String, Tensor> feeds = tables.feeds();
        String message = String.valueOf(assertThrows(RuntimeException.class,
                () -> WorkingMemory.within(1 << 20, () -> interpreter.run(program, feeds, List.of("y"))))
                .getMessage());
        assertTrue(message.contains("(" + op.type() + ")") && message.contains("the arrays of the kernel of ")
                && message.contains("the limit is 1048576 bytes (-Dseriatim.cpu.memory)"), message);
        // Without the limit it runs.
        assertTrue(interpreter.run(program, feeds, List.of("y")).containsKey("y"));
    }

    /** A table with a row for each pair of factors, and one with a row for each pair of level and image. */
    @Test
    void tablesOfOperationsCount() {
        int many = 600;
        String[] factors = new String[many];
        Arrays.fill(factors, "x");
        String[] levels = new String[many];
        String[] numbers = new String[many];
        Arrays.setAll(levels, i -> i == 0 ? "y" : "level" + i);
        Arrays.setAll(numbers, i -> "number" + i);
        Map<OpDesc, Map<String, Tensor>> operations = Map.of(
                OpDesc.of("multi_dot").in("X", factors).out("Out", "y").build(),
                Map.of("x", Tensor.of(new float[]{1}, 1, 1)),
                OpDesc.of("distribute_fpn_proposals").in("FpnRois", "x").in("RoisNum", "i").out("MultiFpnRois", levels)
                        .out("MultiLevelRoIsNum", numbers).out("RestoreIndex", "order").attr("min_level", 2)
                        .attr("max_level", many + 1).attr("refer_level", 4).attr("refer_scale", 224)
                        .attr("pixel_offset", false).build(),
                Map.of("x", Tensor.of(new float[0], 0, 4), "i", Tensor.of(DType.INT32, new long[many], many)));
        operations.forEach((op, feeds) -> {
            Program program = new Program();
            feeds.forEach((name, value) -> program.global()
                    .put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims()))));
            Appender.append(program.global(), op, 0);
            Interpreter interpreter = Interpreter.of(Kernels.system());
            try (Devices devices = Devices.builder().cpuMemory(1 << 20).build();
                    Executor executor = Executor.builder().devices(devices).build()) {
                for (RuntimeException refused : List.of(
                        assertThrows(ProgramFailedException.class,
                                () -> executor.run(program, feeds, Executor.fetches("y"))),
                        assertThrows(RuntimeException.class, () -> WorkingMemory.within(1 << 20,
                                () -> interpreter.run(program, feeds, List.of("y")))))) {
                    String message = String.valueOf(refused.getMessage());
                    assertTrue(message.contains("(" + op.type()) && message.contains("an array of 600 × ")
                            && message.contains("the limit is 1048576 bytes (-Dseriatim.cpu.memory)"), message);
                }
            }
            assertTrue(interpreter.run(program, feeds, List.of("y")).containsKey("y"));
        });
    }

    /** Views that repeat elements take no memory, but the kernels that read them may. */
    @Test
    void rowsOfViewsCount() {
        int side = 1 << 12;
        for (OpDesc op : List.of(
                pool("pool2d").out("Out", "y").attr("ksize", new int[]{side, side}).build(),
                OpDesc.of("bilinear_interp_v2").in("X", "x").out("Out", "y").attr("out_h", 2).attr("out_w", 2).build(),
                OpDesc.of("top_k_v2").in("X", "x").out("Out", "y").out("Indices", "order").attr("k", 1).attr("axis", 2)
                        .build())) {
            Program program = new Program();
            program.global().put(VarDesc.of("one", VarType.dense(DType.FLOAT32, 1)));
            int[] shape = op.type().startsWith("top") ? new int[]{1, 1, side * side, 1} : new int[]{1, 1, side, side};
            Appender.append(program.global(),
                    OpDesc.of("expand_v2").in("X", "one").out("Out", "x").attr("shape", shape).build(), 0);
            Appender.append(program.global(), op, 0);
            try (Devices devices = Devices.builder().cpuMemory(1 << 20).build();
                    Executor executor = Executor.builder().devices(devices).build();
                    Tensor one = Tensor.of(new float[1], 1)) {
                String message = String.valueOf(assertThrows(ProgramFailedException.class,
                        () -> executor.run(program, Map.of("one", one), Executor.fetches("y"))).getMessage());
                assertTrue(message.contains("(" + op.type() + ",") && message.contains("the arrays of the kernel of ")
                        && message.contains("the limit is 1048576 bytes (-Dseriatim.cpu.memory)"), message);
            }
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
