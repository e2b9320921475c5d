package io.seriatim.onnx.emit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A protobuf message that is being written: bytes, and views of tensors, which are copied only to the file.
 *
 * @see <a href="https://protobuf.dev/programming-guides/encoding/">the encoding of protobuf</a>
 */
final class WireOutput {
    private static final int VARINT = 0;
    private static final int BYTES = 2;
    private static final int FIXED32 = 5;
    private static final int CHUNK = 1 << 16;

    private final List<MemorySegment> parts = new ArrayList<>();
    private ByteArrayOutputStream open = new ByteArrayOutputStream();
    private long size;

    private void varint(long value) {
        long left = value;
        while ((left & ~0x7fL) != 0) {
            write((int) ((left & 0x7f) | 0x80));
            left >>>= 7;
        }
        write((int) left);
    }

    private void write(int value) {
        open.write(value);
        size++;
    }

    private void tag(int field, int wireType) {
        varint(((long) field << 3) | wireType);
    }

    WireOutput int64(int field, long value) {
        tag(field, VARINT);
        varint(value);
        return this;
    }

    WireOutput float32(int field, float value) {
        tag(field, FIXED32);
        int bits = Float.floatToRawIntBits(value);
        for (int i = 0; i < Integer.BYTES; i++) {
            write((bits >>> (8 * i)) & 0xff);
        }
        return this;
    }

    WireOutput text(int field, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        tag(field, BYTES);
        varint(bytes.length);
        open.writeBytes(bytes);
        size += bytes.length;
        return this;
    }

    /** The bytes of a tensor, which must not change until the message is written. */
    WireOutput raw(int field, MemorySegment bytes) {
        tag(field, BYTES);
        varint(bytes.byteSize());
        close();
        parts.add(bytes);
        size += bytes.byteSize();
        return this;
    }

    WireOutput message(int field, WireOutput message) {
        tag(field, BYTES);
        varint(message.size);
        close();
        message.close();
        parts.addAll(message.parts);
        size += message.size;
        return this;
    }

    private void close() {
        if (open.size() > 0) {
            parts.add(MemorySegment.ofArray(open.toByteArray()));
            open = new ByteArrayOutputStream();
        }
    }

    void writeTo(OutputStream out) throws IOException {
        close();
        for (MemorySegment part : parts) {
            write(part, out);
        }
    }

    static void write(MemorySegment bytes, OutputStream out) throws IOException {
        byte[] chunk = new byte[(int) Math.min(CHUNK, bytes.byteSize())];
        for (long at = 0; at < bytes.byteSize(); at += CHUNK) {
            int count = (int) Math.min(CHUNK, bytes.byteSize() - at);
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, at, chunk, 0, count);
            out.write(chunk, 0, count);
        }
    }
}
