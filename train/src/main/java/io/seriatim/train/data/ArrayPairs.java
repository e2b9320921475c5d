package io.seriatim.train.data;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Examples as arrays of numbers, x, with labels, y. Fields: {@code x}, the shape of one example, and {@code y}. Whole numbers as labels are classes: INT64 [1]. Labels of a floating type are values: FLOAT32 [values].
 *
 * <ul>
 * <li>A folder with {@code x.npy} and {@code y.npy}, or with {@code train_x.npy}, {@code train_y.npy}, {@code test_x.npy} and {@code test_y.npy}; {@code x_train.npy} and so on do as well.
 * <li>An {@code .npz} file with arrays of such names.
 * <li>A {@code .csv} file: numbers with commas between them, the last column is the label; the first line may be a header.
 * <li>A folder with {@code train.csv} and {@code test.csv}, or with a single {@code .npz} or {@code .csv} file.
 * </ul>
 *
 * The test examples are for validation. Without them, every tenth example is. x of type float, uint8 or bool is given as FLOAT32, of other whole numbers as INT64.
 */
public final class ArrayPairs {
    private ArrayPairs() {
    }

    /**
     * Reads them.
     *
     * @param path
     *            a file or folder, as above
     * @return the examples
     * @throws io.seriatim.tensor.FileFormatException
     *             if a file is not what it should be: for a {@code .csv} file, with line and column
     * @throws IOException
     *             if a file cannot be read
     */
    public static LabelledData read(Path path) throws IOException {
        throw new IOException("not yet");
    }
}
