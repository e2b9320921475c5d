package io.seriatim.cli.text;

import io.seriatim.graph.util.Printable;
import java.io.PrintWriter;
import java.io.Writer;

/**
 * What commands print to: nothing that a terminal would obey passes, wherever it comes from. Lines may still be made
 * by whoever prints; names out of files that stand within a line are escaped there too, with
 * {@link Printable#of}, so that they make none.
 */
public final class PrintableWriter extends PrintWriter {
    private final PrintWriter raw;

    /**
     * A writer that escapes what terminals obey.
     *
     * @param raw
     *            where the escaped text goes
     */
    public PrintableWriter(PrintWriter raw) {
        super(new Escaping(raw));
        this.raw = raw;
    }

    /**
     * For those who redraw a line, and print nothing but their own words.
     *
     * @param writer
     *            that of a command
     * @return one that passes everything
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
        /** The first half of a pair, whose second half has not come yet. */
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
