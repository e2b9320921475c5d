package io.seriatim.graph.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.device.Devices;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParameterFilesTest {
    @TempDir
    private Path folder = Path.of("");

    private static Program program(String... names) {
        Program program = new Program();
        for (String name : names) {
            program.global().put(VarDesc.of(name, VarType.dense(DType.FLOAT32, 2)).persistent());
        }
        program.global().put(VarDesc.of("a temporary one", VarType.dense(DType.FLOAT32, 2)));
        program.global().put(VarDesc.of("feed", new VarType.Other(VarType.FEED_MINIBATCH)).persistent());
        program.addBlock(0, null).put(VarDesc.of("z", VarType.dense(DType.FLOAT32, 2)).persistent());
        return program;
    }

    private static Map<String, Tensor> values(String... names) {
        Map<String, Tensor> values = new TreeMap<>();
        for (int i = 0; i < names.length; i++) {
            values.put(names[i], Tensor.of(new float[]{i, -i, 0.5f}));
        }
        return values;
    }

    private static void assertValues(Map<String, Tensor> expected, Map<String, Tensor> actual) {
        assertEquals(expected.keySet(), actual.keySet());
        expected.forEach((name, tensor) -> {
            Tensor read = Objects.requireNonNull(actual.get(name));
            assertEquals(tensor.spec(), read.spec(), name);
            assertArrayEquals(tensor.toFloatArray(), read.toFloatArray(), name);
        });
        actual.values().forEach(Tensor::close);
    }

    /**
     * Files of Paddle are read by name and written with the same bytes; the names are in the order of their bytes,
     * capitals first.
     */
    @Test
    void readsAndWritesWhatPaddleWrites() throws IOException {
        for (String golden : List.of("exports", "programs")) {
            Map<String, Tensor> entries = GoldenFiles.entries(golden);
            for (String name : GoldenFiles.names(entries, "params")) {
                Path file = folder.resolve(name);
                Files.write(file, GoldenFiles.bytes(entries, name + "/params"));
                Program inference = GoldenFiles.program(entries, name + "/inference");
                Map<String, Tensor> read = ParameterFiles.readCombined(file, inference);
                for (VarDesc desc : inference.persistables()) {
                    assertArrayEquals(desc.tensor().shape(),
                            Objects.requireNonNull(read.get(desc.name())).shape().dims(), desc.name());
                }
                ParameterFiles.writeCombined(file, inference, read::get);
                assertArrayEquals(GoldenFiles.bytes(entries, name + "/params"), Files.readAllBytes(file), name);
            }
        }
    }

    /** Offsets that do not divide the rows, which no operation could read, are left out. */
    @Test
    void keepsOffsets() throws IOException {
        Program program = program("a", "b");
        Map<String, Tensor> values = values("a", "b", "z");
        Lod lod = Lod.of(new long[]{0, 2}, new long[]{0, 1, 3});
        values.computeIfPresent("a", (_, tensor) -> tensor.withLod(lod));
        ParameterFiles.writeCombined(folder.resolve("all"), program, values::get);
        Map<String, Tensor> read = ParameterFiles.readCombined(folder.resolve("all"), program);
        assertEquals(lod, Objects.requireNonNull(read.get("a")).lod());
        assertEquals(Lod.NONE, Objects.requireNonNull(read.get("b")).lod());
        ParameterFiles.writeSeparate(folder.resolve("each"), program, values::get);
        assertEquals(lod, Objects.requireNonNull(ParameterFiles.readSeparate(folder.resolve("each"), program).get("a"))
                .lod());
        TensorStreams.write(folder.resolve("each").resolve("a"),
                List.of(new TensorStreams.LodTensor(Tensor.of(new float[3]), List.of(new long[]{0, 4}))));
        assertEquals(Lod.NONE, Objects
                .requireNonNull(ParameterFiles.readSeparate(folder.resolve("each"), program).get("a")).lod());
    }

    /** The file's shapes win, so that [3] is read where the program says [2]. */
    @Test
    void keepsAllForms() throws IOException {
        Program program = program("b", "a", "B");
        Map<String, Tensor> values = values("a", "b", "B", "z");
        ParameterFiles.writeCombined(folder.resolve("all"), program, values::get);
        assertValues(values, ParameterFiles.readCombined(folder.resolve("all"), program));
        ParameterFiles.writeSeparate(folder.resolve("each"), program, values::get);
        assertValues(values, ParameterFiles.readSeparate(folder.resolve("each"), program));
        ParameterFiles.writeNpz(folder.resolve("all.npz"), program, values::get);
        assertValues(values, ParameterFiles.readNpz(folder.resolve("all.npz"), program));
        assertEquals(List.of("B", "a", "b", "z"), program.persistables().stream().map(VarDesc::name).toList());
        try (Stream<Path> files = Files.list(folder.resolve("each"))) {
            assertEquals(List.of("B", "a", "b", "z"),
                    files.map(each -> String.valueOf(each.getFileName())).sorted().toList());
        }
    }

    @Test
    void refusesMoreAndFewer() throws IOException {
        Path file = folder.resolve("all");
        Map<String, Tensor> values = values("a", "b", "c", "z");
        ParameterFiles.writeCombined(file, program("a", "b"), values::get);
        long size = Files.size(file);
        long used = Devices.system().host().memory().used();
        FileFormatException fewer = assertThrows(FileFormatException.class,
                () -> ParameterFiles.readCombined(file, program("a", "b", "c")));
        assertEquals(file + " (z), byte " + size + ": the end, after 3 tensors of 4", fewer.getMessage());
        FileFormatException more = assertThrows(FileFormatException.class,
                () -> ParameterFiles.readCombined(file, program("a")));
        assertEquals(
                file + ", byte " + size * 2 / 3 + ": the file must end after 2 tensors, but " + size / 3
                        + " bytes follow",
                more.getMessage());
        Files.write(file, Arrays.copyOf(Files.readAllBytes(file), (int) size - 1));
        FileFormatException cut = assertThrows(FileFormatException.class,
                () -> ParameterFiles.readCombined(file, program("a", "b")));
        assertTrue(
                String.valueOf(cut.getMessage())
                        .contains(
                                "(z), byte " + (size - 12) + ": the data of float32 [3] of 12 bytes where 11 are left"),
                cut.getMessage());
        assertEquals(used, Devices.system().host().memory().used(), "what was read before the error is freed");
    }

    @Test
    void withoutParametersThereIsNoFile() throws IOException {
        Path file = folder.resolve("none");
        Program none = new Program();
        assertEquals(Map.of(), ParameterFiles.readCombined(file, none));
        assertEquals(Map.of(), ParameterFiles.readNpz(file, none));
        Files.write(file, new byte[]{1});
        assertThrows(FileFormatException.class, () -> ParameterFiles.readCombined(file, none));
        ParameterFiles.writeCombined(file, none, _ -> null);
        assertFalse(Files.exists(file));
        ParameterFiles.writeNpz(file, none, _ -> null);
        assertFalse(Files.exists(file));
    }

    @Test
    void saysWhatIsMissing() throws IOException {
        Path file = folder.resolve("none");
        NoSuchFileException e = assertThrows(NoSuchFileException.class,
                () -> ParameterFiles.readCombined(file, program("a")));
        assertEquals(file + ": the values of 2 persistable variables, such as 'a', should be there", e.getMessage());
        assertThrows(NoSuchFileException.class, () -> ParameterFiles.readNpz(file, program("a")));
        assertThrows(NoSuchFileException.class, () -> ParameterFiles.readSeparate(folder, program("a")));
        ParameterFiles.writeNpz(file, program("a", "b"), values("a", "b", "z")::get);
        FileFormatException missing = assertThrows(FileFormatException.class,
                () -> ParameterFiles.readNpz(file, program("a", "c", "d")));
        assertTrue(String.valueOf(missing.getMessage())
                .endsWith("there must be an array for each of 4 variables, but there is none for [c, d]"));
        ParameterFiles.readNpz(file, program("a")).values().forEach(Tensor::close);
        IllegalArgumentException value = assertThrows(IllegalArgumentException.class,
                () -> ParameterFiles.writeCombined(folder.resolve("x"), program("a"), values("a")::get));
        assertEquals("Persistable variable 'z' has no value: run the startup program first, or load its parameters",
                value.getMessage());
        assertFalse(Files.exists(folder.resolve("x")));
    }

    /** Names come from programs, which are not trusted. */
    @Test
    void staysInTheFolder() throws IOException {
        Path inner = Files.createDirectory(folder.resolve("inner"));
        for (String name : List.of("../outside", "a/../../outside", folder.resolve("outside").toString(), ".",
                "nul\0")) {
            Program program = program(name);
            Map<String, Tensor> values = values(name, "z");
            assertThrows(IOException.class, () -> ParameterFiles.writeSeparate(inner, program, values::get), name);
            IOException e = assertThrows(IOException.class, () -> ParameterFiles.readSeparate(inner, program), name);
            assertTrue(String.valueOf(e.getMessage()).contains("ariable '" + name + "'"), e.getMessage());
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(1, files.count());
        }
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.createSymbolicLink(inner.resolve("link"), elsewhere);
        assertThrows(IOException.class,
                () -> ParameterFiles.writeSeparate(inner, program("link/weight"), values("link/weight", "z")::get));
        assertFalse(Files.exists(elsewhere.resolve("weight")), "a folder that is a link is not followed");
        Program program = program("scope/weight");
        ParameterFiles.writeSeparate(inner, program, values("scope/weight", "z")::get);
        assertValues(values("scope/weight", "z"), ParameterFiles.readSeparate(inner, program));
    }

    @Test
    void holdsTensorsOnly() {
        Program program = program();
        program.global()
                .put(VarDesc.of("rows", new VarType.Rows(VarType.TensorType.of(DType.FLOAT32, 7, 2))).persistent());
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> ParameterFiles.readCombined(folder.resolve("x"), program));
        assertTrue(String.valueOf(e.getMessage())
                .startsWith("Files of parameters hold tensors, but persistable variable 'rows' is another kind: "));
    }

    /** A failed write leaves the old file and no other. */
    @Test
    void replacesWhollyOrNotAtAll() throws IOException {
        Path file = folder.resolve("all");
        ParameterFiles.writeCombined(file, program("a"), values("a", "z")::get);
        byte[] before = Files.readAllBytes(file);
        Tensor closed = Tensor.of(new float[]{1});
        closed.close();
        assertThrows(IllegalStateException.class,
                () -> ParameterFiles.writeCombined(file, program("a"),
                        name -> name.equals("z") ? closed : Tensor.of(new float[9])));
        assertArrayEquals(before, Files.readAllBytes(file));
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(1, files.count());
        }
    }
}
