package io.seriatim.tensor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class NpyTest {
    private static final long SEED = 20261121;

    @TempDir
    private Path folder = Path.of("");

    private static Path golden(String name) throws URISyntaxException {
        return Path.of(Objects.requireNonNull(NpyTest.class.getResource("/golden/npy/" + name), name).toURI());
    }

    @ParameterizedTest
    @CsvSource({"f4,FLOAT32", "f4_big,FLOAT32", "f8,FLOAT64", "f2,FLOAT16", "i1,INT8", "i2,INT16", "i4_big,INT32",
            "i8,INT64", "u1,UINT8",
            "b1,BOOL"})
    void readsWhatNumPyWrites(String name, DType dtype) throws IOException, URISyntaxException {
        for (String order : List.of("", "_fortran")) {
            Tensor tensor = Npy.read(golden(name + order + ".npy"));
            assertEquals(TensorSpec.of(dtype, 2, 3, 4), tensor.spec());
            long[] values = tensor.toLongArray();
            for (int i = 0; i < 24; i++) {
                assertEquals(dtype == DType.BOOL ? i % 2 : dtype == DType.UINT8 ? i : i - 7, values[i], name + order);
            }
        }
    }

    @Test
    void readsOddShapesAndVersions() throws IOException, URISyntaxException {
        assertEquals(TensorSpec.of(DType.FLOAT32), Npy.read(golden("scalar.npy")).spec());
        assertEquals(2.5, Npy.read(golden("scalar.npy")).getDouble());
        assertEquals(TensorSpec.of(DType.FLOAT32, 3, 0), Npy.read(golden("empty.npy")).spec());
        assertArrayEquals(new long[]{0, 1, 2, 3, 4}, Npy.read(golden("vector.npy")).toLongArray());
        assertArrayEquals(new double[]{0, 1, 2}, Npy.read(golden("version2.npy")).toDoubleArray());
        for (String name : List.of("stored.npz", "deflated.npz")) {
            Map<String, Tensor> tensors = Npz.read(golden(name));
            assertEquals(List.of("a", "b"), List.copyOf(tensors.keySet()));
            assertArrayEquals(new double[]{1, 0, 0, 1}, Objects.requireNonNull(tensors.get("b")).toDoubleArray());
        }
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void writesWhatItReads(DType dtype) throws IOException {
        for (long[] dims : new long[][]{{}, {0}, {1}, {13}, {2, 0, 3}, {3, 4, 5}, {1, 2, 1, 3, 2}}) {
            SplittableRandom random = new SplittableRandom(SEED);
            Tensor tensor = Tensor.of(dtype, random.longs(Shape.of(dims).size(), 0, 2).toArray(), dims);
            Path file = folder.resolve("x.npy");
            Npy.write(file, tensor);
            Tensor back = Npy.read(file);
            assertEquals(tensor.spec(), back.spec());
            assertArrayEquals(tensor.toLongArray(), back.toLongArray());
        }
    }

    @Test
    void writesViewsInTheirOrder() throws IOException {
        Tensor view = Tensor.of(new float[]{1, 2, 3, 4, 5, 6}, 2, 3).transpose();
        Npy.write(folder.resolve("x.npy"), view);
        assertArrayEquals(new float[]{1, 4, 2, 5, 3, 6}, Npy.read(folder.resolve("x.npy")).toFloatArray());
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("z", view);
        tensors.put("a/b", Tensor.of(new long[]{7}));
        Npz.write(folder.resolve("one.npz"), tensors);
        Npz.write(folder.resolve("two.npz"), tensors);
        assertArrayEquals(Files.readAllBytes(folder.resolve("one.npz")), Files.readAllBytes(folder.resolve("two.npz")));
        assertEquals(List.of("z", "a/b"), List.copyOf(Npz.read(folder.resolve("one.npz")).keySet()));
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(3, files.count());
        }
    }

    private static byte[] file(String header, int data) {
        byte[] text = header.getBytes(StandardCharsets.ISO_8859_1);
        byte[] file = new byte[10 + text.length + data];
        byte[] start = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (byte) text.length, (byte) (text.length >> 8)};
        System.arraycopy(start, 0, file, 0, start.length);
        System.arraycopy(text, 0, file, 10, text.length);
        return file;
    }

    @ParameterizedTest
    @ValueSource(strings = {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 4), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }",
            "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
            "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "{'descr': '<f4', 'fortran_order': False}",
            "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
            "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "__import__('os').system('x')",
            "",
            "{'descr': (1), 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': "
                    + "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }"})
    void refusesHostileHeaders(String header) throws IOException {
        Path path = folder.resolve("hostile.npy");
        Files.write(path, file(header, 4));
        FileFormatException e = assertThrows(FileFormatException.class, () -> Npy.read(path));
        assertTrue(String.valueOf(e.getMessage()).contains("hostile.npy, byte "), e.getMessage());
        assertThrows(FileFormatException.class, () -> Npy.read(new ByteArrayInputStream(file(header, 4))));
    }

    /**
     * Any change gives a tensor or an error that says where; nothing else, and no more memory than the bytes that are
     * there.
     */
    @Test
    void survivesMutations() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Npy.write(out, Tensor.of(new float[]{1, 2, 3, 4, 5, 6}, 2, 3));
        byte[] good = out.toByteArray();
        SplittableRandom random = new SplittableRandom(SEED);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] bad = mutate(good, random);
            try (Tensor tensor = Npy.read(new ByteArrayInputStream(bad))) {
                assertTrue(tensor.spec().bytes() <= bad.length, "mutation " + i);
            } catch (FileFormatException e) {
                refused++;
            }
        }
        assertTrue(refused > 5_000, "only " + refused + " of 20,000 mutations of seed " + SEED + " were refused");
    }

    private static byte[] mutate(byte[] good, SplittableRandom random) {
        byte[] bad = good.clone();
        int at = random.nextInt(good.length);
        switch (random.nextInt(4)) {
            case 0 -> bad[at] ^= (byte) (1 << random.nextInt(8));
            case 1 -> bad[at] = (byte) random.nextInt();
            case 2 -> bad = Arrays.copyOf(bad, at);
            default -> bad = Arrays.copyOf(bad, bad.length + random.nextInt(1, 9));
        }
        return bad;
    }

    @Test
    void refusesWhatIsNoArchive() throws IOException {
        Path path = folder.resolve("x.npz");
        Files.writeString(path, "no zip file at all");
        assertThrows(FileFormatException.class, () -> Npz.read(path));
        assertFalse(Files.exists(folder.resolve("x.npz.tmp")));
    }
}
