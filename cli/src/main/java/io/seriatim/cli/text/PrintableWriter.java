package io.seriatim.cli.text;

import io.seriatim.graph.util.Printable;
import java.io.PrintWriter;
import java.io.Writer;

/**
 * A writer for the output of commands, which escapes all control characters except line ends. Code that inserts names
 * from files into a line must escape them with {@link Printable#of}, so that they cannot contain line ends.
 */
public final class PrintableWriter extends PrintWriter {
    private final PrintWriter raw;

    /**
     * Creates an escaping writer.
     *
     * @param raw
     *            receives the escaped text
     */
    public PrintableWriter(PrintWriter raw) {
        super(new Escaping(raw));
        this.raw = raw;
    }

    /**
     * Returns the raw writer, for code that redraws lines and prints no text from files.
     *
     * @param writer
     *            the writer of a command
     * @return a writer without escaping
     */
    public static PrintWriter raw(PrintWriter writer) {
        return writer instanceof PrintableWriter printable ? printable.raw : writer;
    }

    @Override
    public boolean checkError() {
        boolean own = super.checkError();
        return raw.checkError() || own;
    }

    private static final class Escaping extends Writer {
        private final PrintWriter to;
        /** A high surrogate whose low surrogate has not been written yet. */
        private String half = "";

        Escaping(PrintWriter to) {
            this.to = to;
        }

        @Override
        public void write(char[] chars, int from, int length) {
            String text = half + new String(chars, from, length);
            half = "";
            if (!text.isEmpty() && Character.isHighSurrogate(text.charAt(text.length() - 1))) {
                half = text.substring(text.length() - 1);
                text = text.substring(0, text.length() - 1);
            }
            print(text);
        }

        private void print(String text) {
            to.write(Printable.lines(text).replace("\n", System.lineSeparator()));
        }

        @Override
        public void flush() {
            print(half);
            half = "";
            to.flush();
        }

        @Override
        public void close() {
            flush();
            to.close();
        }
    }
}
