package io.seriatim.train.metrics;

import com.google.errorprone.annotations.Var;
import io.seriatim.tensor.InputFiles;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads a file written by {@link JsonLines}, line by line. An incomplete last line is ignored. */
final class MetricsReader implements AutoCloseable {
    private final Path file;
    private final InputStream in;
    private long number;
    private long position;

    MetricsReader(Path file) throws IOException {
        this.file = file;
        this.in = new BufferedInputStream(Files.newInputStream(InputFiles.requireRegular(file)), 1 << 16);
    }

    /** Returns the next line, or null at the end. */
    @Nullable
    JsonLine next() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
        @Var
        int b = in.read();
        while (b >= 0 && b != '\n') {
            bytes.write(b);
            b = in.read();
        }
        if (b < 0) {
            return null;
        }
        number++;
        position += bytes.size() + 1L;
        return parse(bytes.toString(StandardCharsets.UTF_8));
    }

    /** Returns the number of bytes up to the end of the last line read. */
    long position() {
        return position;
    }

    /** Creates an error that names the current line. */
    IOException wrong(IllegalArgumentException e) {
        return new IOException(
                "Line " + number + " of " + file + " must be one that a training has written, but " + e.getMessage()
                        + ": delete it, or move the file away",
                e);
    }

    private JsonLine parse(String line) throws IOException {
        try {
            JsonLine read = JsonLine.parse(line);
            read.text("event");
            read.whole("step");
            return read;
        } catch (IllegalArgumentException e) {
            throw wrong(e);
        }
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
