package io.seriatim.cli;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import org.jspecify.annotations.Nullable;

/** The standard output of the process. Unlike {@link PrintStream}, it keeps the exception of a failed write. */
final class StandardOutput extends OutputStream {
    private final OutputStream out;
    private volatile @Nullable IOException failure;

    private StandardOutput(OutputStream out) {
        this.out = out;
    }

    /** Replaces {@code System.out}. */
    static StandardOutput install() {
        StandardOutput standard = new StandardOutput(
                new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
        System.setOut(new PrintStream(standard, true, System.out.charset()));
        return standard;
    }

    /** The exception of the first write or flush that failed; null if all succeeded. */
    @Nullable
    IOException failure() {
        return failure;
    }

    /** Returns whether the reader has closed the pipe, as {@code head} does, which is not an error. */
    static boolean isClosedByReader(IOException failure) {
        return String.valueOf(failure.getMessage()).contains("Broken pipe");
    }

    @Override
    public void write(int b) throws IOException {
        guard(() -> out.write(b));
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
        guard(() -> out.write(bytes, from, count));
    }

    @Override
    public void flush() throws IOException {
        guard(out::flush);
    }

    private interface Action {
        void run() throws IOException;
    }

    private void guard(Action action) throws IOException {
        try {
            action.run();
        } catch (IOException e) {
            if (failure == null) {
                failure = e;
            }
            throw e;
        }
    }
}
