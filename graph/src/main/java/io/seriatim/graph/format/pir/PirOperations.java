package io.seriatim.graph.format.pir;

import io.seriatim.graph.format.pir.PirOperation.AbsentOperand;
import io.seriatim.graph.format.pir.PirOperation.AttributeOperand;
import io.seriatim.graph.format.pir.PirOperation.Parameter;
import io.seriatim.graph.format.pir.PirOperation.SlotOperand;
import io.seriatim.graph.format.pir.PirOperation.StateOperand;
import io.seriatim.graph.json.JsonArray;
import io.seriatim.graph.json.JsonObject;
import io.seriatim.graph.json.JsonValue;
import io.seriatim.graph.op.AttributeSpec;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Slot;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.FileFormatException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Translates the operations of the table. */
final class PirOperations {
    /** Attributes that say where something runs or comes from, and nothing about what it computes. */
    private static final Set<String> WITHOUT_MEANING = Set.of("op_callstack", "struct_name", "stop_gradient",
            "persistable", "is_persistable", "op_device", "op_role", "op_role_var", "op_namescope", "with_quant_attr",
            "use_mkldnn", "use_onednn", "use_cudnn", "use_quantizer", "mkldnn_data_type", "execution_stream",
            "event_to_record", "events_to_wait", "scheduling_priority", "force_record_event", "chunk_id",
            "comp_op_name",
            "sym_shape_str", "__operands_symbols_signature__", "__results_symbols_signature__", "origin_id", "place",
            "op_dist_attr", "need_broadcast", "kernel_data_type");

    /** No dimension is longer than this where it is not known. */
    private static final long FAR = Integer.MAX_VALUE;

    private final PirReader reader;

    PirOperations(PirReader reader) {
        this.reader = reader;
    }

    /** An operation's name without the number or name of its dialect. */
    static String plain(String kind) {
        return kind.startsWith("1.") ? kind.substring(2) : kind.startsWith("pd_op.") ? kind.substring(6) : kind;
    }

    void read(JsonObject op, String kind) throws FileFormatException {
        String name = plain(kind);
        PirOperation known = PirTable.get().named(name);
        Operation schema = known == null ? null : Operations.system().find(known.type());
        if (known == null || schema == null) {
            unknown(op, name);
            return;
        }
        Translation translation = new Translation(op, name, known, schema);
        translation.attributes();
        translation.operands();
        translation.results();
        translation.add();
    }

    /** Remembers an operation that is not known; its results get variables, so that the others are found as well. */
    private void unknown(JsonObject op, String name) throws FileFormatException {
        reader.unknown.add("'" + PirReader.shown(name) + "'");
        for (JsonValue result : PirReader.results(op).values()) {
            define(result.object(), name);
        }
    }

    /** Declares the variable or variables of a result. */
    PirValue define(JsonObject result, String base) throws FileFormatException {
        PirValue value = declared(result, base);
        reader.define(result, value);
        return value;
    }

    private PirValue declared(JsonObject result, String base) throws FileFormatException {
        JsonValue typed = result.get("TT");
        List<@Nullable VarType> several = PirTypes.readVector(typed);
        if (several == null) {
            VarType type = PirTypes.read(typed);
            if (type == null || PirReader.number(result) == 0) {
                return new PirValue.Nothing();
            }
            return new PirValue.Variable(reader.declare(reader.name(base, result), type));
        }
        List<PirValue> values = new ArrayList<>();
        for (VarType type : several) {
            values.add(type == null
                    ? new PirValue.Nothing()
                    : new PirValue.Variable(reader.declare(
                            reader.unique(base + "_" + PirReader.number(result) + "_" + values.size()), type)));
        }
        return new PirValue.Vector(values);
    }

    /** Adds an operation with the defaults of all attributes that it does not have. */
    void add(OpDesc.Builder builder, Set<String> given, Operation schema) {
        for (AttributeSpec spec : schema.attributes()) {
            Attribute byDefault = spec.byDefault();
            if (byDefault != null && !given.contains(spec.name())) {
                builder.attr(spec.name(), byDefault);
            }
        }
        reader.block().add(builder.build());
    }

    /** One operation on its way. */
    private final class Translation {
        private final JsonObject op;
        private final String name;
        private final PirOperation known;
        private final Operation schema;
        private final OpDesc.Builder builder;
        private final Map<String, Attribute> given = new LinkedHashMap<>();
        private final Map<String, List<String>> inputs = new LinkedHashMap<>();
        private final Map<String, List<String>> outputs = new LinkedHashMap<>();

        Translation(JsonObject op, String name, PirOperation known, Operation schema) {
            this.op = op;
            this.name = name;
            this.known = known;
            this.schema = schema;
            this.builder = OpDesc.of(known.type());
        }

        void attributes() throws FileFormatException {
            Map<String, Parameter> parameters = new LinkedHashMap<>();
            known.parameters().forEach(each -> parameters.put(each.name(), each));
            for (JsonValue each : op.get("A").array().values()) {
                JsonObject attribute = each.object();
                String attributeName = attribute.get("N").text();
                Parameter parameter = parameters.remove(attributeName);
                JsonValue tagged = attribute.get("AT");
                if (parameter == null) {
                    if (!WITHOUT_MEANING.contains(attributeName)) {
                        throw each.error("the operation " + name + " has an attribute '"
                                + PirReader.shown(attributeName) + "', whose meaning is not known");
                    }
                } else if (parameter.attribute() != null) {
                    Object value = PirAttributes.read(tagged);
                    if (value != null) {
                        give(parameter.attribute(), value, tagged);
                    }
                } else {
                    requireDefault(parameter, tagged);
                }
            }
            for (Map.Entry<String, String> each : known.fixed().entrySet()) {
                AttributeSpec spec = schema.attribute(each.getKey());
                if (spec != null) {
                    given.put(each.getKey(), PirLiterals.attribute(each.getValue(), spec.type()));
                }
            }
        }

        private void give(String attribute, Object value, JsonValue at) throws FileFormatException {
            AttributeSpec spec = schema.attribute(attribute);
            if (spec == null) {
                throw at.error("operation type " + known.type() + " has no attribute " + attribute);
            }
            given.put(attribute, PirAttributes.convert(value, spec.type(), at));
        }

        /** What has no counterpart here must have the value that stands for its absence. */
        private void requireDefault(Parameter parameter, JsonValue at) throws FileFormatException {
            Object value = PirAttributes.read(at);
            String byDefault = parameter.byDefault();
            if (value == null || byDefault == null || parameter.kind().equals("dtype")) {
                return;
            }
            if (!PirLiterals.matches(byDefault, value)) {
                throw at.error("attribute " + parameter.name() + " of " + name + " is supported with the value "
                        + byDefault + " only, but this is " + PirAttributes.shown(value));
            }
        }

        void operands() throws FileFormatException {
            JsonArray operands = PirReader.operands(op);
            if (operands.size() > known.operands().size()) {
                throw op.error("the operation " + name + " has at most " + known.operands().size()
                        + " operands, but this has " + operands.size());
            }
            for (int i = 0; i < operands.size(); i++) {
                JsonValue at = operands.get(i);
                PirValue value = reader.value(at);
                switch (known.operands().get(i)) {
                    case SlotOperand(String slot, boolean list) -> slot(slot, list, value, at);
                    case AttributeOperand operand -> attribute(operand, value, at);
                    case AbsentOperand _,StateOperand _ -> {
                        // What stands here, such as the state of a generator, has no meaning here.
                    }
                }
            }
            for (Slot slot : schema.inputs()) {
                if (!slot.optional() && !inputs.containsKey(slot.name())) {
                    throw op.error("the operation " + name + " needs its operand " + slot.name()
                            + ", but it is absent");
                }
            }
        }

        private void slot(String slot, boolean list, PirValue value, JsonValue at) throws FileFormatException {
            if (value instanceof PirValue.Nothing) {
                return;
            }
            List<String> variables = new ArrayList<>();
            if (list && value instanceof PirValue.Vector(List<PirValue> several)) {
                for (PirValue each : several) {
                    variables.add(reader.variable(each, at));
                }
            } else {
                variables.add(reader.variable(value, at));
            }
            inputs.put(slot, variables);
        }

        private void attribute(AttributeOperand operand, PirValue value, JsonValue at) throws FileFormatException {
            Object constant = constant(value, operand.isInts());
            String attribute = operand.attribute();
            if (value instanceof PirValue.Nothing) {
                return;
            }
            if (constant != null && attribute != null) {
                give(attribute, constant, at);
            } else if (operand.tensors() != null && value instanceof PirValue.Vector) {
                slot(operand.tensors(), true, value, at);
            } else if (operand.tensor() != null) {
                slot(operand.tensor(), false, value, at);
            } else if (operand.tensors() != null) {
                slot(operand.tensors(), true, elements(value, at), at);
            } else {
                throw at.error("the operand " + (attribute == null ? "" : "for attribute " + attribute + " ") + "of "
                        + name + " is a constant, but this is computed");
            }
        }

        /** Each element of a computed list of numbers as a value of its own. */
        private PirValue elements(PirValue value, JsonValue at) throws FileFormatException {
            String list = reader.variable(value, at);
            List<Long> dims = reader.block().get(list).tensor().dims();
            if (dims.size() != 1 || dims.getFirst() < 0 || dims.getFirst() > 64) {
                throw at.error("a computed list of numbers for " + name + " has a known length, but this is "
                        + reader.block().get(list));
            }
            List<PirValue> elements = new ArrayList<>();
            for (int i = 0; i < dims.getFirst(); i++) {
                String element = reader.declare(reader.unique(list + "_" + i),
                        new VarType.Dense(new VarType.TensorType(reader.block().get(list).tensor().dataType(),
                                List.of(1L)), null));
                Operation slice = Operations.system().get("slice");
                PirOperations.this.add(OpDesc.of("slice").in("Input", list).out("Out", element)
                        .attr("axes", new int[]{0}).attr("starts", new int[]{i}).attr("ends", new int[]{i + 1}),
                        Set.of("axes", "starts", "ends"), slice);
                elements.add(new PirValue.Variable(element));
            }
            return new PirValue.Vector(elements);
        }

        void results() throws FileFormatException {
            JsonArray results = PirReader.results(op);
            if (results.size() > known.results().size()) {
                throw op.error("the operation " + name + " has at most " + known.results().size()
                        + " results, but this has " + results.size());
            }
            for (int i = 0; i < results.size(); i++) {
                String slot = known.results().get(i).slot();
                JsonObject result = results.get(i).object();
                PirValue value = i == 0 ? first(result) : define(result, name);
                if (slot == null || value instanceof PirValue.Nothing) {
                    continue;
                }
                List<String> variables = new ArrayList<>();
                for (PirValue each : value instanceof PirValue.Vector(List<PirValue> several)
                        ? several
                        : List.of(value)) {
                    if (each instanceof PirValue.Variable(String variable)) {
                        variables.add(variable);
                    }
                }
                outputs.put(slot, variables);
            }
            for (Slot slot : schema.outputs()) {
                if (!slot.optional() && !outputs.containsKey(slot.name()) && !slot.list()) {
                    outputs.put(slot.name(), List.of(reader.declare(
                            reader.unique(name + "_" + slot.name().toLowerCase(Locale.ROOT)),
                            VarType.dense(DType.FLOAT32, 0))));
                }
            }
        }

        /** The first result, which is the first operand if the operation changes that in place. */
        private PirValue first(JsonObject result) throws FileFormatException {
            if (!name.endsWith("_") || name.contains("batch_norm") || PirReader.operands(op).size() == 0) {
                return define(result, name);
            }
            return changed(reader, PirOperations.this, result, PirReader.operands(op).get(0), name);
        }

        void add() {
            if (known.type().equals("cast")) {
                given.put("in_dtype", new Attribute.Int(
                        reader.block().get(only(inputs, "X")).tensor().dataType()));
            }
            if (schema.attribute("reduce_all") != null && !given.containsKey("reduce_all")) {
                given.put("reduce_all",
                        new Attribute.Bool(isEmpty(given.get("dim"))));
            }
            if (known.type().endsWith("batch_norm")) {
                outputs.put("MeanOut", List.of(only(inputs, "Mean")));
                outputs.put("VarianceOut", List.of(only(inputs, "Variance")));
            }
            for (AttributeSpec spec : schema.attributes()) {
                if (spec.byDefault() == null && !given.containsKey(spec.name())) {
                    given.put(spec.name(), PirLiterals.zero(spec.type()));
                }
            }
            if (known.type().equals("range")) {
                likeResult();
            }
            if (known.type().equals("strided_slice") && given.get("ends") instanceof Attribute.Ints(List<Integer> ends)
                    && given.get("strides") instanceof Attribute.Ints(List<Integer> strides)
                    && given.get("axes") instanceof Attribute.Ints(List<Integer> axes)
                    && ends.size() == axes.size() && strides.size() == axes.size()) {
                given.put("ends", new Attribute.Ints(backwards(axes, ends, strides)));
            }
            inputs.forEach(builder::in);
            outputs.forEach(builder::out);
            given.forEach(builder::attr);
            PirOperations.this.add(builder, given.keySet(), schema);
        }

        /** An end before the first element, going back, is −1 in Paddle 2, and any far number in Paddle 3. */
        private List<Integer> backwards(List<Integer> axes, List<Integer> ends, List<Integer> strides) {
            List<Long> dims = reader.block().get(only(inputs, "Input")).tensor().dims();
            List<Integer> changed = new ArrayList<>();
            for (int i = 0; i < ends.size(); i++) {
                int axis = axes.get(i) < 0 ? axes.get(i) + dims.size() : axes.get(i);
                long length = axis >= 0 && axis < dims.size() && dims.get(axis) >= 0 ? dims.get(axis) : FAR;
                changed.add(strides.get(i) < 0 && ends.get(i) + length < 0 ? -1 : ends.get(i));
            }
            return changed;
        }

        /** The operands of a range have the type of its result. */
        private void likeResult() {
            int wanted = reader.block().get(only(outputs, "Out")).tensor().dataType();
            inputs.replaceAll((slot, variables) -> {
                VarType.TensorType type = reader.block().get(variables.getFirst()).tensor();
                return type.dataType() == wanted
                        ? variables
                        : List.of(cast(variables.getFirst(), DataTypes.dtype(wanted)));
            });
        }
    }

    private static boolean isEmpty(@Nullable Attribute dims) {
        return (dims instanceof Attribute.Ints(List<Integer> ints) && ints.isEmpty())
                || (dims instanceof Attribute.Int64s(List<Long> longs) && longs.isEmpty());
    }

    private static String only(Map<String, List<String>> slots, String slot) {
        return slots.getOrDefault(slot, List.of()).getFirst();
    }

    /** A variable's value as another type. */
    String cast(String variable, DType to) {
        VarType.TensorType type = reader.block().get(variable).tensor();
        String name = reader.declare(reader.unique(variable + "." + to),
                new VarType.Dense(new VarType.TensorType(DataTypes.number(to), type.dims()), null));
        add(OpDesc.of("cast").in("X", variable).out("Out", name).attr("in_dtype", type.dataType()).attr("out_dtype",
                DataTypes.number(to)), Set.of("in_dtype", "out_dtype"), Operations.system().get("cast"));
        return name;
    }

    /**
     * The result of an operation that changes its operand in place. The operand's number stands for it from now on. A
     * variable of an outer block keeps its name, since what is behind the block reads it.
     */
    static PirValue changed(PirReader reader, PirOperations operations, JsonObject result, JsonValue operand,
            String name) throws FileFormatException {
        PirValue value = reader.value(operand);
        Block owner = switch (value) {
            case PirValue.Variable(String variable) -> reader.block().owner(variable);
            case PirValue.Constant constant -> reader.program.block(constant.block());
            default -> null;
        };
        PirValue replaced;
        if (owner != null && owner != reader.block()) {
            replaced = new PirValue.Variable(value instanceof PirValue.Constant constant
                    ? reader.madeOutside(constant, owner)
                    : reader.variable(value, operand));
            reader.define(result, replaced);
        } else {
            replaced = operations.define(result, name);
        }
        reader.replace(operand, replaced);
        return replaced;
    }

    /** The value of a constant as an attribute has it, or null if it is computed. */
    static @Nullable Object constant(PirValue value, boolean list) {
        return switch (value) {
            case PirValue.Constant constant when list -> constant.all();
            case PirValue.Constant constant -> PirConstants.single(constant);
            case PirValue.Vector(List<PirValue> several) -> {
                List<Object> values = new ArrayList<>();
                for (PirValue each : several) {
                    Object single = each instanceof PirValue.Constant constant ? PirConstants.single(constant) : null;
                    if (single == null) {
                        yield null;
                    }
                    values.add(single);
                }
                yield list ? values : null;
            }
            default -> null;
        };
    }
}
