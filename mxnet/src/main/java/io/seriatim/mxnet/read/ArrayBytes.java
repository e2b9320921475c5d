package io.seriatim.mxnet.read;

import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Little-endian bytes of a file whose size is known: each size that the file gives is compared with what is left. */
final class ArrayBytes {
    /** The most bytes of one read: buffers count with int. */
    private static final long MOST = 1 << 30;
    private static final int MOST_TEXT = 1 << 16;

    private final String file;
    private final ReadableByteChannel channel;
    private final long size;
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long position;

    ArrayBytes(String file, ReadableByteChannel channel, long size) {
        this.file = file;
        this.channel = channel;
        this.size = size;
    }

    long position() {
        return position;
    }

    FileFormatException error(long offset, String rule) {
        return new FileFormatException(file, offset, rule);
    }

    int int32(String what) throws IOException {
        return number(Integer.BYTES, what).getInt();
    }

    long int64(String what) throws IOException {
        return number(Long.BYTES, what).getLong();
    }

    private ByteBuffer number(int bytes, String what) throws IOException {
        requireLeft(bytes, what);
        fill(number.clear().limit(bytes));
        return number.flip();
    }

    /** A number of things that follow, each of at least some bytes. */
    long count(String what, int least) throws IOException {
        long at = position;
        long count = int64("the number of " + what);
        if (count < 0 || count > (size - position) / least) {
            throw error(at, Long.toUnsignedString(count) + " " + what + " where " + (size - position)
                    + " bytes are left: the file is cut off or of another kind");
        }
        return count;
    }

    String text(String what) throws IOException {
        long at = position;
        long length = int64("the length of " + what);
        if (length < 0 || length > MOST_TEXT) {
            throw error(at, what + " has from 0 to " + MOST_TEXT + " bytes, but has " + Long.toUnsignedString(length));
        }
        requireLeft(length, what);
        long start = position;
        byte[] bytes = new byte[(int) length];
        fill(ByteBuffer.wrap(bytes));
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw (FileFormatException) error(start, what + " must be UTF-8, but is not").initCause(e);
        }
    }

    /** Fills memory straight from the file. */
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
        if (count > size - position) {
            throw error(position, what + " of " + count + " bytes where " + (size - position)
                    + " are left: the file is cut off or of another kind");
        }
    }

    void requireEnd() throws IOException {
        if (position != size) {
            throw error(position, "the file must end after the names, but " + (size - position) + " bytes follow");
        }
    }
}
