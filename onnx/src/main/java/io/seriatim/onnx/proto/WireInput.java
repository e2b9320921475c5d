package io.seriatim.onnx.proto;

import io.seriatim.tensor.FileFormatException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Reads the fields of a protobuf message from memory. Messages within messages are views of the same memory, so that
 * the data of tensors is not copied.
 *
 * @see <a href="https://protobuf.dev/programming-guides/encoding/">the encoding of protobuf</a>
 */
final class WireInput {
    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int BYTES = 2;
    static final int FIXED32 = 5;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final String source;
    private final MemorySegment memory;
    private final long base;
    private long at;
    private int wireType;
    private int field;

    /** Creates a reader; the offset of the memory's first byte in the file is for messages. */
    WireInput(String source, MemorySegment memory, long base) {
        this.source = source;
        this.memory = memory;
        this.base = base;
    }

    FileFormatException error(String rule) {
        return new FileFormatException(source, base + at, rule);
    }

    /** The bytes that are left. */
    long left() {
        return memory.byteSize() - at;
    }

    /** Goes to the next field; its number, or 0 at the end of the message. */
    int next() throws FileFormatException {
        if (left() == 0) {
            return 0;
        }
        long tag = varint();
        wireType = (int) (tag & 7);
        long number = tag >>> 3;
        if (number == 0 || number > 0x1fff_ffff) {
            throw error("fields have numbers from 1 to 536870911, but this one has " + Long.toUnsignedString(number)
                    + ": the file is not a model of ONNX");
        }
        field = (int) number;
        return field;
    }

    private void expect(int type) throws FileFormatException {
        if (wireType != type) {
            throw error("field " + field + " has wire type " + wireType + ", but must have " + type
                    + ": the file is not a model of ONNX");
        }
    }

    private void require(long bytes) throws FileFormatException {
        if (bytes < 0 || bytes > left()) {
            throw error("a length of " + Long.toUnsignedString(bytes) + " bytes where " + left()
                    + " are left: the file is cut off or not a model of ONNX");
        }
    }

    private long varint() throws FileFormatException {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            require(1);
            byte next = memory.get(ValueLayout.JAVA_BYTE, at++);
            value |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw error("a number of more than 10 bytes: the file is not a model of ONNX");
    }

    long int64() throws FileFormatException {
        expect(VARINT);
        return varint();
    }

    int int32() throws FileFormatException {
        expect(VARINT);
        return (int) varint();
    }

    float float32() throws FileFormatException {
        expect(FIXED32);
        return Float.intBitsToFloat(fixed32());
    }

    private int fixed32() throws FileFormatException {
        require(Integer.BYTES);
        int value = memory.get(INT, at);
        at += Integer.BYTES;
        return value;
    }

    private long fixed64() throws FileFormatException {
        require(Long.BYTES);
        long value = memory.get(LONG, at);
        at += Long.BYTES;
        return value;
    }

    /** The bytes of a field, as a view. */
    MemorySegment bytes() throws FileFormatException {
        expect(BYTES);
        long length = varint();
        require(length);
        MemorySegment bytes = memory.asSlice(at, length);
        at += length;
        return bytes;
    }

    /** A message within this one. */
    WireInput message() throws FileFormatException {
        MemorySegment bytes = bytes();
        return new WireInput(source, bytes, base + at - bytes.byteSize());
    }

    String text() throws FileFormatException {
        return text(bytes());
    }

    private String text(MemorySegment bytes) throws FileFormatException {
        byte[] copy = bytes.toArray(ValueLayout.JAVA_BYTE);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(copy)).toString();
        } catch (CharacterCodingException e) {
            throw new FileFormatException(source, "texts are UTF-8, but the one that ends at byte " + (base + at)
                    + " is not", e);
        }
    }

    /** Appends the whole numbers of a repeated field: one, or packed several. */
    void int64s(Longs into) throws FileFormatException {
        if (wireType == BYTES) {
            WireInput packed = message();
            while (packed.left() > 0) {
                into.add(packed.varint());
            }
        } else {
            into.add(int64());
        }
    }

    /** Appends the bits of the 32-bit numbers of a repeated field: one, or packed several. */
    void fixed32s(Longs into) throws FileFormatException {
        if (wireType == BYTES) {
            WireInput packed = message();
            while (packed.left() > 0) {
                into.add(packed.fixed32());
            }
        } else {
            expect(FIXED32);
            into.add(fixed32());
        }
    }

    /** Appends the bits of the 64-bit numbers of a repeated field: one, or packed several. */
    void fixed64s(Longs into) throws FileFormatException {
        if (wireType == BYTES) {
            WireInput packed = message();
            while (packed.left() > 0) {
                into.add(packed.fixed64());
            }
        } else {
            expect(FIXED64);
            into.add(fixed64());
        }
    }

    /** Passes over a field that is not known. */
    void skip() throws FileFormatException {
        switch (wireType) {
            case VARINT -> varint();
            case FIXED64 -> fixed64();
            case BYTES -> bytes();
            case FIXED32 -> fixed32();
            default -> throw error("field " + field + " has wire type " + wireType
                    + ", which models of ONNX do not have");
        }
    }
}
