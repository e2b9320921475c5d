package io.seriatim.executor.trace;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Writes a file beside the given one and moves it into place, so that no one reads half of it. */
final class WholeFile {
    /** What is written. */
    interface Content {
        /** Writes it. */
        void write(Writer out) throws IOException;
    }

    private WholeFile() {
    }

    static void write(Path file, Content content) throws IOException {
        Path whole = file.toAbsolutePath();
        Path partial = whole.resolveSibling(whole.getFileName() + ".partial");
        try {
            try (Writer out = Files.newBufferedWriter(partial, StandardCharsets.UTF_8)) {
                content.write(out);
            }
            Files.move(partial, whole, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(partial);
        }
    }
}
