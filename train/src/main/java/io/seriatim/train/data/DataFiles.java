package io.seriatim.train.data;

import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Recognises what a file or folder holds. */
public final class DataFiles {
    private DataFiles() {
    }

    /**
     * Reads a file or folder of any of the kinds that are known. If a folder holds several kinds, it is the first of
     * {@link IdxFiles}, {@link ArrayPairs} and {@link TextFile}. A file is a pair of arrays if it begins as an
     * {@code .npz} file does or its name ends in {@code .csv}, and otherwise text.
     *
     * @param path
     *            a file or a folder
     * @return what it holds
     * @throws FileFormatException
     *             if a file is not what it should be, or a folder holds none of what was looked for
     * @throws NoSuchFileException
     *             if there is none
     * @throws IOException
     *             if it cannot be read
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

    /** With a message that says it in words. */
    static void requireExists(Path path) throws NoSuchFileException {
        if (!Files.exists(path)) {
            throw new NoSuchFileException(path.toString(), null, "there is no such file or folder");
        }
    }
}
