package io.seriatim.tensor;

import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Writes files that are complete or absent: under a temporary name in the same folder, forced to the disk and moved
 * into place. A file that is not complete is deleted, also if the process ends by a signal; if the process is killed,
 * the next one that writes to the folder deletes it. {@link StagedFiles} does the same for files that belong together.
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
     * @throws IOException if that fails, something other than a file is in its place, or it is an input of the same
     *             command, see {@link InputFiles}; then the previous file is unchanged, and no other file is left
     */
    public static void write(Path file, Content content) throws IOException {
        Path target = file.toAbsolutePath();
        Path folder = target.getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            throw new NoSuchFileException(file.toString(), null, "its folder is not there: make it first");
        }
        StagedFiles.requireReplaceable(target);
        InputFiles.requireNotRead(target);
        // Not one of the system's temporary files, whose rights would keep other users from reading it once it is in
        // place. Its name does not contain the target's, which may have the maximum length.
        try (TemporaryFiles.Temporary temporary = TemporaryFiles.file(folder == null ? Path.of("") : folder)) {
            fill(file, temporary.channel(), content);
            temporary.publish(() -> Files.move(temporary.path(), target, StandardCopyOption.REPLACE_EXISTING,
                    StandardCopyOption.ATOMIC_MOVE));
        }
    }

    /** Writes the content of a file that is open under a temporary name, and forces it to the disk. */
    static void fill(Path file, SeekableByteChannel channel, Content content) throws IOException {
        OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel), CHUNK) {
            @Override
            public void close() throws IOException {
                // Streams around it, such as a zip, close it; the channel is still needed.
                flush();
            }
        };
        try {
            content.write(out);
            out.flush();
            if (channel instanceof FileChannel disk) {
                disk.force(true);
            }
        } catch (FileSystemException e) {
            throw e;
        } catch (IOException e) {
            // A full disk is reported without the file's name.
            FileSystemException failure = new FileSystemException(file.toString(), null,
                    "it could not be written: " + e.getMessage());
            failure.initCause(e);
            throw failure;
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
        write(file, encoded(text));
    }

    /** The bytes of a text. */
    static Content encoded(Text text) {
        return out -> {
            Writer writer = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
            text.write(writer);
            writer.flush();
        };
    }
}
