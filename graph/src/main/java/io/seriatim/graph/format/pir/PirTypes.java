package io.seriatim.graph.format.pir;

import io.seriatim.graph.json.JsonArray;
import io.seriatim.graph.json.JsonObject;
import io.seriatim.graph.json.JsonValue;
import io.seriatim.graph.json.JsonWriter;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import io.seriatim.tensor.Shape;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Types of values in PIR. */
final class PirTypes {
    static final String TENSOR = "0.t_dtensor";
    static final String VECTOR = "0.t_vec";
    static final String ARRAY = "1.t_dense_tensor_array";
    static final String NONE = "NULL";
    private static final Integer UNDEFINED = -1;
    private static final Map<String, DType> ELEMENTS = Map.ofEntries(Map.entry("0.t_bool", DType.BOOL),
            Map.entry("0.t_bf16", DType.BFLOAT16), Map.entry("0.t_f16", DType.FLOAT16),
            Map.entry("0.t_f32", DType.FLOAT32), Map.entry("0.t_f64", DType.FLOAT64),
            Map.entry("0.t_i8", DType.INT8), Map.entry("0.t_ui8", DType.UINT8), Map.entry("0.t_i16", DType.INT16),
            Map.entry("0.t_i32", DType.INT32), Map.entry("0.t_i64", DType.INT64),
            Map.entry("0.t_c64", DType.COMPLEX64), Map.entry("0.t_c128", DType.COMPLEX128));
    private static final Map<String, DType> NAMES = Map.ofEntries(Map.entry("bool", DType.BOOL),
            Map.entry("bfloat16", DType.BFLOAT16), Map.entry("float16", DType.FLOAT16),
            Map.entry("float32", DType.FLOAT32), Map.entry("float64", DType.FLOAT64), Map.entry("int8", DType.INT8),
            Map.entry("uint8", DType.UINT8), Map.entry("int16", DType.INT16), Map.entry("int32", DType.INT32),
            Map.entry("int64", DType.INT64), Map.entry("complex64", DType.COMPLEX64),
            Map.entry("complex128", DType.COMPLEX128));

    private PirTypes() {
    }

    /** The type of a variable, or null if the value is absent. */
    static @Nullable VarType read(JsonValue json) throws FileFormatException {
        JsonObject type = json.object();
        String kind = type.get("#").text();
        return switch (kind) {
            case TENSOR, ARRAY -> {
                JsonArray parts = type.get("D").array();
                VarType.TensorType tensor = new VarType.TensorType(element(parts.get(0)), dims(parts.get(1)));
                yield kind.equals(TENSOR) ? new VarType.Dense(tensor, null) : new VarType.TensorArray(tensor, null);
            }
            case NONE -> null;
            default -> throw json.error("a value is a dense tensor or a list of them, but this is '"
                    + PirReader.shown(kind) + "', which is not supported");
        };
    }

    /** The types of a list of tensors, or null if the value is one tensor. */
    static @Nullable List<@Nullable VarType> readVector(JsonValue json) throws FileFormatException {
        if (!json.object().get("#").text().equals(VECTOR)) {
            return null;
        }
        List<@Nullable VarType> types = new ArrayList<>();
        for (JsonValue each : json.object().get("D").array().values()) {
            types.add(read(each));
        }
        return types;
    }

    private static int element(JsonValue json) throws FileFormatException {
        String name = json.object().get("#").text();
        DType dtype = ELEMENTS.get(name);
        if (dtype == null) {
            throw json.error("the type of elements is one of " + ELEMENTS.keySet().stream().sorted().toList()
                    + ", but this is '" + PirReader.shown(name) + "'");
        }
        return DataTypes.number(dtype);
    }

    private static List<Long> dims(JsonValue json) throws FileFormatException {
        JsonArray dims = json.array();
        // An XShape has one more, and VarDesc checks both.
        if (dims.size() > Shape.MAX_RANK + 1) {
            throw json.error("a tensor has at most " + Shape.MAX_RANK + " dimensions, but this has " + dims.size());
        }
        List<Long> read = new ArrayList<>();
        for (JsonValue each : dims.values()) {
            // Paddle computes with dimensions that are unknown: whatever is negative is unknown.
            read.add(Math.max(-1, each.int64()));
        }
        return read;
    }

    /** Paddle's number of an element type of an attribute, −1 where it is left open, or null if it is not known. */
    static @Nullable Integer number(String name) {
        DType dtype = NAMES.get(name);
        if (dtype != null) {
            return DataTypes.number(dtype);
        }
        return name.startsWith("Undefined") ? UNDEFINED : null;
    }

    /** The name of an element type in attributes. */
    static String name(int number) {
        for (Map.Entry<String, DType> each : NAMES.entrySet()) {
            if (DataTypes.number(each.getValue()) == number) {
                return each.getKey();
            }
        }
        return "Undefined(ALL_DTYPE)";
    }

    static void write(JsonWriter out, @Nullable VarType type) throws IOException {
        if (type == null) {
            out.beginObject().name("#").value(NONE).end();
            return;
        }
        VarType.TensorType tensor = type.tensorType();
        if (tensor == null || !(type instanceof VarType.Dense || type instanceof VarType.TensorArray)) {
            throw new IllegalArgumentException("PIR has no counterpart of a variable of type " + type);
        }
        boolean dense = type instanceof VarType.Dense;
        out.beginObject().name("#").value(dense ? TENSOR : ARRAY).name("D").beginArray();
        out.beginObject().name("#").value(element(tensor.dataType())).end();
        out.beginArray();
        for (long dim : tensor.dims()) {
            out.value(dim);
        }
        out.end().value("NCHW");
        if (dense) {
            out.beginArray().end().value(0L);
        }
        out.end().end();
    }

    static void writeVector(JsonWriter out, List<? extends @Nullable VarType> types) throws IOException {
        out.beginObject().name("#").value(VECTOR).name("D").beginArray();
        for (VarType type : types) {
            write(out, type);
        }
        out.end().end();
    }

    private static String element(int number) {
        for (Map.Entry<String, DType> each : ELEMENTS.entrySet()) {
            if (DataTypes.number(each.getValue()) == number) {
                return each.getKey();
            }
        }
        throw new IllegalArgumentException("PIR has no counterpart of Paddle's type " + number);
    }
}
