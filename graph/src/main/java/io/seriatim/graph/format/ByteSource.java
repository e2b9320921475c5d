package io.seriatim.graph.format;

import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;

/**
 * Little-endian bytes whose number is known before they are read. Callers check {@link #remaining} before they allocate
 * memory.
 */
final class ByteSource {
    /** The most bytes of one read: buffers count with int. */
    private static final long MOST = 1 << 30;

    private final String file;
    private final ReadableByteChannel channel;
    private final long size;
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private String part = "";
    private long position;

    ByteSource(String file, ReadableByteChannel channel, long size) {
        this.file = file;
        this.channel = channel;
        this.size = size;
    }

    /** Names the data that is read from now on, for messages. */
    void part(String name) {
        part = name.isEmpty() ? "" : " (" + name + ")";
    }

    String name() {
        return file + part;
    }

    long position() {
        return position;
    }

    long remaining() {
        return size - position;
    }

    FileFormatException error(long offset, String rule) {
        return new FileFormatException(name(), offset, rule);
    }

    int int32() throws IOException {
        return number(Integer.BYTES).getInt();
    }

    long int64() throws IOException {
        return number(Long.BYTES).getLong();
    }

    private ByteBuffer number(int bytes) throws IOException {
        requireLeft(bytes, "a number");
        fill(number.clear().limit(bytes));
        return number.flip();
    }

    byte[] bytes(int count, String what) throws IOException {
        requireLeft(count, what);
        byte[] bytes = new byte[count];
        fill(ByteBuffer.wrap(bytes));
        return bytes;
    }

    /** Fills memory, without a copy where the channel is a file's. */
    void fill(MemorySegment memory) throws IOException {
        long bytes = memory.byteSize();
        for (long at = 0; at < bytes; at += MOST) {
            fill(memory.asSlice(at, Math.min(MOST, bytes - at)).asByteBuffer());
        }
    }

    private void fill(ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            int count = channel.read(buffer);
            if (count < 0) {
                throw error(position, "the end of the file, which had " + size + " bytes when it was opened");
            }
            position += count;
        }
    }

    void requireLeft(long count, String what) throws IOException {
        if (count > remaining()) {
            throw error(position,
                    what + " of " + count + " bytes where " + remaining()
                            + " are left: the file is cut off or of another kind");
        }
    }

    void requireEnd(String what) throws IOException {
        if (remaining() != 0) {
            throw error(position, "the file must end after " + what + ", but " + remaining() + " bytes follow");
        }
    }
}
