package io.seriatim.cli.train;

import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.format.ProgramFiles;
import io.seriatim.graph.optimizer.Sgd;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Npy;
import io.seriatim.tensor.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/** Data of a few kilobytes, generated from fixed seeds. */
final class TinyData {
    static final int ROWS = 60;
    static final int COLUMNS = 4;
    static final int CLASSES = 3;

    private TinyData() {
    }

    /** {@code x.npy} and {@code y.npy} with three separable classes. */
    static Path arrays(Path folder) throws IOException {
        Files.createDirectories(folder);
        double[] labels = new double[ROWS];
        Random random = new Random(5);
        float[] values = new float[ROWS * COLUMNS];
        for (int row = 0; row < ROWS; row++) {
            labels[row] = row % CLASSES;
            for (int column = 0; column < COLUMNS; column++) {
                values[row * COLUMNS
                        + column] = (float) (random.nextGaussian() * 0.3 + (column == row % CLASSES ? 2 : 0));
            }
        }
        Npy.write(folder.resolve("x.npy"), Tensor.of(values, ROWS, COLUMNS));
        Npy.write(folder.resolve("y.npy"), Tensor.of(DType.INT64, labels, ROWS));
        return folder;
    }

    /** Images of 28 × 28 and labels in the form of MNIST; the bright row determines the class. */
    static Path images(Path folder, int count) throws IOException {
        Files.createDirectories(folder);
        byte[] pixels = new byte[count * 28 * 28];
        byte[] labels = new byte[count];
        new Random(6).nextBytes(pixels);
        for (int i = 0; i < count; i++) {
            labels[i] = (byte) (i % 10);
            for (int pixel = 0; pixel < 28 * 28; pixel++) {
                int at = i * 28 * 28 + pixel;
                pixels[at] = pixel / 56 == i % 10 ? (byte) 255 : (byte) ((pixels[at] & 0xff) / 8);
            }
        }
        Files.write(folder.resolve("train-images-idx3-ubyte"), idx(pixels, count, 28, 28));
        Files.write(folder.resolve("train-labels-idx1-ubyte"), idx(labels, count));
        return folder;
    }

    /** A file in the format IDX, of bytes. */
    static byte[] idx(byte[] values, int... dims) {
        ByteBuffer bytes = ByteBuffer.allocate(4 + 4 * dims.length + values.length).putInt(0x800 | dims.length);
        for (int dim : dims) {
            bytes.putInt(dim);
        }
        return bytes.put(values).array();
    }

    /** Some lines of words. */
    static Path text(Path file) throws IOException {
        Random random = new Random(7);
        StringBuilder text = new StringBuilder();
        for (int line = 0; line < 300; line++) {
            text.append(random.nextBoolean() ? "Read" : "Write").append(random.nextBoolean() ? "Lock" : "File")
                    .append(random.nextInt(10))
                    .append('\n');
        }
        return Files.writeString(file, text);
    }

    /** Points on a straight line, for linear regression at a constant learning rate. */
    static Network line(int batch) {
        return Network.define(7, graph -> {
            Value x = graph.data("x", DType.FLOAT32, batch, 2);
            Value y = graph.data("y", DType.FLOAT32, batch, 1);
            Value found = graph.linear(x, 1);
            Value loss = graph.meanSquaredError(found, y);
            graph.minimize(loss, Sgd.of(0.05));
            return Outputs.of("loss", loss, "found", found);
        });
    }

    /**
     * Writes a program with the feeds x and y, and data with the given number of rows; returns the arguments that name
     * them.
     */
    static List<Object> program(Path folder, Network network, int rows) throws IOException {
        Path main = folder.resolve("main.pdmodel");
        Path startup = folder.resolve("startup.pdmodel");
        ProgramFiles.write(main, network.main());
        ProgramFiles.write(startup, network.startup());
        float[] x = new float[rows * 2];
        float[] y = new float[rows];
        for (int row = 0; row < rows; row++) {
            x[row * 2] = row % 5 - 2;
            x[row * 2 + 1] = row % 3 - 1;
            y[row] = 2 * x[row * 2] - x[row * 2 + 1] + 1;
        }
        Npy.write(folder.resolve("x.npy"), Tensor.of(x, rows, 2));
        Npy.write(folder.resolve("y.npy"), Tensor.of(y, rows, 1));
        return List.of(main, "--startup", startup, "--feed", "x=" + folder.resolve("x.npy"), "--feed",
                "y=" + folder.resolve("y.npy"));
    }
}
