package io.seriatim.tensor;

import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/**
 * Writes files that are complete or absent: under a temporary name in the same folder, forced to the disk and moved
 * into place.
 */
public final class AtomicFile {
    private static final int CHUNK = 1 << 16;

    private AtomicFile() {
    }

    /** Writes the bytes of a file. */
    @FunctionalInterface
    public interface Content {
        /**
         * Writes them.
         *
         * @param out
         *            buffered; need not be flushed
         * @throws IOException if that fails; then the previous file is unchanged
         */
        void write(OutputStream out) throws IOException;
    }

    /** Writes the characters of a file. */
    @FunctionalInterface
    public interface Text {
        /**
         * Writes them.
         *
         * @param out
         *            buffered; need not be flushed
         * @throws IOException if that fails; then the previous file is unchanged
         */
        void write(Writer out) throws IOException;
    }

    /**
     * Writes a file.
     *
     * @param file
     *            the file, which is created or replaced; its folder must exist
     * @param content
     *            writes the bytes
     * @throws IOException if that fails; then the previous file is unchanged, and no other file is left
     */
    public static void write(Path file, Content content) throws IOException {
        Path target = file.toAbsolutePath();
        Path folder = target.getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            throw new NoSuchFileException(file.toString(), null, "its folder is not there: make it first");
        }
        // Not one of the system's temporary files, whose rights would keep other users from reading it once it is in
        // place. Its name does not contain the target's, which may have the maximum length.
        Path temporary = target.resolveSibling("." + UUID.randomUUID() + ".part");
        try {
            try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW,
                    StandardOpenOption.WRITE)) {
                OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel), CHUNK) {
                    @Override
                    public void close() throws IOException {
                        // Streams around it, such as a zip, close it; the channel is still needed.
                        flush();
                    }
                };
                content.write(out);
                out.flush();
                channel.force(true);
            }
            Files.move(temporary, target, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            throw e;
        } catch (IOException e) {
            // A full disk is reported without the file's name.
            FileSystemException failure = new FileSystemException(file.toString(), null,
                    "it could not be written: " + e.getMessage());
            failure.initCause(e);
            throw failure;
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /**
     * Writes a file of text, in UTF-8.
     *
     * @param file
     *            the file, which is created or replaced; its folder must exist
     * @param text
     *            writes the characters
     * @throws IOException if that fails; then the previous file is unchanged, and no other file is left
     */
    public static void writeText(Path file, Text text) throws IOException {
        write(file, out -> {
            Writer writer = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
            text.write(writer);
            writer.flush();
        });
    }
}
