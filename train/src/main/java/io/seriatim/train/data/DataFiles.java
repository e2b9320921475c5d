package io.seriatim.train.data;

import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Recognises the format of a file or folder. */
public final class DataFiles {
    private DataFiles() {
    }

    /**
     * Reads a file or folder of any known format. If a folder contains several formats, the first of {@link IdxFiles},
     * {@link ArrayPairs} and {@link TextFile} is used. A file is read as arrays if it begins like an {@code .npz} file
     * or its name ends with {@code .npz} or {@code .csv}, and otherwise as text.
     *
     * @param path
     *            a file or a folder
     * @return the data
     * @throws FileFormatException
     *             if a file is invalid, or a folder contains no known format
     * @throws NoSuchFileException
     *             if the file or folder does not exist
     * @throws IOException
     *             if a file cannot be read
     */
    public static Data open(Path path) throws IOException {
        requireExists(path);
        if (!Files.isDirectory(path)) {
            return openFile(path);
        }
        if (IdxFiles.isIn(path)) {
            return IdxFiles.read(path);
        }
        if (ArrayPairs.isIn(path)) {
            return ArrayPairs.read(path);
        }
        if (!TextFile.filesOf(path).isEmpty()) {
            return TextFile.read(path);
        }
        throw new FileFormatException(path.toString(),
                "the folder has no data: looked for MNIST's files (" + IdxFiles.WANTED + "), arrays ("
                        + ArrayPairs.WANTED
                        + ") and text (*.txt)");
    }

    private static Data openFile(Path file) throws IOException {
        if (IdxArray.is(file)) {
            throw new FileFormatException(file.toString(),
                    "a file of images or labels is not enough: name the folder that holds both, as " + IdxFiles.WANTED);
        }
        if (ArrayPairs.isNpy(file)) {
            throw new FileFormatException(file.toString(),
                    "a single array is not enough: name the folder that holds " + ArrayPairs.WANTED);
        }
        return ArrayPairs.isPair(file) ? ArrayPairs.read(file) : TextFile.read(file);
    }

    /** Throws an exception with a readable message if a file or folder does not exist. */
    static void requireExists(Path path) throws NoSuchFileException {
        if (!Files.exists(path)) {
            throw new NoSuchFileException(path.toString(), null, "there is no such file or folder");
        }
    }
}
