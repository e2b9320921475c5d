package io.seriatim.graph.format;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.WireFormat;
import io.seriatim.graph.program.Attribute;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Attributes of operations in framework.proto: OpDesc.Attr and Scalar. */
final class AttributeCodec {
    private static final int NONE = -1;

    private AttributeCodec() {
    }

    /** The fields of an attribute that is being read; which of them counts is said by its type. */
    private static final class Raw {
        String name = "";
        int type = NONE;
        int int32;
        float real;
        String text = "";
        boolean bool;
        long int64;
        int block;
        double float64;
        String variable = "";
        Attribute.ScalarNumber scalar = new Attribute.ScalarNumber.OfLong(0);
        final List<Integer> ints = new ArrayList<>();
        final List<Float> reals = new ArrayList<>();
        final List<String> texts = new ArrayList<>();
        final List<Boolean> bools = new ArrayList<>();
        final List<Integer> blocks = new ArrayList<>();
        final List<Long> longs = new ArrayList<>();
        final List<Double> float64s = new ArrayList<>();
        final List<String> variables = new ArrayList<>();
        final List<Attribute.ScalarNumber> scalars = new ArrayList<>();
    }

    static Attribute.Named read(WireReader in) throws IOException {
        Raw raw = new Raw();
        int at = in.offset();
        in.message(field -> readField(in, raw, field));
        if (raw.name.isEmpty() || raw.type == NONE) {
            throw in.error(at, "an attribute without " + (raw.name.isEmpty() ? "name" : "type"));
        }
        Attribute value = value(raw);
        if (value == null) {
            throw in.error(at, "attribute '" + raw.name + "' has type " + raw.type + ", but types go from 0 to 17");
        }
        return new Attribute.Named(raw.name, value);
    }

    private static boolean readField(WireReader in, Raw raw, int field) throws IOException {
        switch (field) {
            case 1 -> raw.name = in.text();
            case 2 -> raw.type = in.int32();
            case 3 -> raw.int32 = in.int32();
            case 4 -> raw.real = in.real();
            case 5 -> raw.text = in.text();
            case 6 -> in.repeated(WireFormat.WIRETYPE_VARINT, () -> raw.ints.add(in.int32()));
            case 7 -> in.repeated(WireFormat.WIRETYPE_FIXED32, () -> raw.reals.add(in.real()));
            case 8 -> raw.texts.add(in.text());
            case 10 -> raw.bool = in.bool();
            case 11 -> in.repeated(WireFormat.WIRETYPE_VARINT, () -> raw.bools.add(in.bool()));
            case 12 -> raw.block = in.int32();
            case 13 -> raw.int64 = in.int64();
            case 14 -> in.repeated(WireFormat.WIRETYPE_VARINT, () -> raw.blocks.add(in.int32()));
            case 15 -> in.repeated(WireFormat.WIRETYPE_VARINT, () -> raw.longs.add(in.int64()));
            case 16 -> in.repeated(WireFormat.WIRETYPE_FIXED64, () -> raw.float64s.add(in.float64()));
            case 17 -> raw.variable = in.text();
            case 18 -> raw.variables.add(in.text());
            case 19 -> raw.float64 = in.float64();
            case 20 -> raw.scalar = scalar(in);
            case 21 -> raw.scalars.add(scalar(in));
            default -> {
                return false;
            }
        }
        return true;
    }

    private static @Nullable Attribute value(Raw raw) {
        return switch (raw.type) {
            case 0 -> new Attribute.Int(raw.int32);
            case 1 -> new Attribute.Real(raw.real);
            case 2 -> new Attribute.Text(raw.text);
            case 3 -> new Attribute.Ints(raw.ints);
            case 4 -> new Attribute.Reals(raw.reals);
            case 5 -> new Attribute.Texts(raw.texts);
            case 6 -> new Attribute.Bool(raw.bool);
            case 7 -> new Attribute.Bools(raw.bools);
            case 8 -> new Attribute.BlockRef(raw.block);
            case 9 -> new Attribute.Int64(raw.int64);
            case 10 -> new Attribute.BlockRefs(raw.blocks);
            case 11 -> new Attribute.Int64s(raw.longs);
            case 12 -> new Attribute.Float64s(raw.float64s);
            case 13 -> new Attribute.VarRef(raw.variable);
            case 14 -> new Attribute.VarRefs(raw.variables);
            case 15 -> new Attribute.Float64(raw.float64);
            case 16 -> new Attribute.Scalar(raw.scalar);
            case 17 -> new Attribute.Scalars(raw.scalars);
            default -> null;
        };
    }

    private static Attribute.ScalarNumber scalar(WireReader in) throws IOException {
        var raw = new Object() {
            int type;
            boolean bool;
            long int64;
            double float64;
            double real;
            double imaginary;
        };
        int at = in.offset();
        in.message(field -> {
            switch (field) {
                case 1 -> raw.type = in.int32();
                case 2 -> raw.bool = in.bool();
                case 3 -> raw.int64 = in.int64();
                case 4 -> raw.float64 = in.float64();
                case 5 -> in.message(part -> {
                    switch (part) {
                        case 1 -> raw.real = in.float64();
                        case 2 -> raw.imaginary = in.float64();
                        default -> {
                            return false;
                        }
                    }
                    return true;
                });
                default -> {
                    return false;
                }
            }
            return true;
        });
        return switch (raw.type) {
            case 1 -> new Attribute.ScalarNumber.OfBool(raw.bool);
            case 2 -> new Attribute.ScalarNumber.OfLong(raw.int64);
            case 3 -> new Attribute.ScalarNumber.OfDouble(raw.float64);
            case 4 -> new Attribute.ScalarNumber.OfComplex(raw.real, raw.imaginary);
            default -> throw in.error(at, "a scalar of type " + raw.type + ", but types go from 1 to 4");
        };
    }

    static void write(WireWriter out, Attribute.Named attribute) throws IOException {
        out.text(1, attribute.name());
        switch (attribute.value()) {
            case Attribute.Int(int value) -> type(out, 0).writeInt32(3, value);
            case Attribute.Real(float value) -> type(out, 1).writeFloat(4, value);
            case Attribute.Text(String value) -> type(out, 2).writeString(5, value);
            case Attribute.Ints(List<Integer> value) -> each(type(out, 3), value, (to, v) -> to.writeInt32(6, v));
            case Attribute.Reals(List<Float> value) -> each(type(out, 4), value, (to, v) -> to.writeFloat(7, v));
            case Attribute.Texts(List<String> value) -> each(type(out, 5), value, (to, v) -> to.writeString(8, v));
            case Attribute.Bool(boolean value) -> type(out, 6).writeBool(10, value);
            case Attribute.Bools(List<Boolean> value) -> each(type(out, 7), value, (to, v) -> to.writeBool(11, v));
            case Attribute.BlockRef(int index) -> type(out, 8).writeInt32(12, index);
            case Attribute.Int64(long value) -> type(out, 9).writeInt64(13, value);
            case Attribute.BlockRefs(List<Integer> index) ->
                each(type(out, 10), index, (to, v) -> to.writeInt32(14, v));
            case Attribute.Int64s(List<Long> value) -> each(type(out, 11), value, (to, v) -> to.writeInt64(15, v));
            case Attribute.Float64s(List<Double> value) -> each(type(out, 12), value, (to, v) -> to.writeDouble(16, v));
            case Attribute.VarRef(String name) -> type(out, 13).writeString(17, name);
            case Attribute.VarRefs(List<String> names) -> each(type(out, 14), names, (to, v) -> to.writeString(18, v));
            case Attribute.Float64(double value) -> type(out, 15).writeDouble(19, value);
            case Attribute.Scalar(Attribute.ScalarNumber value) -> {
                type(out, 16);
                out.message(20, to -> writeScalar(to, value));
            }
            case Attribute.Scalars(List<Attribute.ScalarNumber> value) -> {
                type(out, 17);
                for (Attribute.ScalarNumber each : value) {
                    out.message(21, to -> writeScalar(to, each));
                }
            }
        }
    }

    private static CodedOutputStream type(WireWriter out, int type) throws IOException {
        out.coded().writeEnum(2, type);
        return out.coded();
    }

    private interface Put<T> {
        void put(CodedOutputStream to, T value) throws IOException;
    }

    private static <T> void each(CodedOutputStream out, List<T> values, Put<T> put) throws IOException {
        for (T value : values) {
            put.put(out, value);
        }
    }

    private static void writeScalar(WireWriter out, Attribute.ScalarNumber number) throws IOException {
        switch (number) {
            case Attribute.ScalarNumber.OfBool(boolean value) -> type(1, out).writeBool(2, value);
            case Attribute.ScalarNumber.OfLong(long value) -> type(2, out).writeInt64(3, value);
            case Attribute.ScalarNumber.OfDouble(double value) -> type(3, out).writeDouble(4, value);
            case Attribute.ScalarNumber.OfComplex(double real, double imaginary) -> {
                type(4, out);
                out.message(5, to -> {
                    to.coded().writeDouble(1, real);
                    to.coded().writeDouble(2, imaginary);
                });
            }
        }
    }

    private static CodedOutputStream type(int type, WireWriter out) throws IOException {
        out.coded().writeEnum(1, type);
        return out.coded();
    }
}
