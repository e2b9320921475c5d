package io.seriatim.train.data;

import java.io.IOException;
import java.nio.file.Path;

/** Recognises what a file or folder holds. */
public final class DataFiles {
    private DataFiles() {
    }

    /**
     * Reads a file or folder of any of the kinds that are known: {@link IdxFiles}, {@link ArrayPairs}, {@link TextFile}, in this order if a folder holds several.
     *
     * @param path
     *            a file: {@code .npz}, {@code .csv}, or text; or a folder
     * @return what it holds
     * @throws io.seriatim.tensor.FileFormatException
     *             if a file is not what it should be, or a folder holds none of what was looked for
     * @throws java.nio.file.NoSuchFileException
     *             if there is none
     * @throws IOException
     *             if it cannot be read
     */
    public static Data open(Path path) throws IOException {
        throw new IOException("not yet");
    }
}
