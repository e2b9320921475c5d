package io.seriatim.train.data;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.zip.GZIPOutputStream;

/** Writes files in the IDX format. */
final class IdxBytes {
    private IdxBytes() {
    }

    static byte[] of(byte[] values, int... dims) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(0x800 | dims.length);
            for (int dim : dims) {
                out.writeInt(dim);
            }
            out.write(values);
        } catch (IOException e) {
            throw new AssertionError("memory cannot fail", e);
        }
        return bytes.toByteArray();
    }

    static byte[] compressed(byte[] content) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(content);
        } catch (IOException e) {
            throw new AssertionError("memory cannot fail", e);
        }
        return bytes.toByteArray();
    }

    static byte[] pixels(int count, int height, int width, long seed) {
        byte[] pixels = new byte[count * height * width];
        new Random(seed).nextBytes(pixels);
        return pixels;
    }

    /** Labels 0, 1, … 9, 0, 1, … */
    static byte[] labels(int count) {
        byte[] labels = new byte[count];
        for (int i = 0; i < count; i++) {
            labels[i] = (byte) (i % 10);
        }
        return labels;
    }

    /** Writes the images and labels of a part of the data set. */
    static void write(Path folder, String part, int count, int height, int width, long seed) throws IOException {
        Files.write(folder.resolve(part + "-images-idx3-ubyte"),
                of(pixels(count, height, width, seed), count, height, width));
        Files.write(folder.resolve(part + "-labels-idx1-ubyte"), of(labels(count), count));
    }
}
