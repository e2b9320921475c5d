package io.seriatim.train.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IdxFilesTest {
    private static final String IMAGES = "train-images-idx3-ubyte";
    private static final String LABELS = "train-labels-idx1-ubyte";

    @TempDir
    Path folder;

    private String message() {
        String message = String
                .valueOf(assertThrows(FileFormatException.class, () -> IdxFiles.read(folder)).getMessage());
        assertEquals(1, message.lines().count(), message);
        return message;
    }

    private void requireMessage(String part) {
        String message = message();
        assertTrue(message.contains(part), message);
    }

    private static float[] expected(byte[] pixels, int from, int to) {
        float[] values = new float[to - from];
        for (int i = from; i < to; i++) {
            values[i - from] = (pixels[i] & 0xff) / 127.5f - 1;
        }
        return values;
    }

    @Test
    void readsTrainingAndValidation() throws IOException {
        IdxBytes.write(folder, "train", 30, 3, 5, 1);
        IdxBytes.write(folder, "t10k", 12, 3, 5, 2);
        LabelledData data = IdxFiles.read(folder);
        assertEquals(10, data.classes());
        assertEquals(new Field("image", DType.FLOAT32, Shape.of(1, 3, 5)), data.input());
        assertEquals(new Field("label", DType.INT64, Shape.of(1)), data.label());
        assertEquals(30, data.split().training().size());
        assertEquals(12, data.split().validation().size());
        List<Tensor> batch = data.split().validation().batch(new int[]{11, 3});
        assertEquals(Shape.of(2, 1, 3, 5), batch.getFirst().shape());
        assertEquals(Shape.of(2, 1), batch.getLast().shape());
        assertArrayEquals(new long[]{1, 3}, batch.getLast().toLongArray());
        byte[] pixels = IdxBytes.pixels(12, 3, 5, 2);
        float[] values = batch.getFirst().toFloatArray();
        assertArrayEquals(expected(pixels, 165, 180), Arrays.copyOfRange(values, 0, 15));
        assertArrayEquals(expected(pixels, 45, 60), Arrays.copyOfRange(values, 15, 30));
    }

    @Test
    void pixelsAreFromMinusOneToOne() throws IOException {
        Files.write(folder.resolve(IMAGES), IdxBytes.of(new byte[]{0, (byte) 255, 51, (byte) 204}, 2, 1, 2));
        Files.write(folder.resolve(LABELS), IdxBytes.of(new byte[]{1, 2}, 2));
        Split split = IdxFiles.read(folder).split();
        assertArrayEquals(new float[]{-1, 1}, split.training().batch(new int[]{0}).getFirst().toFloatArray());
        assertArrayEquals(new float[]{-0.6f, 0.6f}, split.validation().batch(new int[]{0}).getFirst().toFloatArray(),
                1e-6f);
    }

    @Test
    void aSinglePairKeepsItsLastTenthForValidation() throws IOException {
        IdxBytes.write(folder, "t10k", 43, 2, 2, 4);
        Split split = IdxFiles.read(folder).split();
        assertEquals(39, split.training().size());
        assertEquals(4, split.validation().size());
        byte[] pixels = IdxBytes.pixels(43, 2, 2, 4);
        List<Tensor> last = split.validation().batch(new int[]{0, 3});
        assertArrayEquals(new long[]{9, 2}, last.getLast().toLongArray());
        assertArrayEquals(expected(pixels, 42 * 4, 43 * 4), Arrays.copyOfRange(last.getFirst().toFloatArray(), 4, 8));
        assertThrows(IndexOutOfBoundsException.class, () -> split.training().batch(new int[]{39}));
        assertThrows(IndexOutOfBoundsException.class, () -> split.validation().batch(new int[]{4}));
    }

    @Test
    void compressionIsRecognisedByContent() throws IOException {
        byte[] images = IdxBytes.of(IdxBytes.pixels(10, 2, 2, 5), 10, 2, 2);
        byte[] labels = IdxBytes.of(IdxBytes.labels(10), 10);
        Files.write(folder.resolve(IMAGES), IdxBytes.compressed(images));
        Files.write(folder.resolve(LABELS + ".gz"), labels);
        Split split = IdxFiles.read(folder).split();
        assertArrayEquals(expected(IdxBytes.pixels(10, 2, 2, 5), 0, 36),
                split.training().batch(IntStream.range(0, 9).toArray()).getFirst().toFloatArray());
        assertEquals(9, split.validation().batch(new int[]{0}).getLast().getLong(0, 0));
    }

    @Test
    void namesWithADotAreKnown() throws IOException {
        Files.write(folder.resolve("train-images.idx3-ubyte"), IdxBytes.of(IdxBytes.pixels(10, 2, 2, 5), 10, 2, 2));
        Files.write(folder.resolve("train-labels.idx1-ubyte.gz"),
                IdxBytes.compressed(IdxBytes.of(IdxBytes.labels(10), 10)));
        assertEquals(9, IdxFiles.read(folder).split().training().size());
    }

    @Test
    void imagesAndLabelsBelongTogether() throws IOException {
        requireMessage("train-images-idx3-ubyte with train-labels-idx1-ubyte");
        Files.write(folder.resolve(IMAGES), IdxBytes.of(new byte[40], 10, 2, 2));
        requireMessage("only train-images-idx3-ubyte is there");
        Files.write(folder.resolve(LABELS), IdxBytes.of(new byte[9], 9));
        requireMessage(LABELS
                + ", byte 4: there must be a label for each of the 10 images of train-images-idx3-ubyte, but there "
                + "are 9");
        Files.delete(folder.resolve(IMAGES));
        requireMessage("only train-labels-idx1-ubyte is there");
    }

    @Test
    void labelsAreWithinTheClasses() throws IOException {
        IdxBytes.write(folder, "train", 30, 2, 2, 1);
        Path labels = folder.resolve(LABELS);
        byte[] wrong = IdxBytes.labels(30);
        wrong[17] = (byte) 200;
        Files.write(labels, IdxBytes.of(wrong, 30));
        assertEquals(labels + ", byte 25: a label must be from 0 to 9, but that of image 17 is 200", message());
        assertEquals(201, IdxFiles.read(folder, 201).classes());
        assertThrows(IllegalArgumentException.class, () -> IdxFiles.read(folder, 0));
        assertThrows(IllegalArgumentException.class, () -> IdxFiles.read(folder, 257));
    }

    @Test
    void wrongFilesAreNamedWithThePlace() throws IOException {
        IdxBytes.write(folder, "train", 10, 2, 2, 1);
        Path images = folder.resolve(IMAGES);
        byte[] good = Files.readAllBytes(images);
        Files.write(images, Files.readAllBytes(folder.resolve(LABELS)));
        requireMessage(IMAGES
                + ", byte 3: an IDX file of unsigned bytes with 3 dimensions begins with 00 00 08 03, but this one "
                + "does not");
        Files.write(images, "<html>".getBytes(StandardCharsets.US_ASCII));
        requireMessage(IMAGES + ", byte 0: an IDX file");
        Files.write(images, new byte[0]);
        requireMessage(IMAGES + ", byte 0: the file is empty");
        Files.write(images, Arrays.copyOf(good, 9));
        requireMessage(IMAGES + ", byte 9: the file ends within its header of 16 bytes");
        Files.write(images, Arrays.copyOf(good, 30));
        requireMessage(IMAGES + ", byte 30: 10 × 2 × 2 values take 40 bytes after the header, but there are 14");
        Files.write(images, Arrays.copyOf(good, good.length + 1));
        requireMessage(IMAGES + ", byte 56: 10 × 2 × 2 values take 40 bytes after the header, but there are 41");
        Files.write(images, IdxBytes.of(new byte[0], 10, 0, 2));
        requireMessage(IMAGES + ", byte 8: a dimension must be from 1 to 2147483647, but dimension 1 is 0");
        Files.write(images, IdxBytes.of(new byte[0], 10, -1, 2));
        requireMessage("dimension 1 is 4294967295");
        Files.write(images, IdxBytes.of(new byte[4], 1, 2, 2));
        Files.write(folder.resolve(LABELS), IdxBytes.of(new byte[1], 1));
        requireMessage("at least 2 images");
    }

    @Test
    void wrongCompressedFilesAreNamedToo() throws IOException {
        IdxBytes.write(folder, "train", 100, 4, 4, 1);
        Path images = folder.resolve(IMAGES);
        byte[] content = Files.readAllBytes(images);
        byte[] good = IdxBytes.compressed(content);
        Files.write(images, Arrays.copyOf(good, good.length / 2));
        requireMessage(IMAGES + ": the compressed data are not whole");
        byte[] broken = good.clone();
        broken[broken.length - 6] ^= 1;
        Files.write(images, broken);
        requireMessage(IMAGES + ": the compressed data are not whole");
        Files.write(images, IdxBytes.compressed(Arrays.copyOf(content, 500)));
        requireMessage(IMAGES + ", byte 500: 100 × 4 × 4 values take 1600 bytes after the header, but there are 484");
        Files.write(images, IdxBytes.compressed(Arrays.copyOf(content, content.length + 1)));
        requireMessage(IMAGES + ", byte 1616: the file must end after its 100 × 4 × 4 values");
        Files.write(images, new byte[]{0x1f, (byte) 0x8b});
        requireMessage(IMAGES + ": the compressed data are not whole");
    }

    @Test
    void promisedSizesTakeNoMemory() throws IOException {
        IdxBytes.write(folder, "train", 10, 2, 2, 1);
        Path images = folder.resolve(IMAGES);
        for (boolean compressed : new boolean[]{false, true}) {
            byte[] most = IdxBytes.of(new byte[3], Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);
            Files.write(images, compressed ? IdxBytes.compressed(most) : most);
            requireMessage("at most 2147483639 values");
            byte[] two = IdxBytes.of(new byte[3], 2_000_000_000, 1, 1);
            Files.write(images, compressed ? IdxBytes.compressed(two) : two);
            requireMessage("2000000000 × 1 × 1 values take 2000000000 bytes after the header, but there are 3");
        }
    }

    @Test
    void validationImagesAreOfTheSameSize() throws IOException {
        IdxBytes.write(folder, "train", 10, 2, 3, 1);
        IdxBytes.write(folder, "t10k", 10, 3, 2, 1);
        requireMessage(
                "t10k-images-idx3-ubyte, byte 8: images must be as large as those of train-images-idx3-ubyte, 2 × "
                        + "3, but are 3 × 2");
    }

    @Test
    void aFolderThatIsMissing() {
        Path missing = folder.resolve("missing");
        assertThrows(NoSuchFileException.class, () -> IdxFiles.read(missing));
    }

    @Test
    void readsTheRealDigits() throws IOException {
        Path digits = Path.of("").toAbsolutePath();
        while (digits != null && !Files.isDirectory(digits.resolveSibling("shared/data/mnist"))) {
            digits = digits.getParent();
        }
        assumeTrue(digits != null, "there is no folder shared/data/mnist beside the repository");
        LabelledData data = IdxFiles.read(digits.resolveSibling("shared/data/mnist"));
        assertEquals(Shape.of(1, 28, 28), data.input().shape());
        Dataset training = data.split().training();
        assertEquals(9_000, training.size());
        assertEquals(1_000, data.split().validation().size());
        // The first ten digits of MNIST's test set are well known.
        List<Tensor> first = training.batch(IntStream.range(0, 10).toArray());
        assertArrayEquals(new long[]{7, 2, 1, 0, 4, 1, 4, 9, 5, 9}, first.getLast().toLongArray());
        double mean = 0;
        for (float pixel : training.batch(IntStream.range(0, 9_000).toArray()).getFirst().toFloatArray()) {
            mean += (pixel + 1.0) / 2 / (9_000 * 784);
        }
        assertEquals(0.1307, mean, 0.005, "MNIST's mean brightness");
    }
}
