package io.seriatim.graph.format.pir;

import io.seriatim.graph.json.JsonArray;
import io.seriatim.graph.json.JsonObject;
import io.seriatim.graph.json.JsonValue;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Set;

/** Translates the operations that only move values, and those of lists of tensors. */
final class PirSpecialOperations {
    private final PirReader reader;
    private final PirOperations operations;

    PirSpecialOperations(PirReader reader, PirOperations operations) {
        this.reader = reader;
        this.operations = operations;
    }

    /** Reads an operation; false if it is none of these. */
    boolean read(JsonObject op, String kind) throws FileFormatException {
        if (kind.equals("1.stack")) {
            return stack(op);
        }
        switch (kind) {
            case "0.combine" -> combine(op);
            case "0.split" -> split(op);
            case "0.slice" -> slice(op);
            case "1.full", "1.full_int_array", "1.assign_value" -> constant(op, kind.substring(2));
            case "1.assign_value_" -> assignValue(op);
            case "1.assign_out_" -> assignOut(op);
            case "1.shape64" -> shape(op);
            case "1.masked_fill", "1.masked_fill_" -> maskedFill(op);
            case "1.truncated_gaussian_random" -> new PirTruncatedNormal(reader, operations).read(op);
            case "1.create_array", "1.create_array_like" -> createArray(op);
            case "1.array_length" -> arrayLength(op);
            case "1.array_read" -> arrayRead(op);
            case "1.array_write_" -> arrayWrite(op);
            case "1.array_to_tensor" -> arrayToTensor(op);
            default -> {
                return false;
            }
        }
        return true;
    }

    private static JsonValue operand(JsonObject op, int position) throws FileFormatException {
        return PirReader.operands(op).get(position);
    }

    private static JsonObject result(JsonObject op, int position) throws FileFormatException {
        return PirReader.results(op).get(position).object();
    }

    private void combine(JsonObject op) throws FileFormatException {
        List<PirValue> values = new ArrayList<>();
        for (JsonValue each : PirReader.operands(op).values()) {
            values.add(reader.value(each));
        }
        reader.define(result(op, 0), new PirValue.Vector(values));
    }

    private List<PirValue> several(JsonObject op) throws FileFormatException {
        PirValue value = reader.value(operand(op, 0));
        return value instanceof PirValue.Vector(List<PirValue> values) ? values : List.of(value);
    }

    private void split(JsonObject op) throws FileFormatException {
        List<PirValue> values = several(op);
        JsonArray results = PirReader.results(op);
        if (results.size() != values.size()) {
            throw op.error("a split has a result for each of " + values.size() + " values, but it has "
                    + results.size());
        }
        for (int i = 0; i < values.size(); i++) {
            reader.define(results.get(i).object(), values.get(i));
        }
    }

    private void slice(JsonObject op) throws FileFormatException {
        List<PirValue> values = several(op);
        JsonValue attribute = PirReader.attribute(op, "index");
        if (attribute == null || !(PirAttributes.read(attribute) instanceof Long index) || index < 0
                || index >= values.size()) {
            throw op.error("a slice takes one of " + values.size() + " values by the attribute index, from 0");
        }
        reader.define(result(op, 0), values.get(index.intValue()));
    }

    private void constant(JsonObject op, String name) throws FileFormatException {
        JsonObject result = result(op, 0);
        String variable = reader.name(name, result);
        reader.define(result, switch (name) {
            case "full" -> PirConstants.full(op, variable, reader.block().index());
            case "full_int_array" -> PirConstants.ints(op, variable, reader.block().index());
            default -> PirConstants.values(op, variable, reader.block().index());
        });
    }

    private void assignValue(JsonObject op) throws FileFormatException {
        JsonObject result = result(op, 0);
        PirValue.Constant constant = PirConstants.values(op,
                reader.unique("assign_value_" + PirReader.number(result)), reader.block().index());
        String made = reader.variable(constant, op);
        assign(op, made, operand(op, 0));
    }

    private void assignOut(JsonObject op) throws FileFormatException {
        assign(op, reader.variable(reader.value(operand(op, 0)), op), operand(op, 1));
    }

    private void assign(JsonObject op, String from, JsonValue to) throws FileFormatException {
        PirValue changed = PirOperations.changed(reader, operations, result(op, 0), to, "assign");
        add(OpDesc.of("assign").in("X", from).out("Out", reader.variable(changed, op)));
    }

    private void add(OpDesc.Builder op) {
        OpDesc built = op.build();
        operations.add(op, Set.copyOf(built.attributes().stream().map(each -> each.name()).toList()),
                Operations.system().get(built.type()));
    }

    /** A list of numbers that are constants is a constant. */
    private boolean stack(JsonObject op) throws FileFormatException {
        PirValue value = reader.value(operand(op, 0));
        if (!(value instanceof PirValue.Vector(List<PirValue> several)) || several.isEmpty()
                || !(PirOperations.constant(value, true) instanceof List<?> elements)) {
            return false;
        }
        List<Object> numbers = new ArrayList<>(elements);
        int type = -1;
        for (PirValue each : several) {
            if (!(each instanceof PirValue.Constant constant) || !constant.dims().isEmpty()
                    || (type >= 0 && type != constant.dataType())) {
                return false;
            }
            type = constant.dataType();
        }
        JsonObject result = result(op, 0);
        reader.define(result, new PirValue.Constant(reader.name("stack", result), type,
                List.of((long) numbers.size()), numbers, reader.block().index(), new HashMap<>()));
        return true;
    }

    /** Paddle 2's shape is int32. */
    private void shape(JsonObject op) throws FileFormatException {
        String input = reader.variable(reader.value(operand(op, 0)), op);
        JsonObject result = result(op, 0);
        if (!(operations.define(result, "shape") instanceof PirValue.Variable(String out))) {
            return;
        }
        String narrow = reader.declare(reader.unique(out + ".int32"), new VarType.Dense(
                new VarType.TensorType(DataTypes.number(DType.INT32), reader.block().get(out).tensor().dims()), null));
        add(OpDesc.of("shape").in("Input", input).out("Out", narrow));
        add(OpDesc.of("cast").in("X", narrow).out("Out", out).attr("in_dtype", DataTypes.number(DType.INT32)).attr(
                "out_dtype", DataTypes.number(DType.INT64)));
    }

    /** Paddle 2 has no such operation: mask and value get the shape of X, and a choice is made between both. */
    private void maskedFill(JsonObject op) throws FileFormatException {
        String x = reader.variable(reader.value(operand(op, 0)), op);
        String mask = reader.variable(reader.value(operand(op, 1)), op);
        String value = reader.variable(reader.value(operand(op, 2)), op);
        if (!(operations.define(result(op, 0), "masked_fill") instanceof PirValue.Variable(String out))) {
            return;
        }
        List<Long> dims = reader.block().get(x).tensor().dims();
        int type = reader.block().get(x).tensor().dataType();
        int bool = DataTypes.number(DType.BOOL);
        String values = like(x, out + ".values", type, dims);
        String no = like(x, out + ".no", bool, dims);
        String whole = reader.declare(reader.unique(out + ".mask"), tensor(bool, dims));
        add(OpDesc.of("elementwise_add").in("X", values).in("Y", value).out("Out", values));
        add(OpDesc.of("logical_or").in("X", no).in("Y", mask).out("Out", whole));
        add(OpDesc.of("where").in("Condition", whole).in("X", values).in("Y", x).out("Out", out));
        if (PirReader.operands(op).size() > 0 && op.get("#").text().endsWith("_")) {
            reader.replace(operand(op, 0), new PirValue.Variable(out));
        }
    }

    private String like(String x, String name, int type, List<Long> dims) {
        String made = reader.declare(reader.unique(name), tensor(type, dims));
        add(OpDesc.of("fill_any_like").in("X", x).out("Out", made).attr("value", 0f).attr("dtype", type));
        return made;
    }

    private static VarType tensor(int type, List<Long> dims) {
        return new VarType.Dense(new VarType.TensorType(type, dims), null);
    }

    /** A list exists as soon as it is declared. */
    private void createArray(JsonObject op) throws FileFormatException {
        operations.define(result(op, 0), "array");
    }

    private void arrayLength(JsonObject op) throws FileFormatException {
        String list = reader.variable(reader.value(operand(op, 0)), op);
        if (operations.define(result(op, 0), "array_length") instanceof PirValue.Variable(String out)) {
            add(OpDesc.of("lod_array_length").in("X", list).out("Out", out));
        }
    }

    private void arrayRead(JsonObject op) throws FileFormatException {
        String list = reader.variable(reader.value(operand(op, 0)), op);
        String index = reader.variable(reader.value(operand(op, 1)), op);
        if (operations.define(result(op, 0), "array_read") instanceof PirValue.Variable(String out)) {
            add(OpDesc.of("read_from_array").in("X", list).in("I", index).out("Out", out));
        }
    }

    private void arrayWrite(JsonObject op) throws FileFormatException {
        String list = reader.variable(reader.value(operand(op, 0)), op);
        String tensor = reader.variable(reader.value(operand(op, 1)), op);
        String index = reader.variable(reader.value(operand(op, 2)), op);
        add(OpDesc.of("write_to_array").in("X", tensor).in("I", index).out("Out", list));
        reader.define(result(op, 0), new PirValue.Variable(list));
    }

    private void arrayToTensor(JsonObject op) throws FileFormatException {
        String list = reader.variable(reader.value(operand(op, 0)), op);
        JsonValue axis = PirReader.attribute(op, "axis");
        JsonValue stacked = PirReader.attribute(op, "use_stack");
        if (axis == null || !(PirAttributes.read(axis) instanceof Long at) || at != at.intValue() || stacked == null
                || !(PirAttributes.read(stacked) instanceof Boolean stack)) {
            throw op.error("array_to_tensor has the attributes axis and use_stack, but one is missing");
        }
        PirValue out = operations.define(result(op, 0), "array_to_tensor");
        PirValue index = operations.define(result(op, 1), "array_to_tensor_index");
        add(OpDesc.of("tensor_array_to_tensor").in("X", list).out("Out", reader.variable(out, op)).out("OutIndex",
                reader.variable(index, op)).attr("axis", at.intValue()).attr("use_stack", stack));
    }
}
