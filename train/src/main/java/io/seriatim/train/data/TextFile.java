package io.seriatim.train.data;

import java.io.IOException;
import java.nio.file.Path;

/** Text in UTF-8. */
public final class TextFile {
    private TextFile() {
    }

    /**
     * Reads a file, or all {@code *.txt} of a folder in the order of their names. The last tenth of the text, by position, is for validation.
     *
     * @param path
     *            a file of any name, or a folder
     * @return of at least 20 characters in all
     * @throws io.seriatim.tensor.FileFormatException
     *             if it is not in UTF-8, or too short
     * @throws IOException
     *             if it cannot be read
     */
    public static TextData read(Path path) throws IOException {
        throw new IOException("not yet");
    }
}
