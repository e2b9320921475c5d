package io.seriatim.benchmarks.onnx;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes a message in the wire format of protocol buffers. */
final class ProtobufMessage {
    private static final int VARINT = 0;
    private static final int DELIMITED = 2;
    private static final int FIXED_32 = 5;
    private static final int PAYLOAD_BITS = 7;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    private void varint(long value) {
        long rest = value;
        while (rest >>> PAYLOAD_BITS != 0) {
            bytes.write((int) (rest & 0x7f) | 0x80);
            rest >>>= PAYLOAD_BITS;
        }
        bytes.write((int) rest);
    }

    private void key(int field, int type) {
        varint((long) field << 3 | type);
    }

    ProtobufMessage number(int field, long value) {
        key(field, VARINT);
        varint(value);
        return this;
    }

    /** Not packed. */
    ProtobufMessage numbers(int field, long... values) {
        for (long value : values) {
            number(field, value);
        }
        return this;
    }

    ProtobufMessage real(int field, float value) {
        key(field, FIXED_32);
        int bits = Float.floatToIntBits(value);
        for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
            bytes.write(bits >> shift);
        }
        return this;
    }

    ProtobufMessage text(int field, String value) {
        return raw(field, value.getBytes(StandardCharsets.UTF_8));
    }

    ProtobufMessage message(int field, ProtobufMessage value) {
        return raw(field, value.toByteArray());
    }

    ProtobufMessage raw(int field, byte... value) {
        key(field, DELIMITED);
        varint(value.length);
        bytes.writeBytes(value);
        return this;
    }

    byte[] toByteArray() {
        return bytes.toByteArray();
    }
}
