package io.seriatim.graph.format.pir;

import io.seriatim.graph.json.JsonObject;
import io.seriatim.graph.json.JsonValue;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Tensors of known elements: the operations full, full_int_array and assign_value of PIR. */
final class PirConstants {
    private PirConstants() {
    }

    /** The constant that an operation full makes. */
    static PirValue.Constant full(JsonObject op, String name, int block) throws FileFormatException {
        Object value = required(op, "value");
        List<Object> elements = List.of(value instanceof List<?> several && several.size() == 1
                ? Objects.requireNonNull(several.getFirst())
                : value);
        if (elements.getFirst() instanceof List || elements.getFirst() instanceof String) {
            throw op.error("the value of full is a number, but this is " + PirAttributes.shown(value));
        }
        return new PirValue.Constant(name, dataType(op), dims(op, "shape"), elements, block, new HashMap<>());
    }

    /** The constant that an operation full_int_array makes. */
    static PirValue.Constant ints(JsonObject op, String name, int block) throws FileFormatException {
        List<Object> elements = numbers(op, "value");
        return new PirValue.Constant(name, dataType(op), List.of((long) elements.size()), elements, block,
                new HashMap<>());
    }

    /** The constant that an operation assign_value makes. */
    static PirValue.Constant values(JsonObject op, String name, int block) throws FileFormatException {
        List<Object> elements = numbers(op, "values");
        List<Long> dims = dims(op, "shape");
        long count = 1;
        for (long dim : dims) {
            count = count > elements.size() ? count : count * dim;
        }
        if (count != elements.size()) {
            throw op.error("the shape " + dims + " of assign_value has as many elements as there are values, but there "
                    + "are " + elements.size());
        }
        if (elements.isEmpty()) {
            throw op.error("assign_value has at least one element, but there is none");
        }
        return new PirValue.Constant(name, dataType(op), dims, elements, block, new HashMap<>());
    }

    private static Object required(JsonObject op, String name) throws FileFormatException {
        JsonValue attribute = PirReader.attribute(op, name);
        Object value = attribute == null ? null : PirAttributes.read(attribute);
        if (value == null) {
            throw op.error("the operation " + PirReader.shown(op.get("#").text()) + " has an attribute " + name
                    + ", but there is none");
        }
        return value;
    }

    private static List<Object> numbers(JsonObject op, String name) throws FileFormatException {
        Object value = required(op, name);
        List<Object> numbers = new ArrayList<>();
        for (Object each : value instanceof List<?> several ? several : List.of(value)) {
            if (!(each instanceof Number || each instanceof Boolean)) {
                throw op.error("the attribute " + name + " is a list of numbers, but this is "
                        + PirAttributes.shown(value));
            }
            numbers.add(each);
        }
        return numbers;
    }

    private static List<Long> dims(JsonObject op, String name) throws FileFormatException {
        List<Long> dims = new ArrayList<>();
        for (Object each : numbers(op, name)) {
            if (!(each instanceof Long dim) || dim < 0) {
                throw op.error("the dimensions of a constant are not negative, but one is "
                        + PirAttributes.shown(each));
            }
            dims.add(dim);
        }
        return dims;
    }

    private static int dataType(JsonObject op) throws FileFormatException {
        Object number = required(op, "dtype");
        if (!(number instanceof Long type) || DataTypes.find(type.intValue()) == null) {
            throw op.error("a constant has a type of elements, but this is left open");
        }
        return type.intValue();
    }

    /** Adds the operation that makes a constant. */
    static void add(Block block, String name, PirValue.Constant constant) {
        List<Object> elements = constant.elements();
        long[] dims = constant.dims().stream().mapToLong(Long::longValue).toArray();
        if (elements.size() == 1) {
            Object value = elements.getFirst();
            block.add(OpDesc.of("fill_constant").out("Out", name).attr("dtype", constant.dataType())
                    .attr("shape", dims).attr("value", (float) real(value)).attr("str_value", text(value))
                    .attr("force_cpu", false).attr("place_type", -1).build());
            return;
        }
        DType dtype = DataTypes.dtype(constant.dataType());
        int[] shape = constant.dims().stream().mapToInt(Math::toIntExact).toArray();
        OpDesc.Builder op = OpDesc.of("assign_value").out("Out", name).attr("shape", shape);
        switch (dtype) {
            case BOOL -> op.attr("bool_values", elements.stream().mapToInt(each -> (int) whole(each)).toArray());
            case INT32 -> op.attr("int32_values", elements.stream().mapToInt(each -> (int) whole(each)).toArray());
            case INT64 -> op.attr("int64_values", elements.stream().mapToLong(PirConstants::whole).toArray());
            case FLOAT64 -> op.attr("fp64_values", elements.stream().mapToDouble(PirConstants::real).toArray());
            default -> {
                float[] floats = new float[elements.size()];
                for (int i = 0; i < floats.length; i++) {
                    floats[i] = (float) real(elements.get(i));
                }
                op.attr("fp32_values", floats);
            }
        }
        boolean direct = switch (dtype) {
            case BOOL, INT32, INT64, FLOAT32, FLOAT64 -> true;
            default -> false;
        };
        if (direct) {
            block.add(op.attr("dtype", constant.dataType()).build());
            return;
        }
        // Paddle 2 has no values of the other types: they are cast from float32, which holds them exactly.
        block.add(op.attr("dtype", DataTypes.number(DType.FLOAT32)).build());
        block.add(OpDesc.of("cast").in("X", name).out("Out", name).attr("in_dtype", DataTypes.number(DType.FLOAT32))
                .attr("out_dtype", constant.dataType()).build());
    }

    static double real(Object value) {
        return switch (value) {
            case Number number -> number.doubleValue();
            case Boolean flag -> flag ? 1 : 0;
            default -> Double.NaN;
        };
    }

    static long whole(Object value) {
        return value instanceof Long number ? number : (long) real(value);
    }

    private static String text(Object value) {
        return switch (value) {
            case Long number -> number.toString();
            case Double number when number.isNaN() -> "nan";
            case Double number when number.isInfinite() -> number > 0 ? "inf" : "-inf";
            case Double number when number == Math.rint(number) && Math.abs(number) < 0x1p63 ->
                Long.toString(number.longValue());
            case Double number -> number.toString();
            default -> Long.toString(whole(value));
        };
    }

    /** The value of one element as an attribute has it, or null if there are several. */
    static @Nullable Object single(PirValue.Constant constant) {
        return constant.elements().size() == 1 ? constant.elements().getFirst() : null;
    }
}
