package io.seriatim.graph.format;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/** Files that are there whole or not at all. */
final class AtomicFile {
    private AtomicFile() {
    }

    /** Writes the content of a file. */
    interface Content {
        /** Writes it. */
        void write(OutputStream out) throws IOException;
    }

    static void write(Path file, Content content) throws IOException {
        Path target = file.toAbsolutePath();
        Path folder = target.getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            throw new NoSuchFileException(file.toString(), null, "its folder is not there: make it first");
        }
        // Not a temporary file of the system's, which nobody else might read once it is in place.
        Path temporary = target.resolveSibling("." + target.getFileName() + "." + UUID.randomUUID() + ".part");
        try {
            try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 16);
                content.write(out);
                out.flush();
                channel.force(true);
            }
            Files.move(temporary, target, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }
}
