package io.seriatim.cli;

import io.seriatim.cli.text.PrintableWriter;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;

/**
 * The standard error stream of the process, for output that does not come from commands: logs, warnings of the command
 * line parser, and stack traces of threads. It escapes the same characters as {@link PrintableWriter}.
 */
final class PrintableStream extends OutputStream {
    private final PrintWriter to;
    private final CharsetDecoder decoder;
    /** The bytes of an incomplete character. */
    private final ByteBuffer bytes = ByteBuffer.allocate(1024);
    private final CharBuffer chars = CharBuffer.allocate(1024);

    private PrintableStream(PrintStream raw) {
        to = new PrintableWriter(new PrintWriter(raw, false, raw.charset()));
        decoder = raw.charset().newDecoder().onMalformedInput(CodingErrorAction.REPLACE)
                .onUnmappableCharacter(CodingErrorAction.REPLACE);
    }

    static PrintStream of(PrintStream raw) {
        return new PrintStream(new PrintableStream(raw), true, raw.charset());
    }

    @Override
    public void write(int b) {
        write(new byte[]{(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] all, int offset, int length) {
        for (int from = offset; from < offset + length;) {
            int count = Math.min(bytes.remaining(), offset + length - from);
            bytes.put(all, from, count).flip();
            decoder.decode(bytes, chars, false);
            bytes.compact();
            to.write(chars.array(), 0, chars.position());
            chars.clear();
            from += count;
        }
    }

    @Override
    public void flush() {
        to.flush();
    }
}
