package io.seriatim.onnx;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A protobuf message as a tree that tests change field by field, whether or not that makes sense. */
final class WireMessage {
    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int BYTES = 2;
    static final int FIXED32 = 5;

    /** The messages of ONNX, and which of their fields are messages. */
    enum Kind {
        MODEL, GRAPH, OPSET, FUNCTION, NODE, ATTRIBUTE, TENSOR, VALUE, TYPE, TENSOR_TYPE, ELEMENT, SHAPE, DIMENSION;

        Map<Integer, Kind> messages() {
            return switch (this) {
                case MODEL -> Map.of(7, GRAPH, 8, OPSET, 25, FUNCTION);
                case GRAPH -> Map.of(1, NODE, 5, TENSOR, 11, VALUE, 12, VALUE);
                case FUNCTION -> Map.of(7, NODE, 9, OPSET);
                case NODE -> Map.of(5, ATTRIBUTE);
                case ATTRIBUTE -> Map.of(5, TENSOR, 6, GRAPH, 14, TYPE);
                case VALUE -> Map.of(2, TYPE);
                case TYPE -> Map.of(1, TENSOR_TYPE, 4, ELEMENT, 9, ELEMENT);
                case ELEMENT -> Map.of(1, TYPE);
                case TENSOR_TYPE -> Map.of(2, SHAPE);
                case SHAPE -> Map.of(1, DIMENSION);
                case OPSET, TENSOR, DIMENSION -> Map.of();
            };
        }
    }

    /** A field: a number, bytes, or a message (a {@link Long}, {@code byte[]} or {@link WireMessage}). */
    record Field(int number, int wireType, Object value) {
    }

    final List<Field> fields = new ArrayList<>();

    static WireMessage parse(byte[] bytes, Kind kind) {
        WireMessage message = new WireMessage();
        int[] at = {0};
        while (at[0] < bytes.length) {
            long tag = varint(bytes, at);
            int number = (int) (tag >>> 3);
            int wireType = (int) (tag & 7);
            Object value = switch (wireType) {
                case VARINT -> varint(bytes, at);
                case FIXED64 -> fixed(bytes, at, Long.BYTES);
                case FIXED32 -> fixed(bytes, at, Integer.BYTES);
                default -> part(bytes, at, kind.messages().get(number));
            };
            message.fields.add(new Field(number, wireType, value));
        }
        return message;
    }

    private static Object part(byte[] bytes, int[] at, @Nullable Kind kind) {
        int length = (int) varint(bytes, at);
        byte[] part = Arrays.copyOfRange(bytes, at[0], at[0] + length);
        at[0] += length;
        return kind == null ? part : parse(part, kind);
    }

    private static long varint(byte[] bytes, int[] at) {
        long value = 0;
        for (int shift = 0;; shift += 7) {
            byte next = bytes[at[0]++];
            value |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }

    private static long fixed(byte[] bytes, int[] at, int count) {
        long value = 0;
        for (int i = 0; i < count; i++) {
            value |= (bytes[at[0]++] & 0xffL) << (8 * i);
        }
        return value;
    }

    /** What a graph says of a value: a tensor of a type, whose dimensions below 0 are unknown. */
    static WireMessage value(String name, int type, long... dims) {
        WireMessage shape = new WireMessage();
        for (long dim : dims) {
            shape.message(1, dim < 0 ? new WireMessage() : new WireMessage().number(1, dim));
        }
        return new WireMessage().text(1, name).message(2, new WireMessage().message(1,
                new WireMessage().number(1, type).message(2, shape)));
    }

    /** A model of a graph, with a version of ONNX's own operators. */
    static WireMessage model(WireMessage graph, long version) {
        return new WireMessage().number(1, 8).message(8, new WireMessage().text(1, "").number(2, version)).message(7,
                graph);
    }

    WireMessage number(int field, long value) {
        fields.add(new Field(field, VARINT, value));
        return this;
    }

    WireMessage text(int field, String value) {
        fields.add(new Field(field, BYTES, value.getBytes(StandardCharsets.UTF_8)));
        return this;
    }

    WireMessage texts(int field, String... values) {
        for (String value : values) {
            text(field, value);
        }
        return this;
    }

    WireMessage real(int field, float value) {
        fields.add(new Field(field, FIXED32, (long) Float.floatToRawIntBits(value)));
        return this;
    }

    WireMessage bytes(int field, byte[] value) {
        fields.add(new Field(field, BYTES, value));
        return this;
    }

    WireMessage message(int field, WireMessage value) {
        fields.add(new Field(field, BYTES, value));
        return this;
    }

    /** This message and all within it. */
    List<WireMessage> all() {
        List<WireMessage> all = new ArrayList<>(List.of(this));
        for (Field field : fields) {
            if (field.value instanceof WireMessage inner) {
                all.addAll(inner.all());
            }
        }
        return all;
    }

    byte[] toBytes() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Field field : fields) {
            varint(out, (long) field.number << 3 | field.wireType);
            switch (field.value) {
                case Long number when field.wireType == VARINT -> varint(out, number);
                case Long number -> {
                    for (int i = 0; i < (field.wireType == FIXED64 ? Long.BYTES : Integer.BYTES); i++) {
                        out.write((int) (number >>> (8 * i)));
                    }
                }
                case WireMessage inner -> part(out, inner.toBytes());
                default -> part(out, (byte[]) field.value);
            }
        }
        return out.toByteArray();
    }

    private static void part(ByteArrayOutputStream out, byte[] bytes) {
        varint(out, bytes.length);
        out.writeBytes(bytes);
    }

    private static void varint(ByteArrayOutputStream out, long value) {
        long left = value;
        while ((left & ~0x7fL) != 0) {
            out.write((int) ((left & 0x7f) | 0x80));
            left >>>= 7;
        }
        out.write((int) left);
    }
}
