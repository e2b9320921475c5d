package io.seriatim.graph.format;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import io.seriatim.tensor.FileFormatException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Reads protobuf fields with errors that give the byte offset. Lengths are checked against what is left before memory
 * is taken for them.
 */
final class WireReader {
    private final String source;
    private final long base;
    private final byte[] bytes;
    private final CodedInputStream in;
    private final int length;
    private int tag;
    private int start;
    private int contentStart;
    private int contentEnd;

    WireReader(String source, byte[] bytes) {
        this(source, bytes, 0);
    }

    /** Creates a reader; the offset of the first byte in the file is for messages. */
    WireReader(String source, byte[] bytes, long base) {
        this.source = source;
        this.base = base;
        this.bytes = bytes;
        this.length = bytes.length;
        this.in = CodedInputStream.newInstance(bytes);
    }

    /** Reads one field's value, or skips it. */
    interface Fields {
        /** Reads the value of a field; false for one that is not known. */
        boolean read(int field) throws IOException;

        /** Called behind each field, known or not, with the offset of its first byte. */
        default void passed(int field, int from) {
            // Most messages do not need the offsets.
        }
    }

    /** Reads the values of fields, and keeps the bytes of those that it is asked to keep. */
    abstract class Keeping implements Fields {
        private final ByteString.Output kept = ByteString.newOutput();

        /** Whether a field's bytes are kept. */
        abstract boolean keeps(int field);

        @Override
        public void passed(int field, int from) {
            if (keeps(field)) {
                kept.write(bytes, from, in.getTotalBytesRead() - from);
            }
        }

        ByteString kept() {
            return kept.toByteString();
        }
    }

    /** Reads all fields up to the end of the message. */
    void fields(Fields fields) throws IOException {
        try {
            while (!in.isAtEnd()) {
                start = in.getTotalBytesRead();
                tag = in.readTag();
                int field = WireFormat.getTagFieldNumber(tag);
                int of = tag;
                int from = start;
                if (!fields.read(field)) {
                    skip(of);
                }
                fields.passed(field, from);
            }
        } catch (InvalidProtocolBufferException e) {
            throw (FileFormatException) new FileFormatException(source, base + in.getTotalBytesRead(), reason(e))
                    .initCause(e);
        }
    }

    private static String reason(InvalidProtocolBufferException e) {
        String message = String.valueOf(e.getMessage());
        return message.contains("truncated") || message.contains("ended unexpectedly")
                ? "a field is longer than what is left: the file is cut off or not a program"
                : "not a protobuf message: " + message.lines().findFirst().orElse(message);
    }

    private void skip(int of) throws IOException {
        // Groups may nest without limit; Paddle's files have none.
        if (WireFormat.getTagWireType(of) > WireFormat.WIRETYPE_LENGTH_DELIMITED
                && WireFormat.getTagWireType(of) != WireFormat.WIRETYPE_FIXED32) {
            throw error("a field of the old kind 'group', which programs do not have");
        }
        in.skipField(of);
    }

    void message(Fields fields) throws IOException {
        expect(WireFormat.WIRETYPE_LENGTH_DELIMITED);
        int size = size();
        int limit = in.pushLimit(size);
        int from = in.getTotalBytesRead();
        fields(fields);
        in.popLimit(limit);
        contentStart = from;
        contentEnd = from + size;
    }

    /** The content of the message whose reading ended last. */
    ByteString content() {
        return ByteString.copyFrom(bytes, contentStart, contentEnd - contentStart);
    }

    private int size() throws IOException {
        int size = in.readRawVarint32();
        int left = in.getBytesUntilLimit() >= 0 ? in.getBytesUntilLimit() : length - in.getTotalBytesRead();
        if (size < 0 || size > left) {
            throw error("a length of " + Integer.toUnsignedString(size) + " bytes where " + left
                    + " are left: the file is cut off or not a program");
        }
        return size;
    }

    private void expect(int wireType) throws IOException {
        int found = WireFormat.getTagWireType(tag);
        if (found != wireType) {
            throw error("field " + WireFormat.getTagFieldNumber(tag) + " has wire type " + found + ", but must have "
                    + wireType);
        }
    }

    String text() throws IOException {
        expect(WireFormat.WIRETYPE_LENGTH_DELIMITED);
        int size = size();
        byte[] bytes = in.readRawBytes(size);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw (FileFormatException) error("a text that is not UTF-8").initCause(e);
        }
    }

    int int32() throws IOException {
        expect(WireFormat.WIRETYPE_VARINT);
        return in.readInt32();
    }

    long int64() throws IOException {
        expect(WireFormat.WIRETYPE_VARINT);
        return in.readInt64();
    }

    boolean bool() throws IOException {
        expect(WireFormat.WIRETYPE_VARINT);
        return in.readBool();
    }

    float real() throws IOException {
        expect(WireFormat.WIRETYPE_FIXED32);
        return in.readFloat();
    }

    double float64() throws IOException {
        expect(WireFormat.WIRETYPE_FIXED64);
        return in.readDouble();
    }

    /** Reads one element of a repeated field. */
    interface Element {
        /** Reads one. */
        void read() throws IOException;
    }

    /** A repeated scalar: one element, or, packed, several. */
    void repeated(int wireType, Element element) throws IOException {
        if (WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
            int limit = in.pushLimit(size());
            tag = WireFormat.WIRETYPE_LENGTH_DELIMITED;
            while (in.getBytesUntilLimit() > 0) {
                tag = wireType;
                element.read();
            }
            in.popLimit(limit);
        } else {
            element.read();
        }
    }

    /** The offset of the field that is being read. */
    int offset() {
        return start;
    }

    FileFormatException error(String rule) {
        return new FileFormatException(source, base + start, rule);
    }

    FileFormatException error(int offset, String rule) {
        return new FileFormatException(source, base + offset, rule);
    }
}
