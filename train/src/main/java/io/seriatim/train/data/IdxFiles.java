package io.seriatim.train.data;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Images in the format IDX of MNIST and Fashion-MNIST, plain or compressed by gzip, whatever the names say. Fields: {@code image}, FLOAT32 [1, height, width], with pixels from −1 (0) to 1 (255), and
 * {@code label}, INT64 [1].
 */
public final class IdxFiles {
    private IdxFiles() {
    }

    /**
     * Reads a folder with the ten classes of MNIST or Fashion-MNIST.
     *
     * @param folder
     *            as for {@link #read(Path, int)}
     * @return the images
     * @throws io.seriatim.tensor.FileFormatException
     *             if a file is not what it should be
     * @throws IOException
     *             if a file cannot be read
     */
    public static LabelledData read(Path folder) throws IOException {
        return read(folder, 10);
    }

    /**
     * Reads a folder.
     *
     * @param folder
     *            {@code train-images-idx3-ubyte} and {@code train-labels-idx1-ubyte} to learn from, {@code t10k-images-idx3-ubyte} and {@code t10k-labels-idx1-ubyte} for validation; {@code .gz} may follow, and a dot may
     *            stand before {@code idx}. If there is only one of the two pairs, its last tenth is for validation
     * @param classes
     *            labels must be from 0 to one less; up to 256
     * @return the images
     * @throws io.seriatim.tensor.FileFormatException
     *             if a file is not what it should be
     * @throws IOException
     *             if a file cannot be read
     */
    public static LabelledData read(Path folder, int classes) throws IOException {
        throw new IOException("not yet");
    }
}
