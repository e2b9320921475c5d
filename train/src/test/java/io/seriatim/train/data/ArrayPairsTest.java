package io.seriatim.train.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Npz;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArrayPairsTest {
    @TempDir
    Path folder;

    private static Tensor numbers(DType dtype, long... dims) {
        return Tensor.of(dtype, LongStream.range(0, Shape.of(dims).size()).toArray(), dims);
    }

    private static Tensor labels(int count, int classes) {
        return Tensor.of(LongStream.range(0, count).map(i -> i % classes).toArray(), count);
    }

    private void write(String name, Tensor tensor) throws IOException {
        Npy.write(folder.resolve(name + ".npy"), tensor);
    }

    private void requireMessage(String part) {
        requireMessage(folder, part);
    }

    private static void requireMessage(Path path, String part) {
        String message = String
                .valueOf(assertThrows(FileFormatException.class, () -> ArrayPairs.read(path)).getMessage());
        assertTrue(message.contains(part) && message.lines().count() == 1, message);
    }

    @Test
    void readsAFolderOfTwoArrays() throws IOException {
        write("x", numbers(DType.FLOAT32, 25, 2, 3));
        write("y", labels(25, 4));
        LabelledData data = ArrayPairs.read(folder);
        assertEquals(new Field("x", DType.FLOAT32, Shape.of(2, 3)), data.input());
        assertEquals(new Field("y", DType.INT64, Shape.of(1)), data.label());
        assertEquals(4, data.classes());
        assertEquals(23, data.split().training().size());
        assertEquals(2, data.split().validation().size());
        List<Tensor> held = data.split().validation().batch(new int[]{1, 0});
        assertEquals(Shape.of(2, 2, 3), held.getFirst().shape());
        assertArrayEquals(new float[]{144, 145, 146, 147, 148, 149, 66, 67, 68, 69, 70, 71},
                held.getFirst().toFloatArray());
        assertArrayEquals(new long[]{0, 3}, held.getLast().toLongArray());
        assertEquals(Shape.of(2, 1), held.getLast().shape());
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 9, 10, 11, 19, 20, 99, 1001})
    void aTenthAtEqualDistancesIsHeldOut(int count) throws IOException {
        write("x", numbers(DType.INT64, count));
        write("y", labels(count, 2));
        Split split = ArrayPairs.read(folder).split();
        int held = Math.max(1, count / 10);
        assertEquals(held, split.validation().size());
        assertEquals(count - held, split.training().size());
        long[] validation = split.validation().batch(IntStream.range(0, held).toArray()).getFirst().toLongArray();
        long[] training = split.training().batch(IntStream.range(0, count - held).toArray()).getFirst().toLongArray();
        assertArrayEquals(LongStream.range(0, count).toArray(),
                LongStream.concat(Arrays.stream(validation), Arrays.stream(training)).sorted().toArray());
        for (int i = 1; i < held; i++) {
            long distance = validation[i] - validation[i - 1];
            assertTrue(distance >= count / held && distance <= count / held + 1, () -> Arrays.toString(validation));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void testExamplesAreForValidation(boolean suffixes) throws IOException {
        write(suffixes ? "x_train" : "train_x", numbers(DType.FLOAT32, 6, 2));
        write(suffixes ? "y_train" : "train_y", labels(6, 3));
        write(suffixes ? "x_test" : "test_x", numbers(DType.FLOAT32, 1, 2));
        write(suffixes ? "y_test" : "test_y", labels(1, 3));
        Split split = ArrayPairs.read(folder).split();
        assertEquals(6, split.training().size());
        assertEquals(1, split.validation().size());
        assertArrayEquals(new float[]{0, 1}, split.validation().batch(new int[]{0}).getFirst().toFloatArray());
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"COMPLEX64", "COMPLEX128"})
    void everyTypeIsConverted(DType dtype) throws IOException {
        boolean bool = dtype == DType.BOOL;
        Tensor x = bool ? Tensor.of(dtype, new long[]{0, 1, 1, 0, 1, 1, 0, 0}, 4, 2) : numbers(dtype, 4, 2);
        write("x", x);
        write("y", Tensor.of(dtype, new long[]{0, 1, 1, 0}, 4, 1));
        LabelledData data = ArrayPairs.read(folder);
        boolean asFloat = dtype.isFloating() || dtype == DType.UINT8 || bool;
        assertEquals(asFloat ? DType.FLOAT32 : DType.INT64, data.input().dtype());
        assertEquals(dtype.isFloating() ? DType.FLOAT32 : DType.INT64, data.label().dtype());
        assertEquals(dtype.isFloating() ? 0 : 2, data.classes());
        List<Tensor> batch = data.split().training().batch(new int[]{2, 1});
        assertArrayEquals(bool ? new double[]{1, 1, 1, 0} : new double[]{4, 5, 2, 3}, batch.getFirst().toDoubleArray());
        assertArrayEquals(new double[]{1, 1}, batch.getLast().toDoubleArray());
        assertEquals(Shape.of(2, 1), batch.getLast().shape());
    }

    @Test
    void labelsMayBeSeveralValues() throws IOException {
        write("x", numbers(DType.FLOAT64, 4));
        write("y", Tensor.of(new double[]{0.5, -1, 2, 3, 4, 5, 6, 7}, 4, 2));
        LabelledData data = ArrayPairs.read(folder);
        assertEquals(0, data.classes());
        assertEquals(Shape.of(1), data.input().shape());
        assertEquals(Shape.of(2), data.label().shape());
        List<Tensor> batch = data.split().training().batch(new int[]{0});
        assertArrayEquals(new float[]{0.5f, -1}, batch.getLast().toFloatArray());
    }

    @Test
    void anArchiveIsRecognisedByContent() throws IOException {
        Map<String, Tensor> arrays = new LinkedHashMap<>();
        arrays.put("x_test", numbers(DType.UINT8, 2, 2, 2));
        arrays.put("x_train", numbers(DType.UINT8, 3, 2, 2));
        arrays.put("y_train", Tensor.of(DType.UINT8, new long[]{0, 1, 2}, 3));
        arrays.put("y_test", Tensor.of(DType.UINT8, new long[]{2, 0}, 2));
        Path file = folder.resolve("digits.bin");
        Npz.write(file, arrays);
        LabelledData data = ArrayPairs.read(file);
        assertEquals(3, data.classes());
        assertEquals(2, data.split().validation().size());
        Files.move(file, folder.resolve("digits.npz"));
        assertEquals(3, ArrayPairs.read(folder).split().training().size());
        arrays.put("y_test", Tensor.of(DType.UINT8, new long[]{2, 3}, 2));
        Npz.write(folder.resolve("digits.npz"), arrays);
        requireMessage(
                "digits.npz (y_test.npy): a label must be from 0 to 2, as in training, but that of example 1 is 3");
        Npz.write(folder.resolve("digits.npz"), Map.of("a", labels(2, 2)));
        requireMessage("the arrays must be called x and y, train_x and train_y, or x_train and y_train, but are [a]");
        Npz.write(folder.resolve("digits.npz"), Map.of("x", labels(2, 2)));
        requireMessage("digits.npz (y.npy): x and y belong together, but there is no y");
        Files.writeString(folder.resolve("digits.npz"), "PK not at all");
        requireMessage("digits.npz");
    }

    @Test
    void missingFilesAreNamed() throws IOException {
        requireMessage(
                "must have x.npy with y.npy, train_x.npy with train_y.npy, *.npz, *.csv, of the last two a single "
                        + "one, but has none of them");
        write("y", labels(5, 2));
        requireMessage("x.npy: x and y belong together, but there is no x");
        write("x", labels(5, 2));
        write("test_x", labels(5, 2));
        requireMessage("test_y.npy: test_x and test_y belong together, but there is no test_y");
        assertThrows(NoSuchFileException.class, () -> ArrayPairs.read(folder.resolve("missing")));
        requireMessage(folder.resolve("x.npy"), "examples are read from a folder, an .npz file or a .csv file");
    }

    @Test
    void arraysFitTogether() throws IOException {
        write("x", numbers(DType.FLOAT32, 5, 2));
        write("y", labels(4, 2));
        requireMessage("y.npy: there must be a label for each of the 5 examples of ");
        write("y", numbers(DType.INT64, 5, 2));
        requireMessage(
                "labels must be of the shape [examples] or [examples, 1], or as values [examples, values], but are "
                        + "int64 [5, 2]");
        write("y", numbers(DType.FLOAT32, 5, 2, 1));
        requireMessage("labels must be of the shape");
        write("y", labels(5, 2));
        write("x", numbers(DType.FLOAT32, 0, 2));
        requireMessage("x.npy: an array's first dimension counts examples, from 1");
        write("x", numbers(DType.FLOAT32));
        requireMessage("x.npy: an array's first dimension counts examples, from 1");
        write("x", numbers(DType.FLOAT32, 1, 2));
        write("y", labels(1, 2));
        requireMessage("x.npy: there must be at least 2 examples");
        write("test_x", numbers(DType.FLOAT32, 1, 3));
        write("test_y", labels(1, 2));
        requireMessage("test_x.npy: examples for validation must be as those of training");
    }

    @Test
    void valuesAreFiniteAndLabelsClasses() throws IOException {
        write("x", Tensor.of(new double[]{0, 1, 2, 1e300}, 2, 2));
        write("y", labels(2, 2));
        requireMessage("x.npy: all values must be finite as float32, but value 1 of example 1 is Infinity");
        write("x", Tensor.of(new float[]{0, Float.NaN, 2, 1}, 2, 2));
        requireMessage("value 1 of example 0 is NaN");
        write("x", numbers(DType.FLOAT32, 2, 2));
        write("y", Tensor.of(new float[]{1, Float.NaN}, 2));
        requireMessage("y.npy: all values must be finite as float32, but value 0 of example 1 is NaN");
        write("y", Tensor.of(new long[]{0, -1}, 2));
        requireMessage("y.npy: a label that is a whole number is a class from 0 to 65535, but that of example 1 is -1");
        write("y", Tensor.of(new long[]{65_536, 0}, 2));
        requireMessage("that of example 0 is 65536: values to be found must be of a floating type");
    }

    @Test
    void truncatedArraysAreNamed() throws IOException {
        write("x", numbers(DType.FLOAT32, 5, 2));
        write("y", labels(5, 2));
        Path x = folder.resolve("x.npy");
        byte[] good = Files.readAllBytes(x);
        Files.write(x, Arrays.copyOf(good, good.length - 1));
        requireMessage("x.npy, byte 167");
        Files.write(x, new byte[0]);
        requireMessage("x.npy, byte 0");
    }

    @Test
    void examplesHaveNumbersWithinTheirPart() throws IOException {
        write("x", numbers(DType.FLOAT32, 5, 2));
        write("y", labels(5, 2));
        Split split = ArrayPairs.read(folder).split();
        assertThrows(IndexOutOfBoundsException.class, () -> split.validation().batch(new int[]{1}));
        assertThrows(IndexOutOfBoundsException.class, () -> split.training().batch(new int[]{4}));
        assertThrows(IndexOutOfBoundsException.class, () -> split.training().batch(new int[]{-1}));
    }

    @ParameterizedTest
    @EnumSource(names = {"COMPLEX64", "COMPLEX128"})
    void complexNumbersAreRefused(DType dtype) throws IOException {
        write("x", Tensor.allocate(dtype, 2, 3));
        write("y", Tensor.of(new long[]{0, 1}, 2));
        FileFormatException refused = assertThrows(FileFormatException.class, () -> ArrayPairs.read(folder));
        assertTrue(String.valueOf(refused.getMessage()).contains("must be real numbers, but are " + dtype),
                refused::getMessage);
    }
}
