package io.seriatim.graph.util;

import io.seriatim.device.Devices;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;

/**
 * Little-endian bytes whose number is known before they are read. Callers check {@link #remaining} before they allocate
 * memory.
 */
public final class ByteSource {
    /** The most bytes of one read: buffers count with int. */
    private static final long MOST = 1 << 30;

    private final String file;
    private final ReadableByteChannel channel;
    private final long size;
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private String part = "";
    private long position;

    /**
     * Creates a source.
     *
     * @param file
     *            its name, for messages
     * @param channel
     *            what is read, from its position on
     * @param size
     *            the number of bytes
     */
    public ByteSource(String file, ReadableByteChannel channel, long size) {
        this.file = file;
        this.channel = channel;
        this.size = size;
    }

    /**
     * Names the data that is read from now on, for messages.
     *
     * @param name
     *            empty for none
     */
    public void part(String name) {
        part = name.isEmpty() ? "" : " (" + name + ")";
    }

    /**
     * The source with the part that is read.
     *
     * @return for messages
     */
    public String name() {
        return file + part;
    }

    /**
     * The number of bytes that were read.
     *
     * @return from 0 on
     */
    public long position() {
        return position;
    }

    /**
     * The number of bytes that are left.
     *
     * @return from 0 on
     */
    public long remaining() {
        return size - position;
    }

    /**
     * An error of the data.
     *
     * @param offset
     *            where it is
     * @param rule
     *            the rule, and what was found instead
     * @return the error, which is not thrown
     */
    public FileFormatException error(long offset, String rule) {
        return new FileFormatException(name(), offset, rule);
    }

    /**
     * Reads a number of 32 bits.
     *
     * @return the number
     * @throws IOException
     *             if fewer bytes are left, or they cannot be read
     */
    public int int32() throws IOException {
        return int32("a number");
    }

    /**
     * Reads a number of 32 bits.
     *
     * @param what
     *            what it is, for messages
     * @return the number
     * @throws IOException
     *             if fewer bytes are left, or they cannot be read
     */
    public int int32(String what) throws IOException {
        return number(Integer.BYTES, what).getInt();
    }

    /**
     * Reads a number of 64 bits.
     *
     * @return the number
     * @throws IOException
     *             if fewer bytes are left, or they cannot be read
     */
    public long int64() throws IOException {
        return int64("a number");
    }

    /**
     * Reads a number of 64 bits.
     *
     * @param what
     *            what it is, for messages
     * @return the number
     * @throws IOException
     *             if fewer bytes are left, or they cannot be read
     */
    public long int64(String what) throws IOException {
        return number(Long.BYTES, what).getLong();
    }

    private ByteBuffer number(int bytes, String what) throws IOException {
        requireLeft(bytes, what);
        fill(number.clear().limit(bytes));
        return number.flip();
    }

    /**
     * Reads bytes.
     *
     * @param count
     *            how many
     * @param what
     *            what they are, for messages
     * @return the bytes
     * @throws IOException
     *             if fewer bytes are left, or they cannot be read
     */
    public byte[] bytes(int count, String what) throws IOException {
        requireLeft(count, what);
        byte[] bytes = new byte[count];
        fill(ByteBuffer.wrap(bytes));
        return bytes;
    }

    /**
     * Reads the elements of a tensor in row-major order; callers have checked that so many bytes are left.
     *
     * @param spec
     *            its type and shape
     * @return a tensor of the host, which belongs to the caller
     * @throws IOException
     *             if the bytes cannot be read
     */
    public Tensor tensor(TensorSpec spec) throws IOException {
        Tensor tensor = Tensor.allocate(Devices.system().host(), spec);
        boolean whole = false;
        try {
            MemorySegment memory = tensor.buffer().declared().segment();
            fill(memory);
            if (spec.dtype() == DType.BOOL) {
                normalize(memory);
            }
            whole = true;
        } finally {
            if (!whole) {
                tensor.close();
            }
        }
        return tensor;
    }

    /** Any byte but 0 is true; kernels need 1. */
    private static void normalize(MemorySegment memory) {
        for (long at = 0; at < memory.byteSize(); at++) {
            if (memory.get(ValueLayout.JAVA_BYTE, at) != 0) {
                memory.set(ValueLayout.JAVA_BYTE, at, (byte) 1);
            }
        }
    }

    /** Fills memory, without a copy where the channel is a file's. */
    private void fill(MemorySegment memory) throws IOException {
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

    /**
     * Checks that bytes are left.
     *
     * @param count
     *            how many
     * @param what
     *            what they are, for messages
     * @throws IOException
     *             if fewer are left
     */
    public void requireLeft(long count, String what) throws IOException {
        if (count > remaining()) {
            throw error(position,
                    what + " of " + count + " bytes where " + remaining()
                            + " are left: the file is cut off or of another kind");
        }
    }

    /**
     * Checks that nothing is left.
     *
     * @param what
     *            what was last, for messages
     * @throws IOException
     *             if something is left
     */
    public void requireEnd(String what) throws IOException {
        if (remaining() != 0) {
            throw error(position, "the file must end after " + what + ", but " + remaining() + " bytes follow");
        }
    }
}
